package shell

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A reader walks the tree of a script. It collects the parts with the directories they may run
// in, and the first construct that keeps the line from being simple.
type reader struct {
	script  *Script
	parts   []*Part
	problem string
	nodes   int
	depth   int
	pending []Redirect // redirections of the group whose first command comes next
	timed   []Word     // "time" before the next command
}

func newReader(s *Script) *reader { return &reader{script: s} }

func (r *reader) file(f *syntax.File) {
	bare := []byte(r.script.Source) // source with literal text blanked
	syntax.Walk(f, func(n syntax.Node) bool {
		if n == nil {
			r.depth--
			return false
		}
		if r.depth++; r.depth > maxDepth {
			r.refuse("it nests too deep")
		}
		if r.nodes++; r.nodes > maxNodes {
			r.refuse("it is too long to be understood")
		}
		if r.script.doubt == "" {
			r.script.doubt = r.structure(n)
		}
		r.feeds(n)
		switch n := n.(type) {
		case *syntax.Comment:
			if oddComment(r.script.Source, int(n.Hash.Offset())) {
				r.script.misread = true
				r.refuse("it has a comment where bash may see none")
			}
		case *syntax.SglQuoted:
			blank(bare, n.Left, n.Right)
		case *syntax.Redirect:
			if n.Hdoc != nil {
				blank(bare, n.Hdoc.Pos(), n.Hdoc.End())
			}
		}
		return true
	})
	if brokenToken(bare) {
		r.script.misread = true
		r.refuse("it breaks a line inside a word")
	}
	r.stmts(f.Stmts, []string{""})
	if len(r.parts) > maxParts {
		r.refuse("it is made of more than 50 commands")
	}
	if len(r.parts) == 0 {
		r.blame("it holds no command")
	}
}

// blank overwrites src between two positions.
func blank(src []byte, from, to syntax.Pos) {
	for i := int(from.Offset()); i < min(int(to.Offset()), len(src)); i++ {
		src[i] = ' '
	}
}

// brokenToken reports whether a line continuation directly follows something. Bash then
// continues the word or operator; the parser does not always.
func brokenToken(src []byte) bool {
	for {
		i := bytes.Index(src, []byte("\\\n"))
		if i < 0 {
			return false
		}
		if i > 0 && src[i-1] != ' ' && src[i-1] != '\t' && src[i-1] != '\n' {
			return true
		}
		src = src[i+2:]
	}
}

