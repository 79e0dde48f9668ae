package shell

import (
	"slices"
	"strings"
)

// A GitExposure describes the repository files that a git command may show, or change in the work
// tree, for deny rules: git names files by revisions and pathspecs, and shows files without
// being given any. It is never used to allow a command.
type GitExposure struct {
	// Files are words, and parts of words, that may name a file, relative to git's directory or
	// to the top of the repository.
	Files []string
	// Content is true if the command prints or copies file contents: of the files that Limits
	// select, or of any file in the repository without Limits. Objects is true if it prints any
	// object given its hash.
	Content, Objects bool
	// Writes is true if the command changes work tree files that it does not name.
	Writes bool
	// Revisions are words that may name revisions and objects, Limits words that may be
	// pathspecs. If Certain, all Limits are pathspecs. Otherwise, if Checked, a word that is
	// the name of a file is a pathspec.
	Revisions, Limits []string
	Certain, Checked  bool
	// Vague is true if the command prints file contents in case a word known only at run time
	// is an option for that.
	Vague bool
	// Untracked is true if the command may show files that are not in the repository.
	Untracked bool
	// Dirs are the directories that git enters, in order; Tops are further repository
	// locations.
	Dirs, Tops []string
	// Unknown is true if a word is known only at run time, or if the words do not determine the
	// files that are shown.
	Unknown bool
}

// ShownBy returns the files that p may show if it is a git command, or runs one through a
// harmless wrapper. Otherwise it is not ok.
func ShownBy(p *Part) (s GitExposure, ok bool) {
	for _, f := range p.forms() {
		name := baseName(f.words[0].Value)
		switch {
		case name == "git":
			s = gitShown(f.words[1:])
		case strings.HasPrefix(name, "git-"):
			s = gitShown(append([]Word{plainWord(name[len("git-"):])}, f.words[1:]...))
		case !f.words[0].Static && len(f.words) > 1 && gitCommands(f.words[1].Value): // any program
			s = gitShown(f.words[1:])
		default:
			continue
		}
		assigns := p.Assigns
		for _, w := range p.Words[:len(p.Words)-len(f.words)] { // words of env
			if name, value, ok := strings.Cut(w.Value, "="); ok {
				assigns = append(assigns[:len(assigns):len(assigns)], Assign{name, Word{Value: value, Static: w.Static}})
			}
		}
		for _, a := range assigns {
			if strings.HasPrefix(a.Name, "GIT_") && a.Name != "GIT_PAGER" {
				s.Tops, s.Limits, s.Certain = append(s.Tops, a.Value.Value), nil, false
				s.Files = append(s.Files, wordsIn(a.Value.Value)...)
				s.Unknown = s.Unknown || !a.Value.Static
			}
		}
		return s, true
	}
	return GitExposure{}, false
}

func gitShown(words []Word) (s GitExposure) {
	values := make([]string, len(words))
	for i, w := range words {
		values[i] = w.Value
		s.Unknown = s.Unknown || !w.Static
	}
	n := gitGlobals(values)
	set := false // a setting may affect the output
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
			s.Files = append(s.Files, nameIn(values[min(i+1, len(values)-1)])...)
			s.Files = append(s.Files, wordsIn(values[min(i+1, len(values)-1)])...)
		case "--no-replace-objects":
			s.Tops = append(s.Tops, ".") // listings by other commands do not match this command's view
		}
	}
	if n == len(values) {
		return s
	}
	sub, args := values[n], values[n+1:]
	if hasSubCommand(sub) && len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		sub, args = sub+" "+args[0], args[1:]
	}
	a := gitArguments{sub: sub, args: args}
	s.Content, s.Writes = a.content(set), a.writes()
	s.Objects = s.Content || sub == "show" || sub == "config" && a.has("--blob")
	s.Unknown = s.Unknown || s.Content && a.unknown()
	s.Untracked = a.has("--no-index", "--untracked", "--include-untracked", "--only-untracked") || sub == "add" || sub == "stash push" || sub == "stash" || sub == "clean"
	s.Vague = a.vague(words[len(words)-len(args):])
	a.operands(&s)
	if slices.Contains(values[:n], "--icase-pathspecs") {
		s.Limits, s.Certain = nil, false
	}
	return s
}

