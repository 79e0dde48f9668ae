package shell

import (
	"path"
	"slices"
	"strings"
)

// outputsOf returns the files that a command writes because of an option, an operand or its
// script, and whether that is only a guess from option names. Programs that copy or move files
// are handled by [transferOf].
func outputsOf(words []Word) (uses []use, guessed bool) {
	if reads(words) {
		return nil, false
	}
	m, g := usageOf(words)
	if m == nil {
		return guessOutputs(words[1:]), true
	}
	uses = append(all(WritePath, g.of("W")), all(WritePath, g.of("D"))...)
	if m.partial && len(uses) == 0 {
		return guessOutputs(words[1:]), true
	}
	if t := g.name; t == "cp" || t == "mv" || t == "ln" || t == "install" {
		return nil, false // its directories are targets
	}
	for i, w := range g.operands {
		if n := len(m.files); n > 0 && m.files[min(i, n-1)] == 'W' {
			uses = append(uses, use{verb: WritePath, word: w})
		}
	}
	if m.effects != nil {
		uses = append(uses, m.effects(g)...)
	}
	return append(uses, elsewhere(uses, workDirs(words, g))...), false
}

// workDirs returns the directories in which options make a program work.
func workDirs(words []Word, g *parsedArgs) []Word {
	dirs := g.of("E")
	if baseName(words[0].Value) != "git" {
		return dirs
	}
	globals := words[1 : 1+gitGlobals(values(words[1:]))]
	at := plainWord("")
	for i, w := range globals {
		for _, name := range []string{"-C", "--git-dir", "--work-tree"} {
			dir := w
			switch {
			case w.Value == name && i+1 < len(globals):
				dir = globals[i+1]
			case strings.HasPrefix(w.Value, name+"="):
				dir = w.behind(len(name) + 1)
			default:
				continue
			}
			at = Word{Value: join(at.Value, dir.Value), Static: at.Static && dir.Static, Text: dir.Text, why: dir.why}
			dirs = append(dirs, at)
		}
	}
	return dirs
}

// elsewhere returns the uses with their paths relative to each of the directories in which the
// program may work.
func elsewhere(uses []use, dirs []Word) []use {
	var moved []use
	for _, u := range uses {
		for _, dir := range dirs {
			if path.IsAbs(u.word.Value) || !u.word.Static {
				continue
			}
			w := u.word
			w.Value, w.Static = join(dir.Value, w.Value), dir.Static && !dir.Glob
			moved = append(moved, use{verb: u.verb, word: w})
		}
	}
	return moved
}

// guessOutputs returns the values of options that are named like outputs, for an unknown
// program.
func guessOutputs(words []Word) []use {
	var uses []use
	for i, w := range words {
		v := w.Value
		if len(v) < 2 || v[0] != '-' {
			continue
		}
		name, _, assigned := strings.Cut(v, "=")
		switch {
		case outputName(strings.ToLower(strings.TrimLeft(name, "-"))) && assigned:
			uses = append(uses, use{verb: WritePath, word: w.behind(len(name) + 1)})
		case outputName(strings.ToLower(strings.TrimLeft(name, "-"))) && i+1 < len(words) && !strings.HasPrefix(words[i+1].Value, "-"):
			uses = append(uses, use{verb: WritePath, word: words[i+1]})
		}
		if strings.HasPrefix(v, "-o") && len(v) > 2 {
			uses = append(uses, use{verb: WritePath, word: w.behind(2)})
		}
	}
	return uses
}

// outputName reports whether an option of this name may give an output path.
func outputName(name string) bool {
	if name == "o" {
		return true
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '-' || r == '_' }) {
		for _, stem := range []string{"out", "dest", "log", "report", "dump", "save", "write", "export", "trace", "target"} {
			if strings.HasPrefix(part, stem) {
				return true
			}
		}
	}
	return false
}

