// Package gitstatus computes the output of git status from git's files, without running git, in
// repositories that are small and simple enough. It recognizes changed, deleted and untracked
// files. If it meets anything else, such as staged changes, submodules, filters or names that
// git quotes, its caller runs git instead.
package gitstatus

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/git/gitindex"
	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/search/ignore"
)

const (
	// maxIndex is the maximum size of an index, in bytes; larger ones list thousands of files.
	maxIndex = 512 << 10
	// maxDirs is the maximum number of directories to list.
	maxDirs = 2000
	// maxCompared and maxContent are the maximum number and size of files whose content is
	// compared.
	maxCompared = 500
	maxContent  = 1 << 20
	// maxIgnore is the maximum size of an ignore file.
	maxIgnore = 1 << 20
)

// errUnknown means that only git knows the status.
var errUnknown = errors.New("only git knows the status")

// Short returns the output of git status --short in dir, which is in the repository, if the
// index contains the tree of the checked-out commit, and if it is otherwise simple enough.
//
// Like a git that was built with USE_NSEC, it trusts a file's times if they are older than the
// index by less than a second.
func Short(ctx context.Context, repo *gitrepo.Repository, dir, tree string) (string, bool) {
	rules := repo.Status()
	top, err := filepath.EvalSymlinks(repo.Top())
	if err != nil || !rules.Simple {
		return "", false
	}
	w := &walker{ctx: ctx, top: top, rules: rules}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", false
	}
	if w.dir, err = filepath.Rel(top, dir); err != nil || w.readIndex(repo, tree) != nil {
		return "", false
	}
	for _, path := range []string{filepath.Join(repo.Common(), "info", "exclude"), rules.Excludes} {
		if text, err := fsys.ReadSmall(path, maxIgnore); path != "" && err != nil && !errors.Is(err, fs.ErrNotExist) || versionsDiffer(text) {
			return "", false
		}
	}
	w.loader = ignore.NewLoader(ignore.Options{Getenv: func(string) string { return "" }})
	above := w.loader.Repository(filepath.ToSlash(top), repo.Common(), rules.Excludes, rules.Fold)
	if w.tracked("", w.entries, above, false) != nil || w.compare(repo) != nil {
		return "", false
	}
	out, err := w.format()
	return out, err == nil
}

// A walker compares a work tree with the index.
type walker struct {
	ctx     context.Context
	rules   gitrepo.StatusRules
	loader  *ignore.Loader
	top     string
	dir     string // relative to top
	entries []entry
	written stamp // index

	dirs       int
	attributes bool // a file with attributes was found
	uncertain  []entry
	changes    []change
	untracked  []string
}

// An entry is a file in the index.
type entry struct {
	name string
	mode uint32
	stat gitindex.Stat
	id   []byte
}

func (e *entry) link() bool { return e.mode&gitindex.KindMask == gitindex.KindLink }

// A change is a line of the status about a tracked file.
type change struct {
	name string
	kind byte
}

// readIndex reads the entries. Nothing must be staged.
func (w *walker) readIndex(repo *gitrepo.Repository, tree string) error {
	if repo.Hash() == 0 {
		return errUnknown
	}
	f, err := os.Open(filepath.Join(repo.Dir(), "index"))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return errUnknown
	}
	written := info.ModTime()
	w.written = stamp{uint32(written.Unix()), uint32(written.Nanosecond())}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return err
	}
	root, err := gitindex.ReadTree(data, repo.Hash(), func(e gitindex.Entry) error {
		kind := e.Mode & gitindex.KindMask
		name := string(e.Name)
		if e.Special || e.Skipped || kind != gitindex.KindFile && kind != gitindex.KindLink {
			return errUnknown
		}
		if n := len(w.entries); n > 0 && w.entries[n-1].name >= name {
			return errUnknown
		}
		w.attributes = w.attributes || isAttributes(name)
		w.entries = append(w.entries, entry{name, e.Mode, e.Stat, e.ID})
		return nil
	})
	if err == nil && (root == nil || hex.EncodeToString(root) != tree) {
		err = errUnknown
	}
	return err
}

func isAttributes(name string) bool {
	return strings.HasSuffix(strings.ToLower(name), ".gitattributes")
}

// tracked compares a directory with its entries in the index. Its path is relative to the top
// and ends in a slash. If it is excluded, all its untracked files are ignored.
func (w *walker) tracked(path string, entries []entry, above *ignore.Dir, excluded bool) error {
	list, rules, err := w.list(path, above, excluded)
	if err != nil {
		return err
	}
	known, err := children(path, entries)
	if err != nil {
		return err
	}
	for _, e := range list {
		name := path + e.Name()
		in, ok := known[e.Name()]
		delete(known, e.Name())
		switch {
		case !ok && (excluded || path == "" && e.Name() == ".git"):
		case !ok:
			if name, err = w.show(name, e, rules); err != nil {
				return err
			}
			if name != "" {
				w.untracked = append(w.untracked, name)
			}
		case in[0].name == name:
			if err := w.check(in[0]); err != nil {
				return err
			}
		case !e.IsDir():
			return errUnknown
		default:
			if err := w.tracked(name+"/", in, rules, excluded || rules.IgnoresDir(w.absolute(name))); err != nil {
				return err
			}
		}
	}
	for _, in := range known {
		for _, e := range in {
			w.changes = append(w.changes, change{e.name, 'D'})
		}
	}
	return nil
}