// vague reports whether unknown words may include an option that makes the command print file
// contents.
func (a gitArguments) vague(words []Word) bool {
	switch a.sub {
	case "diff", "show", "log", "whatchanged", "diff-tree", "diff-index", "diff-files", "reflog", "reflog show", "stash", "stash list", "stash show", "status", "cat-file":
	default:
		return false
	}
	for i, w := range words {
		name, _, glued := strings.Cut(w.Value, "=")
		switch {
		case w.Value == "--" && w.Static:
			return false
		case w.Static, glued && a.text(name), i > 0 && words[i-1].Static && a.text(words[i-1].Value) && len(words[i-1].Value) > 2:
		default:
			return true
		}
	}
	return false
}

// gitArguments are a git command's words after its name.
type gitArguments struct {
	sub  string // includes a nested command, such as "stash list"
	args []string
}

// hasSubCommand reports whether the first operand of a git command names a nested command.
func hasSubCommand(sub string) bool {
	switch sub {
	case "stash", "reflog", "notes", "worktree", "submodule", "bundle", "bisect", "rerere", "remote", "subtree", "sparse-checkout":
		return true
	}
	return false
}

// operands finds the words that may name files, revisions and pathspecs.
func (a gitArguments) operands(s *GitExposure) {
	end := -1
	var before, sure []string // operands before --; operands that cannot be option values
	for i := 0; i < len(a.args); i++ {
		v := a.args[i]
		name, _, glued := strings.Cut(v, "=")
		switch {
		case end >= 0:
		case v == "--":
			if i > 0 && !a.flag(a.args[i-1]) {
				s.Unknown = true // may be an option's value
			}
			end = i
			continue
		case a.text(name):
			if !glued && name != "--format" && name != "--pretty" && (name[1] == '-' || len(name) == 2 || strings.HasSuffix(name, "m")) { // the value is the next word
				i++
			}
			continue
		case len(v) > 1 && v[0] == '-':
			if len(v) > 2 && v[1] != '-' {
				s.Files = append(s.Files, v[2:])
			}
		default:
			before = append(before, v)
			if i == 0 || a.flag(a.args[i-1]) {
				sure = append(sure, v)
			}
		}
		s.Files = append(s.Files, nameIn(v)...)
		s.Files = append(s.Files, wordsIn(v)...)
	}
	s.Revisions = before
	if a.sub == "grep" && !slices.ContainsFunc(a.args, func(v string) bool { return strings.HasPrefix(v, "-e") || strings.HasPrefix(v, "-f") }) {
		if len(before) == 0 { // the pattern is after --
			if end >= 0 {
				s.Revisions = a.args[end+1:]
			}
			return
		}
		before = before[1:]
		sure = slices.DeleteFunc(sure, func(v string) bool { return v == s.Revisions[0] })
	}
	if a.sub == "cat-file" && len(before) == 2 { // after a type
		before = before[1:]
	}
	switch {
	case a.sub == "cat-file" && end < 0:
		s.Limits = before
	case !a.limited() || a.opens():
	case end >= 0 && end+1 < len(a.args):
		s.Limits, s.Certain = a.args[end+1:], true
	case end < 0 && len(sure) > 0:
		s.Limits, s.Certain = before, a.sub == "restore" && len(sure) == len(before)
		switch a.sub {
		case "diff", "log", "show", "whatchanged", "grep", "checkout":
			s.Checked = true
		}
	}
}

// limited reports whether the words after -- are pathspecs that limit the files the command
// shows or changes.
func (a gitArguments) limited() bool {
	switch a.sub {
	case "diff", "log", "show", "whatchanged", "grep", "diff-tree", "diff-index", "diff-files", "archive", "format-patch", "reflog show", "reflog",
		"checkout", "reset", "restore", "add", "stash push":
		return true
	}
	return false
}

// opens reports whether an option makes git show files that the pathspecs do not select: the
// old name of a renamed file, or a whole commit.
func (a gitArguments) opens() bool {
	return slices.ContainsFunc(a.args, func(v string) bool {
		return strings.HasPrefix(v, "--fo") || strings.HasPrefix(v, "--full-d") || strings.HasPrefix(v, "-L") ||
			strings.HasPrefix(v, "--recurse-s") || strings.HasPrefix(v, "--subm")
	})
}