// quoted returns the number of words that a rule with a star must spell out because they
// determine the other commands that are run. It is 0 for most commands, and more than
// len(words) for a command that only a rule without a star may cover. Whole means that the rule
// is the program and a star, and so covers all of its files.
func quoted(words []Word, whole bool) int {
	all := len(words) + 1
	switch baseName(words[0].Value) {
	case "find":
		if findAction(words[1:]) != "" {
			return all
		}
		return 0
	case "xargs":
		return xargsProgram(words)
	case "git":
		globals := values(words[1:])
		for _, w := range globals[:gitGlobals(globals)] {
			if strings.HasPrefix(w, "-c") || strings.HasPrefix(w, "--config-env") || strings.HasPrefix(w, "--exec-path") {
				return all
			}
		}
		if n := gitGlobals(globals) + 1; n < len(words) {
			switch {
			case words[n].Value == "config" && !reads(words):
				if slices.ContainsFunc(words[n+1:], func(w Word) bool { return strings.Contains(w.Value, ".") && runsSetting(strings.ToLower(w.Value)) }) {
					return all
				}
				return n + 1
			case n+1 < len(words) && (words[n].Value == "bisect" && words[n+1].Value == "run" || words[n].Value == "submodule" && words[n+1].Value == "foreach"):
				return all
			case words[n].Value == "filter-branch", words[n].Value == "hook":
				return all
			}
		}
	}
	if n := launcher(words); n > 0 && n < len(words) {
		if inner := quoted(words[n:], false); inner > 0 {
			return n + inner
		}
		return 0
	}
	m, g := usageOf(words)
	if m == nil {
		return 0
	}
	if m.effects != nil {
		m.effects(g) // may find programs in scripts
	}
	n := 0
	for _, o := range g.options {
		if o.kind == 'X' || o.kind == 'F' && !whole {
			n = max(n, len(words)-len(g.words)+o.end)
		}
	}
	if strings.HasPrefix(g.name, "git ") {
		for _, w := range g.operands {
			if strings.HasPrefix(w.Value, "ext::") {
				return all
			}
		}
	}
	return n
}

// launcher returns the number of words before the tool that a package or module runner starts:
// npx eslint, python -m pytest. It is 0 for other commands.
func launcher(words []Word) int {
	n := 0
	value := func(i int) string {
		if i < len(words) {
			return words[i].Value
		}
		return ""
	}
	name := baseName(words[0].Value)
	switch strings.TrimRight(name, "0123456789.") {
	case "npx", "bunx", "uvx", "pipx":
		n = 1
		if name == "pipx" && value(1) == "run" {
			n = 2
		}
	case "python", "pypy":
		if value(1) == "-m" {
			return 2
		}
	case "uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda":
		if value(1) == "run" {
			n = 2
		}
	case "bundle", "pnpm", "yarn", "npm", "dotenv":
		if value(1) == "exec" {
			n = 2
			if value(2) == "--" {
				n = 3
			}
		}
	}
	if n == 0 || strings.HasPrefix(value(n), "-") {
		return 0
	}
	return n
}

// xargsProgram returns the number of words up to the program that xargs runs.
func xargsProgram(words []Word) int {
	for i := 1; i < len(words); i++ {
		switch v := words[i].Value; {
		case !strings.HasPrefix(v, "-"):
			return i + quoted(words[i:], false) + 1
		case len(v) == 2 && strings.Contains("-I -L -n -P -s -d -E -a", v):
			i++
		}
	}
	return 1
}

// runs records that the command runs commands in its script.
func (g *parsedArgs) runs(what string) {
	g.options = append(g.options, option{name: what, kind: 'X', end: len(g.words) + 1})
}

// valueAt reports whether word i is an option's value.
func (g *parsedArgs) valueAt(i int) bool {
	return slices.ContainsFunc(g.options, func(o option) bool { return o.end == i+1 && o.value.Text != "" && o.value.Value == g.words[i].Value })
}

// runsWord records that the command runs something else because of word i.
func (g *parsedArgs) runsWord(i int) {
	g.options = append(g.options, option{name: g.words[i].Value, kind: 'X', end: i + 1})
}

// somewhere is the use of files known only at run time.
func somewhere(from Unknown) use { return use{verb: WritePath, unknown: from} }

