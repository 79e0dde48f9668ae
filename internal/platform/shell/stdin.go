package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A feed is the source of a command's standard input.
type feed uint8

const (
	unfed   feed = iota // the line's own input, which is empty
	spelled             // text or a file named in the line
	piped               // another command's output
)

// A fedSpan is a source range whose commands have an input: from a redirection, or from a
// statement's output.
type fedSpan struct {
	from, to int
	redirect *syntax.Redirect
	printer  *syntax.Stmt
}

func (s *fedSpan) feed() feed {
	switch {
	case s.redirect != nil:
		return feedOf(s.redirect)
	case printsText(s.printer):
		return spelled
	}
	return piped
}

// feeds records the commands that get an input at n.
func (r *reader) feeds(n syntax.Node) {
	add := func(n syntax.Node, s fedSpan) {
		s.from, s.to = int(n.Pos().Offset()), int(n.End().Offset())
		r.script.fed = append(r.script.fed, s)
	}
	switch n := n.(type) {
	case *syntax.Stmt:
		for _, rd := range n.Redirs {
			switch rd.Op {
			case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
				add(n, fedSpan{redirect: rd})
			}
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			add(n.Y, fedSpan{printer: n.X})
		}
	}
}

// feedOf returns the feed of a redirection. Descriptors other than 0 count as well: an operand
// such as /dev/fd/3 may name them.
func feedOf(rd *syntax.Redirect) feed {
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if _, ok := literalText(rd.Hdoc); !ok {
			return piped
		}
		return spelled
	}
	if !readWord(rd.Word, Vars{Home: "/", Dir: "/", User: "u", Temp: "/"}).Static {
		return piped
	}
	return spelled
}

// printsText reports whether a statement prints only literal text.
func printsText(st *syntax.Stmt) bool {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	if name != "echo" && name != "printf" && name != "cat" {
		return false
	}
	for _, w := range call.Args {
		if word := readWord(w, Vars{}); !word.Static || word.Glob {
			return false
		}
	}
	if name != "cat" {
		return true
	}
	return len(call.Args) == 1 && len(st.Redirs) == 1 && (st.Redirs[0].Hdoc != nil || st.Redirs[0].Op == syntax.WordHdoc) && feedOf(st.Redirs[0]) == spelled
}

// feed returns the source of the input of p.
func (p *Part) feed() feed {
	got := unfed
	for i := range p.script.fed {
		// Function calls are not tracked.
		if p.script.funcs != nil {
			return piped
		}
		if s := &p.script.fed[i]; s.from <= p.at && p.at < s.to {
			got = max(got, s.feed())
		}
	}
	return got
}

// runsInput reports whether p may execute its standard input: it has one, and is not known to
// treat it as data.
func (p *Part) runsInput() bool {
	return len(p.Words) > 0 && len(p.script.fed) > 0 && p.feed() != unfed && !takesData(p.Words)
}

// takesData reports whether a command is known to treat its input as data: its words spell out
// its program, or it runs none.
func takesData(words []Word) bool {
	for n := wrapped(words); n > 0 && n < len(words); n = wrapped(words) {
		words = words[n:]
	}
	if !words[0].Static {
		return false
	}
	name := baseName(words[0].Value)
	if code, known := codeGiven(name, words); known {
		return code
	}
	if reads(words) {
		return true
	}
	if m, g := usageOf(words); m != nil {
		for _, o := range g.options {
			if v := o.value.Value; o.kind == 'X' && (v == "-" || readsInput(v)) {
				return false
			}
		}
	}
	switch {
	case strings.Contains(words[0].Value, "/"):
		return !opensPrompt(words[1:])
	case name == "git":
		return !slices.ContainsFunc(words, func(w Word) bool { return w.Value == "apply" || w.Value == "am" || w.Value == "fast-import" })
	case name == "sed" || name == "gsed":
		script, _, ok := sedScript(manualOf("sed").parse("sed", words[1:]))
		return ok && !sedRuns(script)
	case name == "find":
		return false // unproven
	}
	return Is(name, TakesData|Quiet)
}

// codeGiven reports whether the words of an interpreter name its program, as text or as a file,
// and whether name is an interpreter at all. Unlisted options may have values, so nothing is
// known after them.
func codeGiven(name string, words []Word) (given, known bool) {
	p := columns(strings.TrimRight(name, "0123456789."))
	switch {
	case p.traits&isAwk != 0:
		g := manualOf("awk").parse("awk", words[1:])
		programs, _ := awkPrograms(g)
		return len(programs) > 0 && g.unknown == "" && !slices.ContainsFunc(programs, func(w Word) bool { return !w.Static || awkRuns(w.Value) }), true
	case p.traits&readsCode != 0:
		return false, true
	case p.inline == "":
		return false, false
	}
	inline, alone := strings.Fields(p.inline), strings.Fields(p.alone)
	for i, w := range words[1:] {
		v := w.Value
		switch {
		case !w.Static || w.Glob:
			return false, true
		case slices.Contains(inline, v):
			return i+2 < len(words) && words[i+2].Static && !opensPrompt(words[i+2:]), true
		case slices.Contains(alone, v):
		case strings.HasPrefix(v, "-") || strings.HasPrefix(v, "+") || v == "" || readsInput(v):
			return false, true
		default:
			return !opensPrompt(words[i+2:]), true
		}
	}
	return false, true
}

// opensPrompt reports whether a word makes a program start its interactive prompt, or read code
// from its input.
func opensPrompt(words []Word) bool {
	return slices.ContainsFunc(words, func(w Word) bool {
		switch w.Value {
		case "-", "-i", "-s", "shell", "console", "repl", "dbshell", "--interactive", "--stdin", "code", "pdb", "asyncio":
			return true
		}
		return !w.Static || readsInput(w.Value)
	})
}

// unspelled reports whether the line may run code that it does not spell out: an interpreter's
// input or argument comes from another command.
func (s *Script) unspelled() bool {
	if s.Simple && len(s.fed) == 0 {
		return false
	}
	if s.Unknown() != "" {
		return true
	}
	for _, p := range s.Parts {
		if len(p.Words) == 0 {
			continue
		}
		texts := values(p.Words)
		quiet := runsNothing(texts)
		if !quiet && slices.ContainsFunc(p.Words, func(w Word) bool { return w.substs || w.pipe }) {
			return true
		}
		if p.feed() != piped || !p.runsInput() {
			continue
		}
		if n, err := skipXargs(p.Words); baseName(p.Words[0].Value) == "xargs" && err == nil && n < len(p.Words) && runsNothing(texts[n:]) {
			continue
		}
		return true
	}
	return false
}
