package shell

import (
	"slices"
	"strings"
)

// Some programs that are usually read-only run commands named in their arguments. This file
// inspects those arguments.

// argumentCode inspects arguments that programs execute.
type argumentCode struct{ *suspects }

// handed inspects a program's words for code that it runs in addition to its operands.
func (f argumentCode) handed(words []Word) {
	switch name := baseName(words[0].Value); {
	case name == "sed" || name == "gsed":
		f.sed(words[1:])
	case Is(name, isAwk):
		f.awk(words[1:])
	case name == "git":
		f.git(words[1:])
	case name == "alias":
		f.aliases(words[1:])
	case name == "jobs":
		if len(words) > 2 && words[1].Value == "-x" {
			f.active = true
			f.command(words[2:])
			commandPositions(f).position(words[2:], nil)
		}
	default:
		if strings.HasPrefix(name, "git-") {
			f.git(append([]Word{plainWord(name[len("git-"):])}, words[1:]...))
		}
	}
}

// aliases inspects the values that alias assigns. Words after the name, where it is used,
// follow the alias's value.
func (f argumentCode) aliases(words []Word) {
	for _, w := range words {
		_, value, ok := strings.Cut(w.Value, "=")
		switch {
		case !w.Static:
			f.doubt("the value of an alias is known only at run time")
		case ok:
			f.active = true
			f.script(value, true)
			f.open(strings.Fields(value), false)
		}
	}
}

// sed inspects sed scripts.
func (f argumentCode) sed(words []Word) {
	g := manualOf("sed").parse("sed", words)
	if g.has("--sandbox") {
		return
	}
	var scripts []Word
	for _, o := range g.options {
		switch o.name {
		case "-e", "--expression":
			scripts = append(scripts, o.value)
		case "-f", "--file":
			f.programFile(o.value.Value)
		}
	}
	switch {
	case g.unknown != "":
		scripts = append(scripts, g.operands...)
	case len(scripts) == 0 && !g.has("-f", "--file") && len(g.operands) > 0:
		scripts = g.operands[:1]
	}
	f.computed(scripts, "sed runs a script that is known only at run time")
	f.sedCommands(strings.Join(values(scripts), "\n"))
}

// programFile inspects the name of a file with a program: if it is standard input, it is part of
// the line.
func (f argumentCode) programFile(name string) {
	if name == "-" || name == "" || readsInput(name) {
		f.doubt("the program that it runs comes from elsewhere")
	}
}

// computed records a doubt if any of the programs is known only at run time.
func (f argumentCode) computed(programs []Word, why string) {
	if slices.ContainsFunc(programs, func(w Word) bool { return !w.Static && (w.Value == "" || f.made(w)) }) {
		f.doubt(why)
	}
}

// made reports whether a word depends on the line's own assignments or on the output of other
// commands.
func (f argumentCode) made(w Word) bool {
	return w.substs || slices.ContainsFunc(w.unset, func(name string) bool { return f.assigned[name] != nil || f.taken[name] })
}

// awk inspects an awk program.
func (f argumentCode) awk(words []Word) {
	g := manualOf("awk").parse("awk", words)
	for _, w := range g.of("X") {
		f.programFile(w.Value)
	}
	programs, _ := awkPrograms(g)
	if g.unknown != "" {
		programs = append(programs[:len(programs):len(programs)], g.operands...)
	}
	f.computed(programs, "awk runs a program that is known only at run time")
	for _, w := range programs {
		f.awkCommands(w.Value, words)
	}
}

// git inspects commands that git runs because of settings on its command line, an alias or an
// option.
func (f argumentCode) git(words []Word) {
	values := make([]string, len(words))
	for i, w := range words {
		values[i] = w.Value
	}
	n := gitGlobals(values)
	for i, w := range words[:n] {
		switch v := w.Value; {
		case v == "-c" && i+1 < len(words):
			f.setting(words[i+1])
		case strings.HasPrefix(v, "--config-env"), strings.HasPrefix(v, "--exec-path="):
			f.doubt("git takes settings or programs from elsewhere")
		}
	}
	if n == len(words) {
		return
	}
	sub := words[n]
	if sub.Static && !gitCommand(sub.Value) && f.sure {
		f.subcommands = append(f.subcommands, sub.Value)
	}
	if gitRuns(sub.Value, values[n+1:]) && slices.ContainsFunc(words[n+1:], func(w Word) bool { return !w.Static }) {
		f.doubt("the commands of git " + sub.Value + " are known only at run time")
	}
	for i, w := range words[n:] {
		v := w.Value
		name, value, glued := strings.Cut(v, "=")
		switch {
		case strings.Contains(v, "ext::"), strings.HasPrefix(v, "fd::"):
			f.doubt("git runs what the address " + v + " names")
		case sub.Value == "clone" && (v == "-c" || v == "--config") && n+i+1 < len(words):
			f.setting(words[n+i+1])
		case sub.Value == "clone" && len(name) > 4 && strings.HasPrefix("--config", name) && glued:
			f.setting(Word{Value: value, Static: w.Static})
		case sub.Value == "clone" && strings.HasPrefix(v, "-u"):
			f.active = true
			commandPositions(f).optionCode(words[n+i:], "-u")
		case sub.Value == "grep" && (strings.HasPrefix(v, "-O") || strings.HasPrefix(v, "--open")):
			f.active = true
			f.script(strings.TrimPrefix(strings.TrimPrefix(v, "-O"), name+"="), true)
		case sub.Value == "config" && i > 0 && (strings.HasPrefix(v, "!") || strings.ContainsAny(v, " \t\n")):
			f.active = true
			f.script(strings.TrimPrefix(v, "!"), true)
		case !w.Static && (sub.Value == "config" && i > 1 && strings.HasPrefix(words[n+1].Value, "alias.")):
			f.doubt("it gives git an alias that is known only at run time")
		}
		if sub.Value == "config" && i > 1 && strings.HasPrefix(words[n+i-1].Value, "alias.") {
			f.gitAlias(v)
		}
	}
}

