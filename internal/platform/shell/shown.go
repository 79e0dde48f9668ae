package shell

import (
	"slices"
	"strings"

	"adze/internal/platform/shell/sed"
)

// A Shown is what a git command may show of the files of a repository, or change in its work tree, for rules that
// forbid it: git names files by revisions and pathspecs, and shows them without being given any. It never serves to allow.
type Shown struct {
	// Files are words, and parts of words, that may be the name of a file, relative to where git runs or to
	// the top of the repository.
	Files []string
	// Content says that the command prints what is in files, or copies it: of those that Limits select, or of whatever is
	// in the repository if they select none. Objects says that it prints any object whose hash it is given.
	Content, Objects bool
	// Writes says that the command changes files of the work tree that it does not name.
	Writes bool
	// Revisions are words that may name revisions and objects, Limits words that may be pathspecs. If Certain, all Limits
	// are pathspecs. Otherwise one that is the name of a file is, if Checked.
	Revisions, Limits []string
	Certain, Checked  bool
	// Vague says that it prints what is in files if a word that is not known before git runs is an option for that.
	Vague bool
	// Untracked says that it may show files that the repository does not know.
	Untracked bool
	// Dirs are what git is told to enter, one after another; Tops are further places of repositories.
	Dirs, Tops []string
	// Unknown says that a word is not known before git runs, or that what the command shows is not known from its words.
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
		case !f.words[0].Static && len(f.words) > 1 && gitCommands(f.words[1].Value): // any program
			s = gitShown(f.words[1:])
		default:
			continue
		}
		assigns := p.Assigns
		for _, w := range p.Words[:len(p.Words)-len(f.words)] { // of env
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
			s.Files = append(s.Files, nameIn(values[min(i+1, len(values)-1)])...)
			s.Files = append(s.Files, wordsIn(values[min(i+1, len(values)-1)])...)
		case "--no-replace-objects":
			s.Tops = append(s.Tops, ".") // what other commands list is not what this one shows
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

// vague reports whether an option that makes the command print what is in files may be among words that are not known.
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

// gitArguments are the words of a git command behind its name.
type gitArguments struct {
	sub  string // with the name of the command within it, such as "stash list"
	args []string
}

// hasSubCommand reports whether the first operand of a git command names a command within it.
func hasSubCommand(sub string) bool {
	switch sub {
	case "stash", "reflog", "notes", "worktree", "submodule", "bundle", "bisect", "rerere", "remote", "subtree", "sparse-checkout":
		return true
	}
	return false
}

// operands finds the words that may name files, revisions and pathspecs.
func (a gitArguments) operands(s *Shown) {
	end := -1
	var before, sure []string // operands in front of --; those of them that cannot be the value of an option
	for i := 0; i < len(a.args); i++ {
		v := a.args[i]
		name, _, glued := strings.Cut(v, "=")
		switch {
		case end >= 0:
		case v == "--":
			if i > 0 && !a.flag(a.args[i-1]) {
				s.Unknown = true // it may be the value of an option
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
		if len(before) == 0 { // the pattern is behind --
			if end >= 0 {
				s.Revisions = a.args[end+1:]
			}
			return
		}
		before = before[1:]
		sure = slices.DeleteFunc(sure, func(v string) bool { return v == s.Revisions[0] })
	}
	if a.sub == "cat-file" && len(before) == 2 { // behind a type
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

// limited reports whether the words behind -- are pathspecs that limit what the command shows or changes.
func (a gitArguments) limited() bool {
	switch a.sub {
	case "diff", "log", "show", "whatchanged", "grep", "diff-tree", "diff-index", "diff-files", "archive", "format-patch", "reflog show", "reflog",
		"checkout", "reset", "restore", "add", "stash push":
		return true
	}
	return false
}

// opens reports whether an option makes git show other files than the pathspecs select: those that a file was renamed
// from, all of a commit.
func (a gitArguments) opens() bool {
	return slices.ContainsFunc(a.args, func(v string) bool {
		return strings.HasPrefix(v, "--fo") || strings.HasPrefix(v, "--full-d") || strings.HasPrefix(v, "-L") ||
			strings.HasPrefix(v, "--recurse-s") || strings.HasPrefix(v, "--subm")
	})
}

// flag reports whether a word is an operand, or an option that takes no value from the next word.
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

// unknown reports whether what is shown stands in the input, in another file, or in what a name stands for.
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

// wordsIn returns the words of a text that may be a command.
func wordsIn(v string) []string {
	if !strings.ContainsAny(v, " \t\n'\"`()<>|;&!,$") {
		return nil
	}
	return strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`()<>|;&!=,$", r) })
}

// text reports whether the value of an option is text.
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

// has reports whether one of the options is given, in full or shortened.
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

// content reports whether a command of git prints what is in files, or hands it on. Set says that settings are given.
func (a gitArguments) content(set bool) bool {
	// Exactly these: shortened ones could be others.
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

// writes reports whether a command of git changes files of the work tree other than those that it names.
func (a gitArguments) writes() bool {
	switch a.sub {
	case "checkout", "switch":
		// A new branch where the work tree is changes nothing.
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

// patches reports whether an option makes git print differences, or search them. Options may be shortened and joined.
func (a gitArguments) patches() bool {
	long := []string{"--patch", "--patch-with-raw", "--patch-with-stat", "--unified", "--function-context", "--word-diff", "--word-diff-regex",
		"--color-words", "--binary", "--cc", "--combined-all-paths", "--dd", "--remerge-diff", "--diff-merges", "--ext-diff", "--check", "--output-indicator-new"}
	for _, v := range a.args { // behind -- as well, which may be the value of an option
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

// SedFiles returns the files that a word of sed reads and writes, if it is a script or an option with one. Of a script that is
// not understood it returns all that may be names.
func SedFiles(word string) (reads, writes []string) {
	scripts := []string{word}
	if _, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "--") {
		scripts = append(scripts, value)
	}
	if len(word) > 1 && word[0] == '-' && word[1] != '-' {
		if i := strings.IndexByte(word, 'e'); i > 0 {
			scripts = append(scripts, word[i+1:])
		}
	}
	for _, script := range scripts {
		s, err := sed.Parse(script)
		reads, writes = append(reads, s.Reads...), append(writes, s.Writes...)
		if err == nil {
			continue
		}
		for line := range strings.Lines(script) {
			for i, c := range line {
				name := strings.Trim(line[i+1:], " \t\n")
				switch c {
				case 'r', 'R':
					reads = append(reads, name, strings.TrimRight(name, "} \t"))
				case 'w', 'W':
					writes = append(writes, name, strings.TrimRight(name, "} \t"))
				}
			}
		}
	}
	return reads, writes
}
