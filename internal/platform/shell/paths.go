package shell

import (
	"path"
	"slices"
	"strings"
)

// A Verb is an operation on a path.
type Verb uint8

// Verbs. Zero means no operation.
const (
	ReadPath Verb = iota + 1
	WritePath
	RemovePath
	EnterPath // the shell changes to the directory
)

// A PathUse is a path given to a command.
type PathUse struct {
	Part *Part
	Verb Verb
	// Path is as given. For a word with wildcards it is the directory before the first of them,
	// which may be empty, and Glob is the whole word.
	Path, Glob string
	// Dir is the base of a relative path: empty for the line's initial directory, otherwise the
	// directory that cd changed to, which may itself be relative to the initial one.
	Dir string
	// Known is true if Path and Dir are certain. If not, any path may be meant; Unknown says why.
	Known    bool
	Unknown  Unknown
	Redirect bool
	// Output is true if the path is written because of an option, an operand or a script of the
	// program, and Guess if that is inferred only from the option's name. Other files that the
	// program touches are then unknown.
	Output, Guess bool
	// Transfer describes the files put at the path, or in the directory there, or is nil.
	Transfer *Transfer
}

// Paths returns the paths that known commands read, write and remove, and the paths of
// redirections. A path that depends on an uncertain cd is included once for each possibility.
func (s *Script) Paths() []PathUse {
	var uses []PathUse
	for _, p := range s.Parts {
		uses = append(uses, p.Paths()...)
	}
	return uses
}

// Paths is like [Script.Paths] for one part.
func (p *Part) Paths() []PathUse {
	var uses []PathUse
	add := func(use PathUse, w Word, dirs []string) {
		if w.pipe || w.Static && (use.Verb == ReadPath && source(w.Value) || use.Verb == WritePath && p.script.drain(w.Value)) {
			return
		}
		use.Part, use.Path, use.Known = p, w.Value, w.Static && (dirs != nil || path.IsAbs(w.Value))
		if use.Unknown == 0 && !use.Known {
			use.Unknown = FromExpansion
			if w.Static {
				use.Unknown = FromDir
			}
		}
		if len(w.holes) > 0 {
			use.Path = w.told
		}
		if w.Glob {
			use.Glob = w.Value
			use.Path = w.Value[:strings.LastIndexByte(w.Value[:strings.IndexAny(w.Value, "*?[")], '/')+1]
		}
		if !use.Known || path.IsAbs(w.Value) {
			uses = append(uses, use)
			return
		}
		for _, dir := range dirs {
			use.Dir = dir
			uses = append(uses, use)
		}
	}
	for _, r := range p.Redirects {
		if r.Verb != 0 {
			add(PathUse{Verb: r.Verb, Redirect: true}, r.Target, r.dirs)
		}
	}
	for _, w := range p.reads {
		add(PathUse{Verb: ReadPath}, w, p.dirs)
	}
	if len(p.Words) > 0 {
		p.operandUses(filled(p.Words), func(use PathUse, w Word) { add(use, w, p.dirs) })
	}
	return uses
}

// Dirs returns the directories the part may run in, relative to the line's initial directory,
// which is empty; nil means unknown.
func (p *Part) Dirs() []string { return p.dirs }

// operandUses calls add with the paths among the words of a command and of the commands that it
// runs.
func (p *Part) operandUses(words []Word, add func(PathUse, Word)) {
	given, transfer := operandsOf(words), placedBy(words)
	for _, u := range given {
		use := PathUse{Verb: u.verb}
		if u.verb == WritePath {
			use.Transfer = transfer
		}
		add(use, u.word)
	}
	inner, more := innerCommands(words)
	var outputs []use
	var guess bool
	if name := baseName(words[0].Value); len(inner) == 0 || name == "time" || name == "find" || !Is(name, wrapperProved) { // other commands that run one write nothing
		outputs, guess = outputsOf(words)
	}
	for _, u := range outputs {
		if !slices.ContainsFunc(given, func(o use) bool { return u.unknown == 0 && o.verb == u.verb && o.word.Value == u.word.Value }) {
			add(PathUse{Verb: u.verb, Output: true, Guess: guess, Unknown: u.unknown}, u.word)
		}
	}
	// A pattern reads its directory, regardless of how the names are used.
	if e, _ := lookup(words); e != nil {
		for _, w := range words[1:] {
			if w.Glob && !strings.HasPrefix(w.Value, "-") && !slices.ContainsFunc(given, func(u use) bool { return u.word.Value == w.Value }) {
				add(PathUse{Verb: ReadPath}, w)
			}
		}
	}
	for _, command := range inner {
		p.operandUses(command, add)
	}
	switch {
	case more:
		add(PathUse{Verb: ReadPath, Unknown: FromInput}, Word{holes: []int{0}})
	case vague(words):
		add(PathUse{Verb: ReadPath}, Word{holes: []int{0}})
	}
	if baseName(words[0].Value) == "xargs" && !onlyRead(inner) {
		add(PathUse{Verb: WritePath, Output: true, Unknown: FromInput}, Word{})
	}
}

