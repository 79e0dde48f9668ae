package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// doubt records the reason why the line's programs cannot be determined. Text that is searched
// only because something might run it is not a reason.
func (f *suspects) doubt(why string) {
	if f.sure && f.unknown == "" {
		f.unknown = why
	}
}

// commandPositions finds the positions of commands, and whether the commands can be determined.
type commandPositions struct{ *suspects }

// position inspects the command positions in words: the first word, and the word after each
// program that is known to run the rest.
func (f commandPositions) position(words []Word, redirects []*syntax.Redirect) {
	for fed := ""; len(words) > 0; {
		if f.steps -= len(words); f.steps < 0 {
			f.doubt("it wraps commands too often to be looked through")
			return
		}
		w := words[0]
		switch {
		case !w.Static:
			f.doubt("it runs " + w.stands())
			return
		case w.Glob:
			f.doubt("the pattern " + w.Value + " stands for a program")
			return
		}
		name := baseName(w.Value)
		if Is(name, Shell) {
			f.shell(words, redirects)
			return
		}
		switch name {
		case "eval":
			f.evals(words[1:])
			return
		case ".", "source":
			f.sources(words[1:])
			return
		case "trap":
			f.code(words[1:], "a trap")
			return
		case "enable":
			if slices.ContainsFunc(words[1:], func(w Word) bool { return strings.HasPrefix(w.Value, "-f") }) {
				f.doubt("it loads commands from a file")
			}
			return
		case "su", "runuser", "script":
			if len(redirects) > 0 && !slices.ContainsFunc(words, func(w Word) bool { return strings.HasPrefix(w.Value, "-") && strings.Contains(w.Value, "c") }) {
				f.input(redirects)
			}
		case "env":
			for _, w := range words[1:] { // -iS'rm x'
				if v := w.Value; len(v) > 2 && v[0] == '-' && v[1] != '-' && v[1] != 'S' && strings.Contains(v, "S") {
					f.code([]Word{{Value: v[strings.IndexByte(v, 'S')+1:], Static: w.Static}}, "env")
				}
			}
		case "find", "fd", "fdfind":
			f.finds(words)
			return
		}
		p := columns(name)
		if p.code != "" {
			f.optionCode(words[1:], strings.Fields(p.code)...)
		}
		wr := p.wraps
		if wr == nil {
			return
		}
		n, odd := wr.command(words)
		own := words[1:min(n, len(words))]
		for _, w := range own {
			if f.splits(w) {
				f.doubt("before the program that " + name + " runs stands " + w.stands())
			}
			if variable, value, ok := strings.Cut(w.Value, "="); ok && wr.assigns {
				evaluatedCode(f).variable(variable, Word{Value: value, Static: w.Static})
			}
		}
		if wr.more {
			words = replaced(words, own)
		}
		switch {
		case n >= len(words):
			if name == "sudo" && slices.ContainsFunc(own, func(w Word) bool {
				return w.Value == "-s" || w.Value == "-i" || w.Value == "--shell" || w.Value == "--login"
			}) {
				f.input(redirects)
			}
			if name == "parallel" || fed != "" && name != "xargs" {
				f.doubt("what " + name + " runs comes from elsewhere")
			}
			return
		case odd && n+1 < len(words) && !words[n+1].Static: // the previous word may be an option's value
			f.doubt("it runs " + words[n+1].stands())
		case name == "watch" || name == "ssh":
			f.evals(words[n:])
			return
		case name == "parallel" && strings.HasPrefix(words[n].Value, ":::"):
			if strings.HasPrefix(words[n].Value, "::::") || slices.ContainsFunc(words[n:], func(w Word) bool { return !w.Static }) {
				f.doubt("parallel's commands are known only at run time")
			}
			return
		case wr.more:
			fed = name
		}
		words, redirects = words[n:], nil
	}
}

// finds inspects each command that find runs.
func (f commandPositions) finds(words []Word) {
	for _, w := range words[1:] {
		if f.splits(w) {
			f.doubt("find may be told to run something by " + w.stands())
		}
	}
	words = replaced(words, words[1:])
	for i := 1; i < len(words); i++ {
		if !isRunAction(words[i].Value) {
			continue
		}
		run := words[i+1:]
		if end := slices.IndexFunc(run, func(w Word) bool { return w.Value == ";" || w.Value == "+" }); end >= 0 {
			run = run[:end]
		}
		f.position(run, nil)
		i += len(run)
	}
}

// splits reports whether a word may expand to several words with a different meaning, because
// its value is produced by the line itself.
func (f commandPositions) splits(w Word) bool {
	return len(w.gaps) > 0 && (w.substs || slices.ContainsFunc(w.unset, func(name string) bool { return f.assigned[name] != nil || f.taken[name] }))
}

// stands describes the possible value of a word that is not static.
func (w *Word) stands() string {
	if w.Value == "" {
		return "code that is known only at run time"
	}
	return "a word that is known only in part (" + w.Value + ")"
}

