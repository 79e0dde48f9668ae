package shell

import (
	"slices"
	"strings"
)

// A Shown is what a git command may show of the files of a repository, for rules that forbid reading: git
// names files by revisions and pathspecs, and shows them without being given any. It never serves to allow.
type Shown struct {
	// Files are words, and parts of words, that may be the name of a file, relative to where git runs or to
	// the top of the repository.
	Files []string
	// Content says that the command prints what is in files: in those that Limits select, or whatever is in
	// the repository if they select none.
	Content bool
	Limits  []string // pathspecs; those of a command without -- may also be revisions
	Certain bool     // Limits are pathspecs
	// Dirs are what git is told to enter, one after another; Tops are further places of repositories.
	Dirs, Tops []string
	// Unknown says that a word is not known before git runs.
	Unknown bool
}

// ShownBy returns what the git command that p is, or runs behind a harmless wrapper, may show. It is not ok if
// there is none.
func ShownBy(p *Part) (s Shown, ok bool) {
	for _, f := range p.forms() {
		name := baseName(f.words[0].Value)
		switch {
		case name == "git":
			s = gitShown(f.words[1:])
		case strings.HasPrefix(name, "git-"):
			s = gitShown(append([]Word{plainWord(name[len("git-"):])}, f.words[1:]...))
		default:
			continue
		}
		for _, a := range p.Assigns {
			if strings.HasPrefix(a.Name, "GIT_") && a.Name != "GIT_PAGER" {
				s.Tops = append(s.Tops, a.Value.Value)
				s.Unknown = s.Unknown || !a.Value.Static
			}
		}
		return s, true
	}
	return Shown{}, false
}

func gitShown(words []Word) (s Shown) {
	values := make([]string, len(words))
	for i, w := range words {
		values[i] = w.Value
		s.Unknown = s.Unknown || !w.Static
	}
	n := gitGlobals(values)
	set := false // a setting may change what is shown
	for i, v := range values[:n] {
		name, value, glued := strings.Cut(v, "=")
		if !glued && i+1 < len(values) {
			value = values[i+1]
		}
		switch name {
		case "-C":
			s.Dirs = append(s.Dirs, value)
		case "--git-dir", "--work-tree":
			s.Tops = append(s.Tops, value)
		case "-c", "--config-env":
			set = true
		}
	}
	if n == len(values) {
		return s
	}
	sub, args := values[n], values[n+1:]
	s.Content = showsContent(sub, args, set)
	end := slices.Index(args, "--")
	operands := []string{}
	for i := 0; i < len(args); i++ {
		v := args[i]
		name, _, glued := strings.Cut(v, "=")
		switch {
		case v == "--" || end >= 0 && i > end:
		case gitText(sub, name):
			if !glued && name != "--format" && name != "--pretty" && (name[1] == '-' || len(name) == 2) { // the value is the next word
				i++
			}
			continue
		case len(v) > 1 && v[0] == '-':
			if strings.HasPrefix(v, "--pathspec-f") || v == "--stdin" || strings.HasPrefix(v, "--batch") {
				s.Unknown = true
			}
			if len(v) > 2 && v[1] != '-' {
				s.Files = append(s.Files, v[2:])
			}
		default:
			operands = append(operands, v)
		}
		s.Files = append(s.Files, nameIn(v)...)
	}
	if slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(v, "--full-d") || v == "--icase-pathspecs" }) {
		return s // pathspecs select other files than they name
	}
	if end >= 0 && end+1 < len(args) {
		s.Limits, s.Certain = args[end+1:], true
		return s
	}
	if sub == "grep" && len(operands) > 0 {
		if slices.ContainsFunc(args, func(v string) bool { return strings.HasPrefix(v, "-e") || strings.HasPrefix(v, "-f") }) {
			return s
		}
		operands = operands[1:] // the pattern
	}
	s.Limits = operands
	return s
}