// gitRuns reports whether a git sub-command runs some of its words.
func gitRuns(sub string, args []string) bool {
	has := func(prefixes ...string) bool {
		return slices.ContainsFunc(args, func(v string) bool {
			return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(v, prefix) })
		})
	}
	switch sub {
	case "bisect":
		return has("run")
	case "submodule":
		return has("foreach")
	case "rebase":
		return has("-x", "--ex")
	case "difftool":
		return has("-x", "--ext")
	case "filter-branch", "for-each-repo":
		return true
	}
	return false
}

// setting inspects a name and value given to git.
func (f argumentCode) setting(w Word) {
	key, value, _ := strings.Cut(w.Value, "=")
	key = strings.ToLower(key)
	if !w.Static && (w.Value == "" || !strings.Contains(w.Value, "=") || runsSetting(key)) {
		f.doubt("it gives git a setting that is known only at run time")
		return
	}
	switch {
	case strings.HasPrefix(key, "alias."):
		f.gitAlias(value)
	case strings.HasPrefix(key, "include"), key == "core.hookspath", key == "init.templatedir":
		f.doubt("it makes git run code from files")
	case runsSetting(key):
		f.active = true
		f.script(strings.TrimPrefix(value, "!"), true)
		f.guess(value)
	}
}

// gitAlias inspects the value of a git alias.
func (f argumentCode) gitAlias(value string) {
	f.active = true
	if command, ok := strings.CutPrefix(strings.TrimSpace(value), "!"); ok {
		f.script(command, true)
		f.open(strings.Fields(command), false)
		return
	}
	words := append([]string{"git"}, strings.Fields(value)...)
	f.sequence(words, true)
	f.open(words, true)
}

// runsSetting reports whether a git setting may name a program. Only settings for people's
// names are known not to.
func runsSetting(key string) bool {
	section, name, _ := strings.Cut(key, ".")
	switch section {
	case "user", "author", "committer", "color", "column", "advice", "i18n", "safe", "branch", "push", "pull", "log", "status", "rebase", "fetch", "format", "tag", "init", "commit":
		return strings.HasSuffix(key, "cmd") || strings.HasSuffix(key, "program") || strings.HasSuffix(key, "command")
	case "core":
		switch name {
		case "quotepath", "autocrlf", "eol", "safecrlf", "filemode", "ignorecase", "abbrev", "precomposeunicode", "symlinks", "longpaths", "bare", "commentchar", "whitespace":
			return false
		}
	case "diff":
		switch name {
		case "noprefix", "mnemonicprefix", "context", "algorithm", "renames", "renamelimit", "colormoved", "submodule", "ignoresubmodules", "indentheuristic":
			return false
		}
	}
	return true
}

// gitCommand reports whether a command is built into git and cannot be replaced by an alias.
func gitCommand(name string) bool { return gitCommands(name) || strings.HasPrefix(name, "-") }

var gitCommands = setOf(`
	add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap
	check-ref-format checkout checkout--worker checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config
	count-objects credential credential-cache credential-store describe diagnose diff diff-files diff-index diff-tree difftool
	fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck fsck-objects
	fsmonitor--daemon gc get-tar-commit-id grep hash-object help hook http-backend http-fetch http-push index-pack init init-db instaweb
	interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index
	merge-octopus merge-one-file merge-ours merge-recursive merge-resolve merge-subtree merge-tree mergetool mktag mktree multi-pack-index
	mv name-rev notes pack-objects pack-redundant pack-refs patch-id pickaxe prune prune-packed pull push quiltimport range-diff read-tree
	rebase receive-pack reflog remote remote-ext remote-fd repack replace request-pull rerere reset restore rev-list
	rev-parse revert rm send-email send-pack sh-i18n sh-setup shell shortlog show show-branch show-index show-ref sparse-checkout stage
	stash status stripspace submodule switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info
	upload-archive upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree`)