// shell inspects the code that a shell runs: a string, a file, or its input.
func (f commandPositions) shell(words []Word, redirects []*syntax.Redirect) {
	takesString, stdin := false, false
	for i := 1; i < len(words); i++ {
		w := words[i]
		v := w.Value
		if !w.Static && (takesString || len(w.gaps) > 0) {
			f.doubt("a shell runs " + w.stands())
			return
		}
		switch {
		case w.Static && v == "--version" || v == "--help":
			return
		case w.Static && (v == "--rcfile" || v == "--init-file"):
			f.doubt("a shell reads a file first")
			return
		case w.Static && (v == "-" || v == "--"):
			continue
		case w.Static && len(v) > 1 && (v[0] == '-' || v[0] == '+'):
			if v[1] == '-' {
				continue
			}
			takesString = takesString || v[0] == '-' && strings.Contains(v, "c")
			stdin = stdin || v[0] == '-' && strings.Contains(v, "s")
			if strings.HasSuffix(v, "o") || strings.HasSuffix(v, "O") {
				i++
			}
			if c := strings.IndexByte(v, 'c'); c > 0 && strings.ContainsAny(v, " \t\n;") { // -c'rm x', which some shells accept
				f.script(v[c+1:], true)
				return
			}
			continue
		case takesString:
			f.script(v, true)
			return
		case stdin:
		case w.Static && readsInput(v):
			stdin = true
		case !w.Static && slices.ContainsFunc(words[i+1:], func(w Word) bool { return !w.Static }):
			f.doubt("a shell runs " + w.stands()) // one word may be -c, the next the code
			return
		default:
			return // a file is a program like any other
		}
	}
	if takesString && !stdin {
		f.doubt("what a shell runs comes from elsewhere")
		return
	}
	f.input(redirects)
}

// readsInput reports whether a file name refers to the command's standard input.
func readsInput(name string) bool {
	return name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/")
}

// input inspects the input that a shell executes.
func (f commandPositions) input(redirects []*syntax.Redirect) {
	for _, r := range redirects {
		switch {
		case r.Hdoc != nil:
			if text, ok := literalText(r.Hdoc); ok {
				f.script(text, true)
				return
			}
		case r.Op == syntax.WordHdoc:
			if w := readWord(r.Word, f.vars); w.Static {
				f.script(w.Value, true)
				return
			}
		}
	}
	f.doubt("a shell runs what it reads")
}

// evals inspects the words that eval joins to a line.
func (f commandPositions) evals(words []Word) {
	var values []string
	for _, w := range words {
		if !w.Static {
			f.doubt("eval runs " + w.stands())
			return
		}
		values = append(values, w.Value)
	}
	f.script(strings.Join(values, " "), true)
}

// sources records a file whose commands the shell executes itself.
func (f commandPositions) sources(words []Word) {
	if len(words) > 0 && words[0].Value == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	w := words[0]
	if !w.Static || w.Glob || readsInput(w.Value) || !strings.Contains(w.Value, "/") {
		f.doubt("it runs the commands in a file that is known only at run time")
		return
	}
	if f.sure {
		f.files = append(f.files, path.Clean(w.Value))
	}
}

// code inspects the first word that is not an option, which is executed as shell code.
func (f commandPositions) code(words []Word, what string) {
	for _, w := range words {
		switch {
		case !w.Static:
			f.doubt(what + " runs " + w.stands())
			return
		case !strings.HasPrefix(w.Value, "-"):
			f.script(w.Value, true)
			return
		}
	}
}

// optionCode inspects the value of an option that is executed as shell code.
func (f commandPositions) optionCode(words []Word, options ...string) {
	for i, w := range words {
		if v := w.Value; options[0] == "-c" && len(v) > 2 && v[0] == '-' && v[1] != '-' && strings.HasSuffix(v, "c") && i+1 < len(words) { // -qc
			f.code(words[i+1:i+2], "it")
		}
		for _, option := range options {
			switch value, ok := strings.CutPrefix(w.Value, option); {
			case w.Value == option && i+1 < len(words):
				f.code(words[i+1:i+2], "it")
			case ok && (value == "" || value[0] == '=' || len(option) == 2):
				f.code([]Word{{Value: strings.TrimPrefix(value, "="), Static: w.Static}}, "it")
			}
		}
	}
}

// command returns the index in words of the command that the wrapper runs, or len(words) if it
// runs none, and whether an unknown option precedes it.
func (wr wrapper) command(words []Word) (n int, odd bool) {
	skip := wr.skip
	for n = 1; n < len(words); n++ {
		v := words[n].Value
		name, _, glued := strings.Cut(v, "=")
		switch {
		case v == "--" && words[n].Static:
			return n + 1 + skip, odd
		case len(v) > 1 && v[0] == '-':
			if slices.Contains(strings.Fields(wr.valued), v) {
				n++
			} else if len(v) > 2 && !glued || glued && !slices.Contains(strings.Fields(wr.valued), name) {
				odd = odd || v[1] == '-' && !glued
			}
		case wr.assigns && glued && assignable(name):
		case skip > 0:
			skip--
		default:
			return n, odd
		}
	}
	return n, odd
}

// isRunAction reports whether a word makes find or fd run the command after it.
func isRunAction(word string) bool {
	switch word {
	case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch":
		return true
	}
	return false
}

// replaced returns words with the ones in which a wrapper with these options substitutes text
// marked as not static.
func replaced(words, options []Word) []Word {
	marks := []string{"{}"}
	for i, option := range options {
		mark := ""
		switch v := option.Value; {
		case v == "-I" && i+1 < len(options):
			mark = options[i+1].Value
		case strings.HasPrefix(v, "-I"), strings.HasPrefix(v, "-i"):
			mark = v[2:]
		case strings.HasPrefix(v, "--replace="), strings.HasPrefix(v, "--repl="):
			_, mark, _ = strings.Cut(v, "=")
		}
		if mark != "" {
			marks = append(marks, mark)
		}
	}
	words = slices.Clone(words)
	for i := range words {
		v := words[i].Value
		if i > 0 && slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(v, mark) }) ||
			baseName(words[0].Value) == "parallel" && strings.Contains(v, "{") {
			words[i].Static = false
		}
	}
	return words
}