// unfolds returns the outputs of a program that takes file names from its input.
func unfolds(g *parsedArgs) []use {
	if g.has("--check", "--stat", "--numstat", "--summary", "--dry-run", "--abort", "--skip", "--quit", "--show-current-patch") && !g.has("--apply") {
		return nil
	}
	return []use{somewhere(FromPatch)}
}

func csplitOutputs(g *parsedArgs) []use {
	if g.has("-b", "--suffix-format") {
		return []use{somewhere(FromFormat)}
	}
	return nil
}

func tarOutputs(g *parsedArgs) []use {
	mode := ""
	letters := map[string]string{"--create": "c", "--extract": "x", "--get": "x", "--list": "t", "--append": "r", "--update": "u",
		"--concatenate": "A", "--catenate": "A", "--delete": "r", "--diff": "t", "--compare": "t"}
	for _, o := range g.options {
		if letter := letters[o.name]; letter != "" {
			mode += letter
		} else if len(o.name) == 2 && strings.Contains("cxtruAd", o.name[1:]) {
			mode += o.name[1:]
		}
	}
	var archive []Word
	if w, ok := g.value("-f", "--file"); ok {
		archive = append(archive, w)
	}
	// Old style: tar cf ARCHIVE, where each letter with a value takes the next word.
	if len(g.words) > 0 && len(g.words[0].Value) > 0 && g.words[0].Value[0] != '-' {
		letters, next := g.words[0].Value, 1
		mode += letters
		for _, letter := range letters {
			if !strings.ContainsRune("fbCFgHIKLNTVX", letter) || next >= len(g.words) {
				continue
			}
			switch letter {
			case 'f':
				archive = append(archive, g.words[next])
			case 'I', 'F', 'T':
				g.runs(g.words[next].Value)
			}
			next++
		}
	}
	switch {
	case g.has("--remove-files"):
		return []use{somewhere(FromOperands)}
	case strings.Contains(mode, "x"):
		if g.has("-O", "--to-stdout") {
			return nil
		}
		return []use{somewhere(FromArchive)}
	case strings.ContainsAny(mode, "cruA"):
		return all(WritePath, archive)
	}
	return nil
}

func cpioOutputs(g *parsedArgs) []use {
	switch {
	case g.has("-t", "--list"):
		return nil
	case g.has("-i", "--extract", "-r") && !g.has("--to-stdout"), g.has("-p"):
		return []use{somewhere(FromArchive)}
	}
	if w, ok := g.value("-F", "--file", "-f"); ok {
		return []use{{verb: WritePath, word: w}}
	}
	return nil
}

func unzipOutputs(g *parsedArgs) []use {
	if g.has("-l", "-v", "-t", "-p", "-c", "-z", "-Z") {
		return nil
	}
	return []use{somewhere(FromArchive)}
}

func sevenOutputs(g *parsedArgs) []use {
	if len(g.operands) == 0 {
		return nil
	}
	switch g.operands[0].Value {
	case "x", "e":
		return []use{somewhere(FromArchive)}
	case "l", "t", "h", "i", "b":
		return nil
	}
	return all(WritePath, g.operands[1:min(2, len(g.operands))])
}

// packOutputs returns the files that a program replaces by a compressed or decompressed file
// next to them.
func packOutputs(g *parsedArgs) []use {
	if g.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test") {
		return nil
	}
	if g.has("-N", "--name") {
		return []use{somewhere(FromArchive)}
	}
	uses := all(WritePath, g.operands)
	for _, w := range g.operands {
		if ext := path.Ext(w.Value); ext != "" && !w.Glob {
			uses = append(uses, use{verb: WritePath, word: Word{Value: strings.TrimSuffix(w.Value, ext), Static: w.Static, Text: w.Text, why: w.why}})
		}
	}
	return uses
}

// named returns the use of a file in dir that is named after the last part of a URL.
func named(dir string, address Word) use {
	name, _, _ := strings.Cut(address.Value, "#")
	name, _, _ = strings.Cut(name, "?")
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	base := "index.html"
	if strings.Contains(name, "/") {
		base = path.Base(name)
	}
	if !address.Static || address.Glob || strings.ContainsAny(base, "{}[]%") {
		return somewhere(FromURL)
	}
	return use{verb: WritePath, word: plainWord(join(dir, base))}
}

