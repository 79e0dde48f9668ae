package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Suspected reports whether pat, as a deny or ask rule or a hook condition, matches anything in
// the line that may run as a command, and returns the matching text. It looks through wrappers
// of any name: operands are tried as commands unless the program is known to run nothing. It
// searches substitutions, bodies, here-documents and strings passed to shells. It takes linear
// time and skips nothing, however long the line is.
func (s *Script) Suspected(pat Pattern) (text string, ok bool) {
	if whole := strings.TrimSpace(s.Source); pat.Exact() && pat.pieces[0] == whole {
		return whole, true
	}
	for _, p := range pat.spellings() {
		for _, r := range s.suspects().runs {
			if text, ok := r.match(p); ok {
				return text, true
			}
		}
	}
	return "", false
}

// Possible reports whether pat, as a deny or ask rule, may match a command that is known only
// at run time, and returns its known part. It is for patterns that are not [Script.Suspected];
// the answer should be a prompt.
func (s *Script) Possible(pat Pattern) (text string, ok bool) {
	for _, p := range pat.spellings() {
		for _, r := range s.suspects().guesses {
			if text, ok := r.may(p); ok {
				return text, true
			}
		}
	}
	return "", false
}

// Guessed returns the names of everything that [Script.Possible] tries, like [Script.Programs].
func (s *Script) Guessed() map[string]bool { return s.suspects().guessed }

// Unknown returns the reason why some of the line's programs are known only at run time, so
// that any rule might apply. It is empty if all of them are known.
func (s *Script) Unknown() string { return s.suspects().unknown }

// Sourced returns the files whose commands the line's shell executes itself.
func (s *Script) Sourced() []string { return s.suspects().files }

// SearchDirs returns the directories that the line itself adds to the program search path.
func (s *Script) SearchDirs() []string { return s.suspects().dirs }

// GitCommands returns the line's git commands that are not built into git: aliases or other
// programs.
func (s *Script) GitCommands() []string { return s.suspects().subcommands }

// Programs returns the names of everything that [Script.Suspected] tries, so that rules whose
// [Pattern.Program] is not among them can be skipped.
func (s *Script) Programs() map[string]bool { return s.suspects().programs }

// suspects are the word sequences in a line that look like commands.
type suspects struct {
	runs     []run
	programs map[string]bool
	guesses  []run // possible commands, or commands with unknown words
	guessed  map[string]bool
	unknown  string // reason the programs cannot be determined
	files    []string
	dirs     []string // directories that PATH is set to
	// subcommands are git commands that are not built in.
	subcommands []string

	vars      Vars
	budget    int      // number of bytes that may still be parsed
	steps     int      // number of words that may start a command
	sure      bool     // a shell will run the text
	documents []string // texts that are commands only if something runs them
	echoed    []string // printed words, which are commands only if something runs them
	active    bool     // some program may run its arguments

	assigned map[string][]*syntax.Word // values assigned to variables
	taken    map[string]bool           // variables with values from other sources
	used     map[string]bool           // evaluated variables
	pending  []string                  // evaluated variables that have not been checked yet
}

// A run is a sequence of words, as text, with the positions where a command may start.
type run struct {
	text   string
	starts []int // ascending
	open   bool  // unknown words may follow
}

// match tries every start. A pattern with a star matches from the earliest start that its
// beginning fits or not at all, since the star matches anything in between.
func (r run) match(pat Pattern) (string, bool) {
	last := len(pat.pieces) - 1
	switch {
	case last < 0:
		return "", false
	case last == 0:
		return r.tail(pat.exact, pat.pieces[0])
	}
	if pat.bare && last == 1 {
		if text, ok := r.tail(strings.TrimSuffix(pat.pieces[0], " ")); ok {
			return text, true
		}
	}
	for _, at := range r.starts {
		if strings.HasPrefix(r.text[at:], pat.pieces[0]) {
			return r.text[at:], pat.match(r.text[at:])
		}
	}
	return "", false
}

// tail reports whether any of texts is a command that extends to the end of the run.
func (r run) tail(texts ...string) (string, bool) {
	for _, text := range texts {
		at := len(r.text) - len(text)
		if at >= 0 && r.text[at:] == text {
			if _, ok := slices.BinarySearch(r.starts, at); ok {
				return text, true
			}
		}
	}
	return "", false
}

// may is like match for a partially known command: if it is open, more words may follow.
func (r run) may(pat Pattern) (string, bool) {
	if !r.open || len(pat.pieces) == 0 {
		return r.match(pat)
	}
	beginning := pat.pieces[0]
	if pat.Exact() {
		beginning = pat.exact
	}
	for _, at := range r.starts {
		text := r.text[at:]
		if strings.HasPrefix(beginning, text) || strings.TrimRight(text, " ") == strings.TrimRight(beginning, " ") ||
			!pat.Exact() && strings.HasPrefix(text, beginning) {
			return strings.TrimRight(text, " "), true
		}
	}
	return "", false
}