// flag reports whether a word is an operand, or an option that takes no value from the next
// word.
func (a gitArguments) flag(v string) bool {
	if v == "" || v[0] != '-' || strings.Contains(v, "=") {
		return true
	}
	if strings.Trim(v[1:], "0123456789") == "" { // -3
		return true
	}
	if a.sub == "grep" && len(v) > 1 && strings.Trim(v[1:], "nilhHcEFPIvrwW") == "" {
		return true
	}
	switch v {
	case "-p", "-u", "-w", "-b", "--patch", "--cached", "--staged", "--stat", "--oneline", "--color", "--no-color", "--name-only", "--name-status", "--word-diff",
		"--all", "--no-ext-diff", "--no-textconv", "--hard", "--merge", "--keep", "--ours", "--theirs", "--worktree", "-W":
		return true
	}
	return strings.HasPrefix(v, "-U") && len(v) > 2
}

// unknown reports whether the shown files are determined by the input, by another file, or by
// the meaning of a name.
func (a gitArguments) unknown() bool {
	name, _, _ := strings.Cut(a.sub, " ")
	switch name {
	case "fast-import", "pack-objects", "mktree", "shell", "remote-ext", "remote-fd", "upload-pack", "upload-archive", "daemon", "http-backend", "instaweb":
		return true
	}
	return !gitCommand(name) || gitRuns(name, append(strings.Fields(a.sub)[1:], a.args...)) || slices.ContainsFunc(a.args, func(v string) bool {
		return strings.HasPrefix(v, "--pathspec-f") || v == "--stdin" || strings.HasPrefix(v, "--batch") || v == "--end-of-options" || v == "--index-info"
	})
}

// nameIn returns the parts of a word that may name a file: the word, and text after a colon, an
// equals sign or pathspec magic.
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