func curlOutputs(g *parsedArgs) []use {
	var uses []use
	for i, w := range g.words {
		scheme, _, ok := strings.Cut(w.Value, ":")
		if !ok || strings.HasPrefix(w.Value, "-") || i > 0 && g.valueAt(i) {
			continue
		}
		if strings.Contains(w.Value, "://") && strings.ContainsAny(scheme, "{}[]") {
			g.runsWord(i) // the scheme is a pattern and may expand to file:
		}
	}
	dir, _ := g.value("--output-dir")
	for i := range g.options {
		o := &g.options[i]
		switch o.name {
		case "-o", "--output":
			if strings.Contains(o.value.Value, "#") {
				uses = append(uses, somewhere(FromFormat))
			}
			if dir.Value != "" && !path.IsAbs(o.value.Value) {
				uses = append(uses, use{verb: WritePath, word: Word{Value: join(dir.Value, o.value.Value), Static: dir.Static && o.value.Static, Text: o.value.Text}})
			}
		case "-O", "--remote-name", "--remote-name-all":
			for _, w := range g.operands {
				uses = append(uses, named(dir.Value, w))
			}
			for _, other := range g.options {
				if other.name == "--url" {
					uses = append(uses, named(dir.Value, other.value))
				}
			}
		case "-J", "--remote-header-name":
			uses = append(uses, somewhere(FromServer))
		case "-w", "--write-out":
			if strings.Contains(o.value.Value, "%output{") || strings.HasPrefix(o.value.Value, "@") {
				uses = append(uses, somewhere(FromFormat))
			}
		}
	}
	return uses
}

func wgetOutputs(g *parsedArgs) []use {
	switch {
	case g.has("--spider"):
		return nil
	case g.has("-r", "--recursive", "-m", "--mirror", "-p", "--page-requisites", "-x", "--force-directories", "-i", "--input-file",
		"--content-disposition", "--trust-server-names"):
		return []use{somewhere(FromServer)}
	case g.has("-O", "--output-document"):
		return nil
	}
	dir, _ := g.value("-P", "--directory-prefix")
	var uses []use
	for _, w := range g.operands {
		uses = append(uses, named(dir.Value, w))
	}
	return uses
}

// cloneOutputs returns the directory that a clone creates.
func cloneOutputs(g *parsedArgs) []use {
	if len(g.operands) != 1 {
		return nil
	}
	w := g.operands[0]
	address := strings.TrimSuffix(strings.TrimRight(w.Value, "/"), "/.git")
	base := address[strings.LastIndexAny(address, "/:")+1:]
	return []use{{verb: WritePath, word: Word{Value: strings.TrimSuffix(base, ".git"), Static: w.Static && !w.Glob, Text: w.Text, why: w.why}}}
}

// sshSettings are the ssh options that neither run a program nor name a file.
var sshSettings = setOf(`addressfamily batchmode ciphers clearallforwardings compression connectionattempts connecttimeout controlpersist
	escapechar exitonforwardfailure forwardagent forwardx11 gssapiauthentication hostname identitiesonly kbdinteractiveauthentication kexalgorithms
	loglevel macs numberofpasswordprompts passwordauthentication port preferredauthentications pubkeyauthentication requesttty
	serveralivecountmax serveraliveinterval stricthostkeychecking tcpkeepalive updatehostkeys user verifyhostkeydns visualhostkey`)

// sshPrograms records the ssh settings that may run or load a program locally.
func sshPrograms(g *parsedArgs) []use {
	for _, o := range g.options {
		name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(o.value.Value)), "=")
		if name, _, _ = strings.Cut(name, " "); o.name == "-o" && !sshSettings(name) {
			g.runs(o.value.Value)
		}
	}
	return nil
}

