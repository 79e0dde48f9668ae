package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A deepReader collects all simple commands of a line that is not simple, at any nesting level,
// with the directories they may run in.
type deepReader struct {
	*reader
	parts []*Part
	lost  bool // the target of a cd is completely unknown
	moves bool // a command in the line may change the directory
	funcs bool // the line defines functions
	body  int
	last  int // number of the last function seen
}

// everyPart returns the parts of a line that is not simple.
func (r *reader) everyPart(f *syntax.File) []*Part {
	d := &deepReader{reader: r}
	src := r.script.Source
	d.lost = strings.Contains(src, "CDPATH") || strings.Contains(src, "lastpipe") || r.script.misread
	d.survey(f)
	d.stmts(f.Stmts, []string{""})
	return d.parts
}

// survey determines whether any command in the line may change the directory.
func (d *deepReader) survey(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			d.funcs = true
		case *syntax.CallExpr:
			d.moves = d.moves || len(n.Args) > 0 && mover(n.Args[0].Lit())
		}
		return true
	})
	d.lost = d.lost || d.moves && d.funcs
}

// mover reports whether a command may change the directory: by name, because its name is
// unknown, or because it runs unknown commands.
func mover(name string) bool {
	switch name {
	case "", "cd", "pushd", "popd", "eval", "source", ".", "builtin", "command", "trap", "alias", "enable", "exec", "fc":
		return true
	}
	return name != "[" && strings.ContainsAny(name, `\*?[{~`)
}

func (d *deepReader) stmts(list []*syntax.Stmt, dirs []string) outcome {
	out := outcome{dirs, dirs}
	for i, st := range list {
		if i > 0 {
			dirs = out.either()
		}
		out = d.stmt(st, dirs)
	}
	return out
}

func (d *deepReader) stmt(st *syntax.Stmt, dirs []string) outcome {
	if d.lost && d.moves {
		dirs = nil
	}
	call, isCall := st.Cmd.(*syntax.CallExpr)
	var p *Part
	if isCall || len(st.Redirs) > 0 {
		p = d.part(dirs)
		for _, rd := range st.Redirs {
			redirect := readRedirect(rd, d.vars(dirs))
			redirect.dirs = p.dirs
			p.Redirects = append(p.Redirects, redirect)
		}
		if isCall {
			d.fill(p, call, d.vars(dirs))
		}
	}
	for _, rd := range st.Redirs {
		d.nested(rd, dirs)
	}
	out := outcome{dirs, dirs}
	if isCall {
		d.nested(call, dirs)
		out = d.after(p, dirs)
	} else if st.Cmd != nil {
		out = d.command(st.Cmd, dirs)
	}
	if st.Background || st.Coprocess {
		return outcome{dirs, dirs}
	}
	return negated(st, out)
}

// part adds a part that may run in dirs. An unreachable part is judged as if it were reachable.
func (d *deepReader) part(dirs []string) *Part {
	if dirs != nil && len(dirs) == 0 {
		dirs = []string{""}
	}
	p := &Part{script: d.script, dirs: dirs, body: d.body}
	d.parts = append(d.parts, p)
	return p
}

// look adds a part for words that the shell itself looks up in the file system.
func (d *deepReader) look(words []Word, dirs []string) {
	if len(words) > 0 {
		d.part(dirs).reads = words
	}
}

// nested reads the commands in the substitutions of n.
func (d *deepReader) nested(n syntax.Node, dirs []string) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			d.stmts(n.Stmts, dirs)
			return false
		case *syntax.ProcSubst:
			d.stmts(n.Stmts, dirs)
			return false
		}
		return true
	})
}

// after returns the directories the shell may be in after a simple command.
func (d *deepReader) after(p *Part, dirs []string) outcome {
	if len(p.Words) == 0 {
		return outcome{dirs, dirs}
	}
	name := p.Words[0]
	switch {
	case name.Value == "exit" && name.Static && len(p.Words) <= 2 && !d.funcs:
		return outcome{[]string{}, []string{}}
	case name.Value == "command" && len(p.Words) > 1 && strings.HasPrefix(p.Words[1].Value, "-"):
		return outcome{dirs, dirs} // command -v
	case name.Value == "cd" && len(p.Words) == 1 && strings.Contains(d.script.Source, "HOME"):
		return outcome{nil, dirs}
	case name.Static && (name.Value == "cd" || name.Value == "pushd" || name.Value == "popd"):
		return p.moves(dirs)
	case !name.Static || name.Glob || name.brace || mover(name.Value) && (name.Value != "exec" || len(p.Words) > 1):
		return outcome{nil, nil}
	}
	return outcome{dirs, dirs}
}