// wordsIn returns the words of a text that may be a command.
func wordsIn(v string) []string {
	if !strings.ContainsAny(v, " \t\n'\"`()<>|;&!,$") {
		return nil
	}
	return strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`()<>|;&!=,$", r) })
}

// text reports whether an option's value is text.
func (a gitArguments) text(option string) bool {
	switch option {
	case "--message", "--grep", "--author", "--committer", "--format", "--pretty", "--since", "--until", "--after", "--before", "--date", "--trailer":
		return true
	}
	switch a.sub {
	case "commit", "tag", "merge", "stash push", "stash", "notes add", "notes append", "revert", "cherry-pick":
		return len(option) > 1 && option[0] == '-' && option[1] != '-' && option[len(option)-1] == 'm'
	case "diff", "log", "show", "whatchanged", "diff-tree", "diff-index", "diff-files", "format-patch", "reflog", "reflog show", "stash list", "stash show":
		return strings.HasPrefix(option, "-S") || strings.HasPrefix(option, "-G")
	}
	return false
}

// has reports whether any of the options is given, in full or abbreviated.
func (a gitArguments) has(options ...string) bool {
	return slices.ContainsFunc(a.args, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(options, name) || len(name) > 3 && strings.HasPrefix(name, "--") &&
			slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, name) })
	})
}

// letter reports whether a short option is given, alone or joined with others.
func (a gitArguments) letter(letters string) bool {
	return slices.ContainsFunc(a.args, func(v string) bool {
		return len(v) > 1 && v[0] == '-' && v[1] != '-' && strings.ContainsAny(v[1:], letters)
	})
}

// content reports whether a git command prints file contents or passes them on. Set means that
// settings are given.
func (a gitArguments) content(set bool) bool {
	// Exact matches only: abbreviations could be other options.
	namesOnly := slices.ContainsFunc(a.args, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "--stat", "--numstat", "--shortstat", "--dirstat", "--summary", "--name-only", "--name-status", "--raw", "--quiet", "-s", "--no-patch", "--compact-summary":
			return true
		}
		return false
	})
	switch a.sub {
	case "diff", "show", "difftool", "stash show":
		return !namesOnly || a.patches()
	case "cat-file":
		return !slices.ContainsFunc(a.args, func(v string) bool {
			return v == "-t" || v == "-s" || v == "-e" || strings.HasPrefix(v, "--batch-check")
		})
	case "log", "whatchanged", "diff-tree", "diff-index", "diff-files", "show-branch", "cherry", "reflog", "reflog show", "stash list", "bisect visualize", "bisect view":
		return a.patches()
	case "status":
		return a.letter("v") || a.has("--verbose")
	case "commit":
		return a.letter("vp") || a.has("--verbose", "--patch", "--interactive")
	case "add", "checkout", "reset", "restore", "stash", "stash push", "stash save":
		return a.letter("pie") || a.has("--patch", "--interactive", "--edit") || a.patches()
	case "grep", "archive", "format-patch", "range-diff", "fast-export", "fast-import", "unpack-file", "checkout-index", "instaweb", "merge-file",
		"merge-tree", "send-email", "upload-archive", "upload-pack", "daemon", "http-backend", "pack-objects", "interpret-trailers", "diff-pairs", "mergetool",
		"read-tree", "mktree", "replace", "mv", "shell", "remote-ext", "remote-fd", "filter-branch", "for-each-repo", "rerere diff", "worktree add",
		"bundle create", "submodule foreach", "submodule summary", "subtree split", "subtree push":
		return true
	case "update-index":
		return a.has("--cacheinfo", "--index-info")
	case "notes add", "notes append", "notes edit", "notes copy", "notes merge":
		return a.letter("cC") || a.has("--reuse-message", "--reedit-message", "--stdin") || a.sub == "notes merge"
	case "for-each-ref", "tag", "branch":
		return slices.ContainsFunc(a.args, func(v string) bool { return strings.Contains(v, "raw") && strings.Contains(v, "%(") })
	case "request-pull":
		return a.letter("p")
	case "am", "rebase":
		return gitRuns(a.sub, a.args) || a.has("--show-current-patch")
	case "clone":
		return slices.ContainsFunc(a.args, func(v string) bool {
			return v != "" && strings.IndexByte("./~", v[0]) >= 0 || strings.HasPrefix(v, "file:") || !strings.Contains(v, ":") && v[0] != '-' && v != "--"
		})
	}
	name, rest, _ := strings.Cut(a.sub, " ")
	return !gitCommand(name) || gitRuns(name, append([]string{rest}, a.args...)) // an alias
}

// writes reports whether a git command changes work tree files that it does not name.
func (a gitArguments) writes() bool {
	switch a.sub {
	case "checkout", "switch":
		// Creating a branch at the current commit changes nothing.
		return !(len(a.args) == 2 && (a.args[0] == "-b" || a.args[0] == "-c"))
	case "merge", "rebase", "cherry-pick", "revert", "pull", "restore", "am", "apply", "clean", "rm", "mv", "checkout-index", "sparse-checkout", "filter-branch", "mergetool",
		"stash", "stash push", "stash save", "stash pop", "stash apply", "stash branch", "submodule update", "sparse-checkout set", "sparse-checkout add",
		"sparse-checkout reapply", "sparse-checkout disable", "subtree add", "subtree merge", "subtree pull", "quiltimport", "merge-index", "merge-one-file",
		"merge-recursive", "merge-resolve", "merge-octopus", "merge-subtree", "bisect start", "bisect good", "bisect bad", "bisect reset", "bisect skip", "bisect run",
		"bisect new", "bisect old", "rerere", "svn", "p4":
		return true
	case "reset":
		return a.has("--hard", "--merge", "--keep")
	case "read-tree":
		return a.letter("um") || a.has("--reset")
	}
	name, _, _ := strings.Cut(a.sub, " ")
	return !gitCommand(name) // an alias
}

// patches reports whether an option makes git print or search differences. Options may be
// abbreviated and joined.
func (a gitArguments) patches() bool {
	long := []string{"--patch", "--patch-with-raw", "--patch-with-stat", "--unified", "--function-context", "--word-diff", "--word-diff-regex",
		"--color-words", "--binary", "--cc", "--combined-all-paths", "--dd", "--remerge-diff", "--diff-merges", "--ext-diff", "--check", "--output-indicator-new"}
	for _, v := range a.args { // including words after --, which may be an option's value
		name, _, _ := strings.Cut(v, "=")
		switch {
		case len(v) < 2 || v[0] != '-':
		case v[1] == '-':
			if slices.ContainsFunc(long, func(o string) bool { return o == name || len(name) > 3 && strings.HasPrefix(o, name) }) {
				return true
			}
		case v[1] == 'S' || v[1] == 'G':
			return true
		case strings.IndexByte("nOlXBM", v[1]) < 0 && strings.ContainsAny(v[1:], "puUcWLm"):
			return true
		}
	}
	return false
}