// goPrograms records the linker flags that run a program.
func goPrograms(g *parsedArgs) []use {
	for _, o := range g.options {
		if !strings.HasSuffix(o.name, "flags") {
			continue
		}
		for _, flag := range []string{"extld", "extar", "plugin", "toolexec", "importcfg", "embedcfg", "-B", "@"} {
			if strings.Contains(o.value.Value, flag) {
				g.runs(o.value.Value)
			}
		}
	}
	return nil
}

// compilerPrograms records files with further options, plugins, and a specified linker.
func compilerPrograms(g *parsedArgs) []use {
	for i, w := range g.words {
		v := w.Value
		for _, text := range []string{"linker=", "plugin", ",@", "-load", "-fuse-ld=/", "-fuse-ld=.", "--ld-path", "-fpass-plugin", "-dynamic-linker"} {
			if strings.Contains(v, text) || strings.HasPrefix(v, "@") {
				g.runsWord(i)
				break
			}
		}
	}
	return nil
}

// plusCommands records operands that are pager or editor commands: +!sh, +/text.
func plusCommands(g *parsedArgs) []use {
	for i, w := range g.words {
		if strings.HasPrefix(w.Value, "+") && strings.Trim(w.Value, "+0123456789gG") != "" {
			g.runsWord(i)
		}
	}
	return nil
}

// makePrograms records variables given to a make-like program, whose values may be commands or
// become part of one: all except numbers, versions and yes or no.
func makePrograms(g *parsedArgs) []use {
	for i, w := range g.words {
		name, value, ok := strings.Cut(w.Value, "=")
		if !ok || strings.HasPrefix(name, "-") {
			continue
		}
		if upper := strings.ToUpper(strings.TrimRight(name, ":+?!")); !plainSetting(value) || strings.Contains(upper, "SHELL") || strings.Contains(upper, "FLAGS") || strings.HasPrefix(upper, "MAKE") {
			g.runsWord(i)
		}
	}
	return nil
}

// plainSetting reports whether a variable's value is a number, a version or a switch.
func plainSetting(value string) bool {
	switch strings.ToLower(value) {
	case "", "true", "false", "yes", "no", "on", "off", "y", "n", "debug", "release", "none", "all", "auto":
		return true
	}
	value = strings.TrimPrefix(value, "v")
	return value != "" && strings.Trim(value, "0123456789.") == ""
}

// propertyPrograms records build properties that are not known to only select tests or skip
// steps.
func propertyPrograms(g *parsedArgs) []use {
	for i, w := range g.words {
		rest, ok := strings.CutPrefix(w.Value, "-D")
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(rest, "=")
		switch name {
		case "test", "it.test", "tests", "groups", "excludedGroups", "surefire.failIfNoSpecifiedTests", "surefire.useFile", "failIfNoTests", "style.color", "revision":
		default:
			if !strings.HasPrefix(name, "skip") && !strings.HasSuffix(name, ".skip") && !strings.HasSuffix(name, "skipTests") || !plainSetting(value) {
				g.runsWord(i)
			}
		}
	}
	return nil
}

// cmakePrograms records settings that make cmake run another compiler or load further scripts.
func cmakePrograms(g *parsedArgs) []use {
	for i, w := range g.words {
		v, ok := strings.CutPrefix(w.Value, "-D")
		if !ok && (i == 0 || g.words[i-1].Value != "-D") {
			continue
		}
		name, value, _ := strings.Cut(v, "=")
		name, _, _ = strings.Cut(name, ":")
		for _, part := range []string{"COMPILER", "LAUNCHER", "PROGRAM", "LINKER", "TOOLCHAIN", "INCLUDE", "MODULE_PATH", "COMMAND", "EXECUTABLE", "PREFIX_PATH", "_DIR", "_ROOT", "FLAGS", "EMULATOR"} {
			if strings.Contains(strings.ToUpper(name), part) && !plainSetting(value) {
				g.runsWord(i)
				break
			}
		}
	}
	return nil
}

// cargoPrograms records the selection of another toolchain.
func cargoPrograms(g *parsedArgs) []use {
	for i, w := range g.words {
		if w.Value == "--" {
			break
		}
		if strings.HasPrefix(w.Value, "+") {
			g.runsWord(i)
		}
	}
	return nil
}