// vague reports whether an expansion among the words may name a file although no operand is
// one: it may expand to an option or to several words, or be part of a program.
func vague(words []Word) bool {
	e, _ := lookup(words)
	if e == nil || e.operands == texts || e.operands == none || e.needs&builtin != 0 {
		return false
	}
	return slices.ContainsFunc(words[1:], func(w Word) bool {
		return !w.pipe && len(w.holes) > 0 && (len(w.gaps) > 0 || w.holes[0] == 0 || w.Value[0] == '-' || e.operands == script || e.operands == anything)
	})
}

type use struct {
	verb    Verb
	word    Word
	unknown Unknown // the source of its name if word says nothing about it
}

// operandsOf returns a command's operands that are paths. For an unknown option only the option
// itself is skipped, so that at worst its value is taken for a path.
func operandsOf(words []Word) []use {
	name, args := baseName(words[0].Value), words[1:]
	switch name {
	case "cd", "pushd":
		uses := all(EnterPath, plainOperands(args, ""))
		for i := range uses {
			uses[i].word.Static = uses[i].word.Static && uses[i].word.Value != "-"
		}
		return uses
	case "rm", "rmdir", "unlink", "shred":
		return all(RemovePath, manualOf(name).parse(name, args).operands)
	case "mkdir", "touch", "tee", "truncate":
		g := manualOf(name).parse(name, args)
		return append(all(ReadPath, g.of("R")), all(WritePath, g.operands)...)
	case "chmod", "chown", "chgrp":
		return modeUses(args)
	case "mv", "cp", "ln", "install", "rsync", "scp":
		return copies(words)
	case "dd":
		return ddPaths(args)
	case "find":
		return findUses(args)
	case "awk", "gawk", "mawk":
		return all(ReadPath, awkFiles(args))
	case "sed":
		return sedUses(args)
	case "git":
		return gitUses(args)
	case "test", "[":
		return testPaths(args)
	case "tar", "bsdtar", "gtar", "7z", "7za", "7zr", "jar", "ar", "llvm-ar", "bash", "sh", "dash", "node", "php":
		return archiveUses(words)
	}
	e, rest := lookup(words)
	if e == nil {
		e, rest = find(name), args
	}
	if e == nil {
		return nil
	}
	g := e.parse(name, rest)
	proven := e.unproven(g) == ""
	if !proven { // the option may have another value
		g.operands = plainOperands(rest, "")
	}
	uses := all(ReadPath, e.readFiles(g))
	if proven && e.operands == onePath && len(g.operands) > 1 {
		uses[len(uses)-1].verb = WritePath
	}
	return uses
}

func all(verb Verb, words []Word) []use {
	uses := make([]use, len(words))
	for i, w := range words {
		uses[i] = use{verb: verb, word: w}
	}
	return uses
}

// plainOperands returns the words that are neither options nor values of the options in valued.
func plainOperands(words []Word, valued string) []Word {
	var ops []Word
	takes := strings.Fields(valued)
next:
	for i := 0; i < len(words); i++ {
		v := words[i].Value
		if v == "--" {
			return append(ops, words[i+1:]...)
		}
		if len(v) < 2 || v[0] != '-' || !words[i].Static {
			ops = append(ops, words[i])
			continue
		}
		for _, option := range takes {
			if v == option {
				i++
				continue next
			}
		}
	}
	return ops
}

// modeUses returns the files that chmod and similar commands change: all operands but the mode,
// which may look like an option.
func modeUses(words []Word) []use {
	given := false
	var uses []use
	for i, w := range words {
		v := w.Value
		switch {
		case v == "--":
			rest := words[i+1:]
			if !given && len(rest) > 0 {
				rest = rest[1:]
			}
			return append(uses, all(WritePath, rest)...)
		case strings.HasPrefix(v, "--ref"):
			given = true // the mode is copied from another file
		case strings.HasPrefix(v, "--"):
		case len(v) > 1 && v[0] == '-':
			given = given || strings.Trim(v[1:], "rwxXstugo,+=-") == ""
		case !given:
			given = true
		default:
			uses = append(uses, use{verb: WritePath, word: w})
		}
	}
	return uses
}