// nameIn returns what of a word may name a file: the word, and what follows a colon, an equals sign or the
// magic of a pathspec.
func nameIn(v string) []string {
	names := []string{v}
	for i := range len(v) {
		if strings.IndexByte(":=)", v[i]) >= 0 && i+1 < len(v) {
			names = append(names, strings.TrimLeft(v[i+1:], "!^/"))
			if v[i+1] == '/' {
				names = append(names, v[i+1:])
			}
		}
	}
	return names
}

// gitText reports whether the value of an option is text.
func gitText(sub, option string) bool {
	switch option {
	case "--message", "--grep", "--author", "--committer", "--format", "--pretty", "--since", "--until", "--after", "--before", "--date", "--trailer", "-S", "-G":
		return true
	case "-m":
		return slices.Contains([]string{"commit", "tag", "merge", "stash", "notes", "revert", "cherry-pick"}, sub)
	}
	return strings.HasPrefix(option, "-S") || strings.HasPrefix(option, "-G")
}

// showsContent reports whether a command of git prints what is in files, or hands it on.
func showsContent(sub string, args []string, set bool) bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return slices.Contains(options, name)
		})
	}
	switch sub {
	case "diff", "show", "difftool":
		namesOnly := has("--stat", "--numstat", "--shortstat", "--dirstat", "--summary", "--name-only", "--name-status", "--raw", "--quiet", "-s", "--no-patch", "--compact-summary")
		return !namesOnly || patches(args)
	case "cat-file":
		return !has("-t", "-s", "-e", "--batch-check")
	case "log", "whatchanged", "diff-tree", "diff-index", "diff-files", "show-branch", "cherry":
		return patches(args)
	case "reflog":
		return !has("exists", "expire", "delete", "list") && patches(args)
	case "stash":
		return (has("show") && set) || patches(args)
	case "add", "checkout", "reset", "restore", "commit":
		return has("-p", "--patch", "-i", "--interactive", "-e", "--edit") && !(sub == "commit" && !has("-p", "--patch", "--interactive")) ||
			sub == "commit" && has("-v", "--verbose", "-vv")
	case "grep", "archive", "format-patch", "range-diff", "fast-export", "bundle", "unpack-file", "checkout-index", "instaweb", "merge-file",
		"merge-tree", "send-email", "upload-archive", "upload-pack", "daemon", "http-backend", "pack-objects", "interpret-trailers", "diff-pairs":
		return true
	case "request-pull":
		return has("-p")
	case "am", "rebase", "submodule", "bisect", "filter-branch", "for-each-repo":
		return gitRuns(sub, args) || slices.ContainsFunc(args, func(v string) bool { return strings.HasPrefix(v, "--show-c") })
	case "clone":
		return slices.ContainsFunc(args, func(v string) bool {
			return v != "" && strings.IndexByte("./~", v[0]) >= 0 || strings.HasPrefix(v, "file:")
		})
	case "worktree":
		return has("add")
	}
	return !gitCommand(sub) // an alias
}

// patches reports whether an option makes git print differences. Options may be shortened and joined.
func patches(args []string) bool {
	long := []string{"--patch", "--patch-with-raw", "--patch-with-stat", "--unified", "--function-context", "--word-diff", "--word-diff-regex",
		"--color-words", "--binary", "--cc", "--combined-all-paths", "--dd", "--remerge-diff", "--diff-merges", "--ext-diff", "--check", "--output-indicator-new"}
	for _, v := range args {
		if v == "--" {
			break
		}
		name, _, _ := strings.Cut(v, "=")
		switch {
		case len(v) < 2 || v[0] != '-':
		case v[1] == '-':
			if slices.ContainsFunc(long, func(o string) bool { return o == name || len(name) > 3 && strings.HasPrefix(o, name) }) {
				return true
			}
		case strings.IndexByte("SGnOlXBM", v[1]) < 0 && strings.ContainsAny(v[1:], "puUcWLm"):
			return true
		}
	}
	return false
}