// passedOn records the options after -- that gh passes to git.
func passedOn(g *parsedArgs) []use {
	behind := false
	for i, w := range g.words {
		if behind && strings.HasPrefix(w.Value, "-") {
			g.runsWord(i)
		}
		behind = behind || w.Value == "--"
	}
	return nil
}

// responseFiles records files with further arguments.
func responseFiles(g *parsedArgs) []use {
	for i, w := range g.words {
		if strings.HasPrefix(w.Value, "@") {
			g.runsWord(i)
		}
	}
	return nil
}

// msbuildPrograms records properties, loggers and files with further arguments.
func msbuildPrograms(g *parsedArgs) []use {
	for i, w := range g.words {
		v := strings.ToLower(w.Value)
		if v == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimLeft(v, "-/"), ":")
		if !strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "@") {
			continue
		}
		switch name, _, _ = strings.Cut(name, "="); name {
		case "p", "property", "logger", "distributedlogger", "dl", "restoreproperty", "rp", "t", "target", "noautoresponse", "additionalprobingpath", "test-adapter-path", "settings", "collect":
			g.runsWord(i)
		default:
			if v[0] == '@' {
				g.runsWord(i)
			}
		}
	}
	return responseFiles(g)
}

// zipOutputs records the program with which zip tests an archive, and returns the files that
// zip moves into it.
func zipOutputs(g *parsedArgs) []use {
	for _, w := range g.words {
		if strings.HasPrefix(w.Value, "-TT") {
			g.runs(w.Value)
		}
	}
	if g.has("-m", "--move") {
		return all(WritePath, g.operands)
	}
	return nil
}

// checkoutOutputs returns the files that git restores from a commit.
func checkoutOutputs(g *parsedArgs) []use {
	for i, w := range g.words {
		if w.Value == "--" {
			return all(WritePath, g.words[i+1:])
		}
	}
	return nil
}

// submoduleOutputs returns the directory of an added submodule.
func submoduleOutputs(g *parsedArgs) []use {
	if n := len(g.operands); n > 2 && g.operands[0].Value == "add" {
		return all(WritePath, g.operands[n-1:])
	}
	return nil
}

// syncOutputs returns the files that rsync removes.
func syncOutputs(g *parsedArgs) []use {
	for _, o := range g.options {
		if strings.HasPrefix(o.name, "--del") || o.name == "--remove-source-files" {
			return []use{somewhere(FromOperands)}
		}
	}
	return nil
}

// Mentions returns the texts in the words of p that may be paths it writes, as far as known:
// for an unknown program, its words and option values; for others, the values of unknown
// options.
func (p *Part) Mentions() []string {
	forms := p.forms()
	if len(forms) == 0 {
		return nil
	}
	words := forms[len(forms)-1].words
	if reads(words) {
		return nil
	}
	m, g := usageOf(words)
	if m != nil && m.partial {
		g = nil
	}
	known := g != nil
	if e, _ := lookup(words); !known && e != nil {
		known = e.plain
	}
	switch name := baseName(words[0].Value); {
	case g != nil && g.unknown == "" && !g.pattern && name != "git", name == "find", name == "dd", name == "chmod", name == "chown", name == "chgrp", name == "cd":
		return nil
	}
	var texts []string
	for _, w := range words[1:] {
		v := w.Value
		if _, value, ok := strings.Cut(v, "="); ok {
			texts = append(texts, value)
		}
		switch {
		case len(v) > 2 && v[0] == '-' && v[1] != '-':
			for i := 2; i < min(len(v), 6); i++ {
				texts = append(texts, v[i:])
			}
		case strings.HasPrefix(v, "-"):
		case !known:
			texts = append(texts, v)
			for _, field := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;,()<>|&{}", r) }) {
				if field != v && strings.Contains(field, "/") { // part of a program, not of a sentence
					texts = append(texts, field)
				}
			}
			for _, sep := range []string{"@", ":"} {
				if _, value, ok := strings.Cut(v, sep); ok {
					texts = append(texts, value)
				}
			}
		}
	}
	return texts
}