func findSuspects(s *Script) *suspects {
	f := &suspects{
		vars: s.vars, programs: make(map[string]bool), guessed: make(map[string]bool), budget: 16*len(s.Source) + 1<<16, steps: 16*len(s.Source) + 1<<12, sure: true,
	}
	if s.ChangesDir() {
		f.vars.Dir = ""
	}
	f.programs[firstWord(strings.TrimSpace(s.Source))] = true // matches a rule that quotes the whole line
	for t := s.tree; t != nil; t = t.other {
		if t.file != nil {
			f.tree(t.file, s.Source)
		}
	}
	evaluatedCode{f}.settle()
	f.sure = false
	for _, p := range s.Parts {
		if len(p.Words) > 0 && p.Words[0].Value == "time" { // a keyword, which is not in the call tree
			f.add(run{text: p.Text, starts: []int{0}})
		}
	}
	if s.Opaque || s.misread {
		f.loose(s.Source)
	}
	if s.Opaque && f.unknown == "" {
		f.unknown = s.Problem
	}
	f.searchTexts()
	return f
}

// searchTexts searches text that was not considered code so far, if anything may run it. That
// may find more.
func (f *suspects) searchTexts() {
	for f.active {
		texts := f.documents
		f.documents = nil
		if f.runsText() {
			texts = append(texts, f.echoed...)
			f.echoed = nil
		}
		if len(texts) == 0 {
			return
		}
		for _, text := range texts {
			f.script(text, false)
		}
	}
}

// runsText reports whether the line has a program that may run text as shell code.
func (f *suspects) runsText() bool {
	for name, runs := range f.programs {
		if runs && columns(name).traits&(Shell|runsText) != 0 {
			return true
		}
	}
	return false
}

// script searches text as shell code: by its syntax tree, or word by word if it does not parse.
// Sure means that a shell runs it if it runs the surrounding text.
func (f *suspects) script(text string, sure bool) {
	before := f.sure
	f.sure = before && sure
	defer func() { f.sure = before }()
	if len(text) > f.budget {
		f.loose(text)
		return
	}
	f.budget -= len(text)
	file, err := parse(Bash, text)
	if err != nil || strings.Contains(text, "#") || checkText(text).opaque {
		f.loose(text)
	}
	if err == nil {
		f.tree(file, text)
	}
}

func (f *suspects) tree(file *syntax.File, src string) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if n != nil {
			evaluatedCode{f}.evaluate(n)
		}
		return true
	})
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if call, ok := n.Cmd.(*syntax.CallExpr); ok {
				f.call(call, n.Redirs, src)
			}
		case *syntax.DeclClause:
			f.command([]Word{plainWord(n.Variant.Value)})
		case *syntax.Redirect:
			switch {
			case n.Hdoc != nil:
				f.documents = append(f.documents, between(src, n.Hdoc.Pos(), n.Hdoc.End()))
			case n.Op == syntax.WordHdoc:
				f.documents = append(f.documents, readWord(n.Word, f.vars).Value)
			}
		}
		return true
	})
}

// call adds a simple command from the tree.
func (f *suspects) call(call *syntax.CallExpr, redirects []*syntax.Redirect, src string) {
	words, split := make([]Word, 0, len(call.Args)), make([]Word, 0, len(call.Args))
	for _, w := range call.Args {
		for _, word := range f.braces(w) {
			words = append(words, word)
			if len(word.gaps) == 0 {
				split = append(split, word)
				continue
			}
			split = append(split, word.pieces()...)
		}
	}
	if len(words) == 0 {
		return
	}
	f.add(run{text: between(src, call.Args[0].Pos(), call.Args[len(call.Args)-1].End()), starts: []int{0}})
	f.command(words)
	if len(split) > len(words) {
		f.command(split)
	}
	commandPositions{f}.position(words, redirects)
	argumentCode{f}.handed(words)
	f.openWords(words)
}

// openWords guesses the commands that partially unknown words may form.
func (f *suspects) openWords(words []Word) {
	name := baseName(words[0].Value)
	if wr := columns(name).wraps; wr != nil && wr.more || name == "find" || name == "fd" {
		words = replaced(words, words[1:])
		if name == "xargs" || name == "parallel" {
			words = append(words, Word{})
		}
	}
	n := slices.IndexFunc(words, func(w Word) bool { return !w.Static })
	if n <= 0 {
		return
	}
	values := make([]string, n)
	for i, w := range words[:n] {
		values[i] = w.Value
	}
	f.open(values, runsNothing(values))
}

