package shell

import (
	"slices"
	"strings"
)

// A GitUse is a git command in a line, in a directory that it may run in.
type GitUse struct {
	// Dir is relative to the line's initial directory, or absolute. It is valid only if Known.
	Dir   string
	Known bool
	// Args are the sub-command and its arguments; an argument known only at run time is empty.
	Args []string
}

// GitUses returns the git commands in the line.
func (s *Script) GitUses() []GitUse {
	var uses []GitUse
	for _, p := range s.Parts {
		for _, words := range p.commands() {
			if baseName(words[0].Value) == "git" {
				uses = append(uses, p.gitUses(words)...)
			}
		}
	}
	return uses
}

// gitUses returns the uses of a git command that the part is or runs.
func (p *Part) gitUses(words []Word) []GitUse {
	into, rest, ok := gitGlobal(words[1:])
	args := make([]string, len(rest))
	for i, w := range rest {
		if w.Static && !w.Glob {
			args[i] = w.Value
		}
	}
	if !ok || p.dirs == nil || p.body > 0 && p.script.ChangesDir() { // a function runs in its caller's directory
		return []GitUse{{Args: args}}
	}
	var uses []GitUse
	for _, dir := range p.dirs {
		for _, w := range into {
			dir = join(dir, w.Value)
		}
		uses = append(uses, GitUse{Dir: dir, Known: true, Args: args})
	}
	return uses
}

// gitGlobal returns the directories entered by git's global options, and the words after these
// options. It is ok if the options are known to be harmless.
func gitGlobal(words []Word) (into, rest []Word, ok bool) {
	for len(words) > 0 && strings.HasPrefix(words[0].Value, "-") {
		switch words[0].Value {
		case "--no-pager", "-P", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs", "--glob-pathspecs",
			"--noglob-pathspecs", "--icase-pathspecs", "--no-advice":
		case "--version", "-v":
			return into, words, true
		case "-C":
			if len(words) < 2 || words[1].Glob || !words[1].Static || words[1].Value == "" {
				return into, words, false
			}
			into = append(into, words[1])
			words = words[1:]
		case "-c":
			if len(words) < 2 || words[1].Glob || !words[1].Static || !harmlessSetting(words[1].Value) {
				return into, words, false
			}
			words = words[1:]
		default:
			return into, words, false
		}
		words = words[1:]
	}
	return into, words, true
}

// harmlessSetting reports whether a setting given with -c affects only the output format.
func harmlessSetting(setting string) bool {
	key, value, _ := strings.Cut(setting, "=")
	key = strings.ToLower(key)
	switch section, _, _ := strings.Cut(key, "."); section {
	case "color", "advice", "column":
		return true
	}
	switch key {
	case "core.pager", "pager.log", "pager.diff", "pager.show", "pager.branch":
		return value == "" || value == "cat" || value == "false"
	case "core.fsmonitor", "log.showsignature":
		return value == "" || value == "false"
	}
	return slices.Contains([]string{
		"core.quotepath", "core.abbrev", "core.whitespace", "log.date", "log.decorate", "log.abbrevcommit", "diff.renames", "diff.algorithm",
		"diff.context", "diff.noprefix", "diff.mnemonicprefix", "diff.colormoved", "diff.renamelimit", "status.relativepaths", "status.short",
		"status.branch", "status.showuntrackedfiles", "grep.linenumber", "grep.patterntype", "tag.sort", "branch.sort", "core.untrackedcache",
	}, key)
}

// gitPathValues returns the values of git options that name files to read. The words do not
// include the program.
func gitPathValues(words []Word) []Word {
	e, rest := lookup(append([]Word{plainWord("git")}, words...))
	if e == nil {
		return nil
	}
	return e.parse("git", rest).of("R")
}