// A Reach is a text in a command's words that may be a path it reads or writes.
type Reach struct {
	Word Word
	Path string
}

// Reaches returns the texts in the words of p that may be paths, as far as known: its operands,
// option values not known to be something else, and text after a delimiter in them (--opt=PATH,
// @PATH, file:PATH, -IPATH). It returns none for a read-only command, whose paths are in
// [Part.Paths].
func (p *Part) Reaches() []Reach {
	forms := p.forms()
	if len(forms) == 0 {
		return nil
	}
	words := forms[len(forms)-1].words
	if n := launcher(words); n > 0 && n < len(words) {
		words = words[n:]
	}
	if reads(words) {
		return nil
	}
	m, g := usageOf(words)
	kinds := make(map[int]byte) // kinds of option values, keyed by the number of words up to them
	if m != nil {
		for _, o := range g.options {
			if o.value.Text != "" && o.kind != 'X' {
				kinds[len(words)-len(g.words)+o.end] = o.kind
			}
		}
	}
	var all []Reach
	for i, w := range words[1:] {
		kind := kinds[i+2]
		if kind == 'N' || kind == 0 && columns(words[0].Value).traits&operandsKnown != 0 {
			continue
		}
		for _, text := range pathTexts(w.Value, kind) {
			if w.Glob {
				if cut := strings.IndexAny(text, "*?["); cut >= 0 {
					text = text[:strings.LastIndexByte(text[:cut], '/')+1]
				}
			}
			if text != "" && !source(text) {
				all = append(all, Reach{w, text})
			}
		}
	}
	return all
}

// pathTexts returns the texts in a word that may be paths. Kind is the kind of the option whose
// value it is, or 0.
func pathTexts(v string, kind byte) []string {
	var texts []string
	add := func(text string) {
		if lower := strings.ToLower(text); strings.HasPrefix(lower, "file:") {
			text = text[len("file:"):]
			if rest, ok := strings.CutPrefix(text, "//"); ok {
				if _, text, ok = strings.Cut(rest, "/"); ok { // after the host
					text = "/" + text
				}
			}
			texts = append(texts, text)
			return
		}
		if strings.Contains(text, "://") {
			return
		}
		texts = append(texts, text)
	}
	if kind != 'A' && !strings.HasPrefix(v, "-") {
		add(v)
	}
	// After delimiters, text spelled like a path: absolute, relative to home, or leading up.
	if !strings.Contains(v, "://") || kind == 'A' {
		for i := 1; i < len(v); i++ {
			if strings.IndexByte("=@,;<", v[i-1]) >= 0 && (pathLike(v[i:]) || v[i-1] == '@' || v[i-1] == '<' && kind == 'A') {
				add(strings.TrimRight(firstField(v[i:], ",;"), ","))
			}
			if v[i-1] == ':' && pathLike(v[i:]) && (pathLike(v) || v[0] == '-' || strings.Contains(v[:i], "=")) {
				add(firstField(v[i:], ",;"))
			}
		}
	}
	if strings.HasPrefix(v, "@") && len(v) > 1 {
		add(v[1:])
	}
	if strings.Contains(strings.ToLower(v), "file:/") && !strings.HasPrefix(strings.ToLower(v), "file:") {
		add(v[strings.Index(strings.ToLower(v), "file:/"):])
	}
	if len(v) > 2 && v[0] == '-' && v[1] != '-' { // -I/usr/x, -C../x
		for i := 2; i < len(v); i++ {
			if pathLike(v[i:]) {
				add(v[i:])
				break
			}
		}
	}
	return texts
}

// pathLike reports whether text is spelled like a path that may lead out of a directory.
func pathLike(text string) bool {
	return strings.HasPrefix(text, "/") && len(text) > 1 || strings.HasPrefix(text, "~/") || text == ".." || strings.HasPrefix(text, "../")
}

func firstField(text, signs string) string {
	if i := strings.IndexAny(text, signs); i >= 0 {
		return text[:i]
	}
	return text
}