func (d *deepReader) command(cmd syntax.Command, dirs []string) outcome {
	same := outcome{dirs, dirs}
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt:
			x := d.stmt(c.X, dirs)
			y := d.stmt(c.Y, x.ok)
			return outcome{y.ok, union(x.failed, y.failed)}
		case syntax.OrStmt:
			x := d.stmt(c.X, dirs)
			y := d.stmt(c.Y, x.failed)
			return outcome{union(x.ok, y.ok), y.failed}
		}
		d.stmt(c.X, dirs)
		d.stmt(c.Y, dirs)
		return same
	case *syntax.Block:
		return d.stmts(c.Stmts, dirs)
	case *syntax.Subshell:
		d.stmts(c.Stmts, dirs)
		return same
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return d.stmt(c.Stmt, dirs)
		}
		return same
	case *syntax.IfClause:
		return d.branch(c, dirs)
	case *syntax.CaseClause:
		return d.choice(c, dirs)
	case *syntax.WhileClause:
		dirs = d.around(c, dirs)
		d.stmts(c.Cond, dirs)
		d.stmts(c.Do, dirs)
		return outcome{dirs, dirs}
	case *syntax.ForClause:
		if iter, ok := c.Loop.(*syntax.WordIter); ok {
			d.items(iter, dirs)
		}
		d.nested(c.Loop, dirs)
		dirs = d.around(c, dirs)
		d.stmts(c.Do, dirs)
		return outcome{dirs, dirs}
	case *syntax.FuncDecl:
		d.last++
		outer := d.body
		d.body = d.last
		d.stmt(c.Body, dirs)
		d.body = outer
		return same
	case *syntax.TestClause:
		d.look(d.tested(c.X, dirs), dirs)
	case *syntax.CoprocClause:
		d.stmt(c.Stmt, dirs)
		return same
	}
	d.nested(cmd, dirs)
	return same
}

func (d *deepReader) branch(c *syntax.IfClause, dirs []string) outcome {
	if len(c.Cond) == 0 { // else
		return d.stmts(c.Then, dirs)
	}
	cond := d.stmts(c.Cond, dirs)
	then := d.stmts(c.Then, cond.ok)
	other := outcome{cond.failed, cond.failed}
	if c.Else != nil {
		other = d.branch(c.Else, cond.failed)
	}
	return outcome{union(then.ok, other.ok), union(then.failed, other.failed)}
}

func (d *deepReader) choice(c *syntax.CaseClause, dirs []string) outcome {
	d.nested(c.Word, dirs)
	all := outcome{dirs, dirs}
	for _, item := range c.Items {
		for _, w := range item.Patterns {
			d.nested(w, dirs)
		}
		out := d.stmts(item.Stmts, dirs)
		all = outcome{union(all.ok, out.either()), union(all.failed, out.either())}
		if item.Op != syntax.Break { // execution may fall through to the next case
			dirs = union(dirs, out.either())
		}
	}
	return all
}

// around returns the directories the shell may be in during and after a loop entered in dirs:
// unchanged if nothing in the loop changes the directory.
func (d *deepReader) around(loop syntax.Node, dirs []string) []string {
	if !d.moves {
		return dirs
	}
	moves := false
	syntax.Walk(loop, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.CallExpr:
			moves = moves || len(n.Args) > 0 && mover(n.Args[0].Lit())
		}
		return true
	})
	if moves {
		return nil
	}
	return dirs
}

// items adds the file system lookups for the words of a for loop.
func (d *deepReader) items(iter *syntax.WordIter, dirs []string) {
	var words []Word
	for _, w := range iter.Items {
		if word := readWord(w, d.vars(dirs)); word.Glob {
			words = append(words, word)
		}
	}
	d.look(words, dirs)
}

// tested returns the files tested by a [[ ]] condition.
func (d *deepReader) tested(x syntax.TestExpr, dirs []string) []Word {
	word := func(x syntax.TestExpr) []Word {
		if w, ok := x.(*syntax.Word); ok {
			word := readWord(w, d.vars(dirs))
			word.Glob = false
			return []Word{word}
		}
		return nil
	}
	switch x := x.(type) {
	case *syntax.ParenTest:
		return d.tested(x.X, dirs)
	case *syntax.UnaryTest:
		switch x.Op {
		case syntax.TsNot:
			return d.tested(x.X, dirs)
		case syntax.TsEmpStr, syntax.TsNempStr, syntax.TsOptSet, syntax.TsVarSet, syntax.TsRefVar, syntax.TsFdTerm:
			return nil
		}
		return word(x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			return slices.Concat(d.tested(x.X, dirs), d.tested(x.Y, dirs))
		case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
			return slices.Concat(word(x.X), word(x.Y))
		}
	}
	return nil
}