// open adds a guess: a command that begins with words.
func (f *suspects) open(words []string, quiet bool) {
	add := func(words []string) {
		r := newRun(append(words[:len(words):len(words)], ""), quiet)
		r.open = true
		f.guesses = append(f.guesses, r)
		f.noteGuess(r)
	}
	if len(words) == 0 {
		return
	}
	add(words)
	if short := withoutGitOptions(words, quiet); len(short) < len(words) {
		add(short)
	}
}

func (f *suspects) noteGuess(r run) {
	for _, at := range r.starts {
		word, _, _ := strings.Cut(r.text[at:], " ")
		f.guessed[baseName(word)] = true
	}
}

// guess adds possible commands in text: from each word on, with any separator.
func (f *suspects) guess(text string) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || r == '/' || r == '+' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 0x7f)
	})
	if len(words) == 0 {
		return
	}
	r := newRun(words, false)
	f.guesses = append(f.guesses, r)
	f.noteGuess(r)
}

// command adds the words of a command: as written and, if the program may run its operands,
// from each of them on.
func (f *suspects) command(words []Word) {
	values, texts := make([]string, len(words)), make([]string, len(words))
	for i, w := range words {
		values[i], texts[i] = w.Value, w.Text
	}
	texts[0] = words[0].asCommand()
	name := baseName(values[0])
	quiet := runsNothing(values)
	f.active = f.active || !quiet
	f.sequence(texts, quiet)
	if !slices.Equal(values, texts) {
		f.sequence(values, quiet)
	}
	switch {
	case name == "find" && !quiet:
		f.actions(values)
	case quiet && (name == "echo" || name == "printf"):
		f.echoed = append(f.echoed, values[1:]...)
	case !quiet:
		for _, v := range values[1:] {
			f.operand(v)
			if strings.ContainsAny(v, " \t\n=!:,\"'") {
				f.guess(v)
			}
			if len(v) > 2 && v[0] == '-' && v[1] != '-' { // -Iprogram
				f.guess(v[2:])
			}
		}
	}
}

// operand searches a word that a program may treat as shell code.
func (f *suspects) operand(v string) {
	if !strings.ContainsAny(v, " \t\n;&|<>()$`") {
		return
	}
	f.script(v, false)
	if strings.HasPrefix(v, "-") && len(v) > 2 { // -c'command', --option='command'
		if _, value, ok := strings.Cut(v, "="); ok {
			f.script(value, false)
		} else {
			f.script(v[2:], false)
		}
	}
}

// actions adds the commands that find runs, each without the words after its end.
func (f *suspects) actions(values []string) {
	for rest := values; ; {
		end := slices.Index(rest, ";")
		if end < 0 {
			break
		}
		if end > 0 {
			f.sequence(rest[:end], false)
		}
		rest = rest[end+1:]
	}
	for _, v := range values[1:] {
		f.operand(v)
	}
}

// sequence adds the words as a run, also without git's global options.
func (f *suspects) sequence(words []string, quiet bool) {
	f.add(newRun(words, quiet))
	if short := withoutGitOptions(words, quiet); len(short) < len(words) {
		f.add(newRun(short, quiet))
	}
	if sub, ok := strings.CutPrefix(baseName(words[0]), "git-"); ok { // git-push is git push
		f.add(newRun(append([]string{"git", sub}, words[1:]...), quiet))
	}
}

func (f *suspects) add(r run) {
	f.runs = append(f.runs, r)
	for _, at := range r.starts {
		word, _, _ := strings.Cut(r.text[at:], " ")
		f.programs[baseName(word)] = true
	}
}

// newRun joins words. Commands start at the first word or at every word, and at the base name
// of a program given by path.
func newRun(words []string, first bool) run {
	r := run{text: strings.Join(words, " ")}
	at := 0
	for i, w := range words {
		if i == 0 || !first {
			r.starts = append(r.starts, at)
			if base := len(w) - len(baseName(w)); base > 0 {
				r.starts = append(r.starts, at+base)
			}
		}
		at += len(w) + 1
	}
	return r
}

// withoutGitOptions returns words without the options between git and its sub-command.
func withoutGitOptions(words []string, first bool) []string {
	var short []string
	for i := 0; i < len(words); i++ {
		short = append(short, words[i])
		if baseName(words[i]) == "git" && (i == 0 || !first) {
			i += gitGlobals(words[i+1:])
		}
	}
	return short
}

// gitGlobals returns the number of words after git that are global options.
func gitGlobals(words []string) int {
	n := 0
	for n < len(words) && strings.HasPrefix(words[n], "-") {
		switch words[n] {
		case "-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix", "--attr-source":
			n++
		}
		n++
	}
	return min(n, len(words))
}