// oddComment reports whether bash and the parser may disagree about the comment at hash. In
// bash a comment starts only where a word could, and always ends with its line; the parser also
// accepts a # right after a quote or an expansion, and lets a backslash continue the comment.
func oddComment(src string, hash int) bool {
	if hash > 0 && strings.IndexByte(" \t\n;&|()", src[hash-1]) < 0 {
		return true
	}
	if hash > 1 && src[hash-2] == '\\' {
		return true
	}
	line, _, _ := strings.Cut(src[hash:], "\n")
	return strings.HasSuffix(line, `\`)
}

func (r *reader) blame(why string) {
	if r.problem == "" {
		r.problem = why
	}
}

// refuse is like blame, and also makes the line unfit for a jail.
func (r *reader) refuse(why string) {
	r.blame(why)
	if r.script.doubt == "" {
		r.script.doubt = why
	}
}

func (r *reader) stmts(list []*syntax.Stmt, dirs []string) outcome {
	out := outcome{dirs, nil}
	first := true
	for _, st := range list {
		if r.problem != "" {
			break // the tree may have any depth; see everyPart
		}
		if !first {
			dirs = out.either()
		}
		out, first = r.stmt(st, dirs), false
	}
	if first {
		return outcome{dirs, dirs}
	}
	return out
}

func (r *reader) stmt(st *syntax.Stmt, dirs []string) outcome {
	switch {
	case st.Background:
		r.blame("it leaves a command running in the background (&)")
	case st.Coprocess || st.Disown:
		r.blame("it uses syntax that is not bash's")
	}
	redirects := r.redirects(st.Redirs, dirs)
	if call, ok := st.Cmd.(*syntax.CallExpr); ok || st.Cmd == nil {
		return negated(st, r.call(call, redirects, dirs))
	}
	r.pending = append(r.pending, redirects...)
	return negated(st, r.command(st.Cmd, dirs))
}

func negated(st *syntax.Stmt, out outcome) outcome {
	if st.Negated {
		return outcome{out.failed, out.ok}
	}
	return out
}

func (r *reader) command(cmd syntax.Command, dirs []string) outcome {
	same := outcome{dirs, dirs}
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt:
			x := r.stmt(c.X, dirs)
			y := r.stmt(c.Y, x.ok)
			return outcome{y.ok, union(x.failed, y.failed)}
		case syntax.OrStmt:
			x := r.stmt(c.X, dirs)
			y := r.stmt(c.Y, x.failed)
			return outcome{union(x.ok, y.ok), y.failed}
		case syntax.Pipe:
			r.stmt(c.X, dirs)
			r.stmt(c.Y, dirs)
			return same
		}
		r.blame("it uses |&")
	case *syntax.Block:
		return r.stmts(c.Stmts, dirs)
	case *syntax.Subshell:
		r.stmts(c.Stmts, dirs)
		return same
	case *syntax.TimeClause:
		if c.Stmt == nil {
			r.blame("it times nothing")
			return same
		}
		r.timed = append(r.timed, plainWord("time"))
		if c.PosixFormat {
			r.timed = append(r.timed, plainWord("-p"))
		}
		return r.stmt(c.Stmt, dirs)
	default:
		r.blame(construct(cmd))
	}
	return same
}

func plainWord(s string) Word { return Word{Value: s, Static: true, Text: quote(s)} }

// call reads a simple command. A nil call is a redirection without a command.
func (r *reader) call(call *syntax.CallExpr, redirects []Redirect, dirs []string) outcome {
	p := &Part{script: r.script, Redirects: slices.Concat(r.pending, redirects), Words: r.timed, dirs: dirs}
	r.pending, r.timed = nil, nil
	r.parts = append(r.parts, p)
	if call == nil {
		r.blame("it redirects without a command")
		return outcome{dirs, dirs}
	}
	r.fill(p, call, r.vars(dirs))
	if len(call.Args) == 0 {
		r.blame("it sets a variable (" + assignName(call) + ")")
	}
	if why := p.notStatic(); why != "" {
		r.blame(why)
	}
	return p.moves(dirs)
}

// vars returns the known variables in a shell that may be in dirs: after a cd, $PWD is unknown.
func (r *reader) vars(dirs []string) Vars {
	vars := r.script.vars
	if len(dirs) != 1 || dirs[0] != "" {
		vars.Dir = ""
	}
	return vars
}

// fill reads the words of call into p.
func (r *reader) fill(p *Part, call *syntax.CallExpr, vars Vars) {
	for _, a := range call.Assigns {
		p.Assigns = append(p.Assigns, readAssign(a, vars))
	}
	p.Words = slices.Grow(p.Words, len(call.Args))
	for i, w := range call.Args {
		word := readWord(w, vars)
		if i == 0 {
			word.Text = word.asCommand()
		}
		p.Words = append(p.Words, word)
	}
	texts := make([]string, len(p.Words))
	for i, w := range p.Words {
		texts[i] = w.Text
	}
	p.Text = strings.Join(texts, " ")
	if n := len(call.Args); n > 0 {
		p.at = int(call.Args[0].Pos().Offset())
		p.source = between(r.script.Source, call.Args[0].Pos(), call.Args[n-1].End())
	}
}

func between(src string, from, to syntax.Pos) string {
	a, b := int(from.Offset()), int(to.Offset())
	if a > b || b > len(src) {
		return ""
	}
	return src[a:b]
}

func readAssign(a *syntax.Assign, vars Vars) Assign {
	as := Assign{Value: readWord(a.Value, vars)}
	if a.Name != nil {
		as.Name = a.Name.Value
	}
	if a.Append || a.Naked || a.Index != nil || a.Array != nil {
		as.Value.Static = false
		as.Value.why = "it sets a variable in an unusual way (" + as.Name + ")"
	}
	return as
}

func assignName(call *syntax.CallExpr) string {
	if len(call.Assigns) > 0 && call.Assigns[0].Name != nil {
		return call.Assigns[0].Name.Value
	}
	return "?"
}