// children groups the entries in a directory by their names there.
func children(path string, entries []entry) (map[string][]entry, error) {
	known := make(map[string][]entry)
	for len(entries) > 0 {
		rest := entries[0].name[len(path):]
		name, _, isDir := strings.Cut(rest, "/")
		n := 1
		if isDir {
			prefix := path + name + "/"
			for n < len(entries) && strings.HasPrefix(entries[n].name, prefix) {
				n++
			}
		}
		if known[name] != nil { // a file and a directory
			return nil, errUnknown
		}
		known[name] = entries[:n]
		entries = entries[n:]
	}
	return known, nil
}

// list reads a directory and returns the rules for its entries.
func (w *walker) list(path string, above *ignore.Dir, excluded bool) ([]fs.DirEntry, *ignore.Dir, error) {
	if w.dirs++; w.dirs > maxDirs || w.ctx.Err() != nil {
		return nil, nil, errUnknown
	}
	dir := w.absolute(path)
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	found := ignore.Names(0)
	for _, e := range list {
		switch name := e.Name(); {
		case strings.EqualFold(name, ".git") && (path != "" || name != ".git"):
			return nil, nil, errUnknown // perhaps another repository
		case isAttributes(name):
			w.attributes = true
		case name == ".gitignore":
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnore {
				return nil, nil, errUnknown
			}
			found = ignore.Gitignore
		}
	}
	if excluded {
		return list, above, nil
	}
	var failed error
	rules := w.loader.Enter(above, strings.TrimSuffix(filepath.ToSlash(dir), "/"), found, func(name string) (io.ReadCloser, error) {
		data, err := fsys.ReadSmall(filepath.Join(dir, name), maxIgnore)
		if versionsDiffer(data) {
			err = errUnknown
		}
		failed = cmp.Or(failed, err)
		return io.NopCloser(bytes.NewReader(data)), err
	})
	return list, rules, failed
}

// versionsDiffer reports whether an ignore file has a pattern such as foo**/bar, whose meaning
// changed in git 2.52.
func versionsDiffer(text []byte) bool {
	for line := range bytes.Lines(text) {
		if i := bytes.Index(line, []byte("**")); i > 0 && line[i-1] != '/' && line[i-1] != '!' {
			return true
		}
	}
	return false
}

func (w *walker) absolute(path string) string { return w.top + "/" + strings.TrimSuffix(path, "/") }

// show returns the name that git shows for an untracked file or directory, or "" if it shows
// none.
func (w *walker) show(path string, e fs.DirEntry, rules *ignore.Dir) (string, error) {
	switch {
	case e.IsDir():
		if rules.IgnoresDir(w.absolute(path)) {
			return "", nil
		}
		path += "/"
		any, err := w.holdsFile(path, rules)
		if !any {
			path = ""
		}
		return path, err
	case !e.Type().IsRegular() && e.Type() != fs.ModeSymlink, rules.IgnoresFile(w.absolute(path)):
		return "", nil
	}
	return path, nil
}

// holdsFile reports whether an untracked directory contains a file that is not ignored.
func (w *walker) holdsFile(path string, above *ignore.Dir) (bool, error) {
	list, rules, err := w.list(path, above, false)
	for _, e := range list {
		if err != nil {
			return false, err
		}
		var shown string
		if shown, err = w.show(path+e.Name(), e, rules); shown != "" {
			return true, err
		}
	}
	return false, err
}

// compare compares the content of the files whose state does not tell whether they changed.
func (w *walker) compare(repo *gitrepo.Repository) error {
	if len(w.uncertain) == 0 {
		return nil
	}
	if len(w.uncertain) > maxCompared || w.attributes || w.rules.Converts {
		return errUnknown
	}
	for _, path := range append(w.rules.Attributes, filepath.Join(repo.Common(), "info", "attributes")) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return errUnknown
		}
	}
	for _, e := range w.uncertain {
		content, err := w.content(e)
		if err != nil {
			return err
		}
		var sum hash.Hash
		if sum = sha1.New(); repo.Hash() == sha256.Size {
			sum = sha256.New()
		}
		fmt.Fprintf(sum, "blob %d\x00%s", len(content), content)
		if !bytes.Equal(sum.Sum(nil), e.id) {
			w.changes = append(w.changes, change{e.name, 'M'})
		}
	}
	return nil
}

func (w *walker) content(e entry) ([]byte, error) {
	if e.link() {
		target, err := os.Readlink(w.absolute(e.name))
		return []byte(target), err
	}
	return fsys.ReadSmall(w.absolute(e.name), maxContent)
}

// format returns the lines of the status in git's order, with paths relative to the directory.
func (w *walker) format() (string, error) {
	if w.rules.Aliases && (len(w.untracked) > 0 || slices.ContainsFunc(w.changes, func(c change) bool { return c.kind == 'D' })) {
		return "", errUnknown
	}
	slices.SortFunc(w.changes, func(a, b change) int { return strings.Compare(a.name, b.name) })
	slices.Sort(w.untracked)
	var lines []string
	for _, c := range w.changes {
		lines = append(lines, " "+string(c.kind)+" "+w.relative(c.name))
	}
	for _, name := range w.untracked {
		lines = append(lines, "?? "+w.relative(name))
	}
	for _, line := range lines {
		if strings.ContainsFunc(line[3:], func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }) {
			return "", errUnknown // git may quote it
		}
	}
	return strings.Join(lines, "\n"), nil
}

// relative returns a path relative to the walker's directory.
func (w *walker) relative(path string) string {
	if w.dir == "." {
		return path
	}
	from := strings.Split(filepath.ToSlash(w.dir), "/")
	for len(from) > 0 {
		rest, ok := strings.CutPrefix(path, from[0]+"/")
		if !ok {
			break
		}
		from, path = from[1:], rest
	}
	if path = strings.Repeat("../", len(from)) + path; path == "" {
		return "./"
	}
	return path
}
