package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Run runs git in a directory, without a shell and without changing anything, and returns its
// standard output. It bounds time and output, and fails if git fails.
type Run func(dir string, input []byte, args ...string) ([]byte, error)

// A Reader lists the paths in a repository, in any version of its files. Its methods fail
// rather than return incomplete results.
type Reader struct {
	Top string // top of the work tree, links resolved
	run Run
	dir string
}

// Reader returns a reader for the verdict's repository, which contains dir. It fails if git
// must not run, if dir is not in a work tree, and if the repository has submodules, whose files
// it does not list.
func (v *Verdict) Reader(dir string, run Run) (*Reader, error) {
	switch {
	case v.doubt != nil:
		return nil, v.doubt
	case v.Top == "":
		return nil, errors.New("no repository")
	case v.linked:
		return nil, errors.New("the repository has submodules")
	}
	return &Reader{real(v.Top), run, dir}, nil
}

// listsPaths are the options that make git list all differing paths, including both names of
// renamed files, relative to the top of the work tree, regardless of settings.
var listsPaths = []string{"--name-only", "-z", "--format=", "--no-renames", "--no-relative", "--no-ext-diff", "--ignore-submodules=none"}

// Known returns the paths that match pathspecs in the index and in all commits reachable from
// branches, tags, other references, reflogs and the given revisions.
func (r *Reader) Known(pathspecs, revisions []string) ([]string, error) {
	tips, err := r.commits(revisions)
	if err != nil {
		return nil, err
	}
	out, err := r.run(r.Top, nil, append([]string{"ls-files", "-z", "--cached", "--full-name", "--"}, pathspecs...)...)
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"-c", "log.showRoot=true", "log", "--all", "--reflog", "--full-history", "-m"}, listsPaths, tips, []string{"--"}, pathspecs)
	more, err := r.run(r.Top, nil, args...)
	if err != nil && len(tips) == 0 && r.unborn() {
		err = nil
	}
	return split0(slices.Concat(out, more)), err
}

// unborn reports whether the repository has no commit yet.
func (r *Reader) unborn() bool {
	out, err := r.run(r.Top, nil, "for-each-ref", "--count=1")
	_, head := r.run(r.Top, nil, "rev-parse", "--verify", "--quiet", "HEAD")
	return err == nil && len(out) == 0 && head != nil
}

// Commits returns nil if all words that name objects name commits or commit ranges. See
// [ErrNoCommit].
func (r *Reader) Commits(words []string) error {
	_, err := r.commits(words)
	return err
}

// ErrNoCommit means that a word names an object other than a commit, so its path is unknown.
var ErrNoCommit = errors.New("not a commit")

// commits returns the hashes of the commits that words name, as revisions or range ends. Words
// that name nothing are skipped. It fails for other objects, since they have no path.
func (r *Reader) commits(words []string) ([]string, error) {
	var ends []string
	for _, word := range words {
		ends = append(ends, rangeEnds(word)...)
	}
	if len(ends) == 0 {
		return nil, nil
	}
	var input strings.Builder
	for _, end := range ends {
		if strings.ContainsAny(end, "\n\x00") {
			return nil, errors.New("a revision has a line break")
		}
		if !strings.HasPrefix(end, ":/") { // :/ treats everything after it as text
			end += "^{}" // dereference tags
		}
		input.WriteString(end + "\n")
	}
	out, err := r.run(r.dir, []byte(input.String()), "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	var hashes []string
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(ends) {
		return nil, errors.New("git's answer about revisions is not understood")
	}
	for i, line := range lines {
		fields := strings.Fields(line)
		switch {
		case strings.HasSuffix(line, " missing"):
		case len(fields) == 3 && fields[1] == "commit":
			hashes = append(hashes, fields[0])
		default:
			return nil, fmt.Errorf("%s: %w", ends[i], ErrNoCommit)
		}
	}
	return hashes, nil
}

// rangeEnds returns the revisions in a word that may be a range.
func rangeEnds(word string) []string {
	if word == "-" {
		return []string{"@{-1}"}
	}
	ends := []string{word}
	for i := range len(word) - 1 {
		if word[i:i+2] == ".." {
			ends = append(ends, word[:i], strings.TrimLeft(word[i:], "."))
		}
	}
	var all []string
	for _, end := range ends {
		end = strings.TrimPrefix(end, "^")
		for _, mark := range []string{"^@", "^!", "^-"} {
			if i := strings.LastIndex(end, mark); i > 0 && strings.Trim(end[i+2:], "0123456789") == "" {
				end = end[:i]
			}
		}
		if end = strings.TrimSuffix(end, "^{tree}"); end == "" {
			end = "HEAD"
		}
		all = append(all, end)
	}
	return all
}

// split0 splits NUL-terminated names and removes duplicates.
func split0(out []byte) []string {
	var names []string
	seen := map[string]bool{}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 && !seen[string(name)] {
			seen[string(name)] = true
			names = append(names, string(name))
		}
	}
	return names
}