func ddPaths(words []Word) []use {
	var uses []use
	for _, w := range words {
		name, value, _ := strings.Cut(w.Value, "=")
		target := Word{Value: value, Static: w.Static, Text: quote(value)}
		switch name {
		case "if":
			uses = append(uses, use{verb: ReadPath, word: target})
		case "of":
			uses = append(uses, use{verb: WritePath, word: target})
		}
	}
	return uses
}

func findUses(words []Word) []use {
	if rest, inner, err := findCommands(words); err == nil && len(inner) > 0 && onlyRead(inner) {
		words = rest
	}
	roots, expression := findPaths(words)
	verb := ReadPath
	switch findAction(expression) {
	case "":
	case "-delete":
		verb = RemovePath
	default:
		verb = WritePath
	}
	uses := all(verb, roots)
	if len(roots) == 0 && verb != ReadPath {
		uses = append(uses, use{verb: verb, word: plainWord(".")})
	}
	for i, w := range expression {
		if i+1 == len(expression) {
			break
		}
		switch w.Value {
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			uses = append(uses, use{verb: WritePath, word: expression[i+1]})
		case "-newer", "-anewer", "-cnewer", "-samefile":
			uses = append(uses, use{verb: ReadPath, word: expression[i+1]})
		}
	}
	return uses
}

func sedUses(words []Word) []use {
	e := find("sed")
	if g := e.parse("sed", words); e.accept(g) == nil {
		if !g.has("-e", "--expression") && len(g.operands) > 0 {
			g.operands = g.operands[1:]
		}
		return all(ReadPath, g.operands)
	}
	ops, verb, given := plainOperands(words, "-e -f --expression --file"), ReadPath, false
	for _, w := range words {
		switch {
		case sedInPlace(w.Value):
			verb = WritePath
		case w.Value == "-e", w.Value == "-f", strings.HasPrefix(w.Value, "--expression"), strings.HasPrefix(w.Value, "--file"):
			given = true
		}
	}
	if !given && len(ops) > 0 {
		ops = ops[1:]
	}
	return all(verb, ops)
}

// sedInPlace reports whether a sed option enables in-place editing, alone or joined with others
// as in -ni.
func sedInPlace(option string) bool {
	if strings.HasPrefix(option, "--i") { // any abbreviation
		return true
	}
	return strings.HasPrefix(option, "-") && strings.HasPrefix(strings.TrimLeft(option[1:], "nErsuzb"), "i")
}

// gitUses returns git's operands. A revision looks like a relative path and is harmless as one.
func gitUses(words []Word) []use {
	values := make([]string, len(words))
	for i, w := range words {
		values[i] = w.Value
	}
	n := gitGlobals(values)
	var uses []use
	for i, w := range words[:n] {
		if (w.Value == "-C" || w.Value == "--git-dir" || w.Value == "--work-tree") && i+1 < len(words) {
			uses = append(uses, use{verb: EnterPath, word: words[i+1]})
		}
	}
	for _, w := range gitPathValues(words) {
		uses = append(uses, use{verb: ReadPath, word: w})
	}
	words = words[n:]
	if len(words) == 0 {
		return uses
	}
	sub := words[0].Value
	switch sub {
	case "diff", "show", "log", "blame", "ls-files", "ls-tree", "cat-file", "status", "grep", "add", "mv", "rm", "restore", "checkout", "clean":
	default:
		return uses
	}
	for _, w := range plainOperands(words[1:], "-m -n -S -G -L --since --until --author --grep --format") {
		verb := ReadPath
		if sub == "rm" || sub == "mv" || sub == "clean" {
			verb = RemovePath
		}
		if _, file, ok := strings.Cut(w.Value, ":"); ok && file != "" && w.Static {
			w = plainWord(file) // a file in a revision
		}
		uses = append(uses, use{verb: verb, word: w})
	}
	return uses
}

// testPaths returns the files that test checks.
func testPaths(words []Word) []use {
	var uses []use
	for i, w := range words {
		if i+1 == len(words) {
			break
		}
		switch {
		case len(w.Value) == 2 && w.Value[0] == '-' && strings.IndexByte("abcdefghkprstuwxGLNOS", w.Value[1]) >= 0:
			uses = append(uses, use{verb: ReadPath, word: words[i+1]})
		case i > 0 && (w.Value == "-nt" || w.Value == "-ot" || w.Value == "-ef"):
			uses = append(uses, use{verb: ReadPath, word: words[i-1]}, use{verb: ReadPath, word: words[i+1]})
		}
	}
	return uses
}
