package shell

import "mvdan.cc/sh/v3/syntax"

// Chain returns the start offsets of the commands in a line joined only by &&, in order, or nil
// for any other line. The last command extends to the end of the line. The first plain commands
// are simple, and each is one part.
func (s *Script) Chain() (starts []int, plain int) {
	if !s.Simple || len(s.tree.file.Stmts) != 1 {
		return nil, 0
	}
	var walk func(*syntax.Stmt) bool
	walk = func(st *syntax.Stmt) bool {
		if st.Background || st.Coprocess || st.Negated {
			return false
		}
		if c, ok := st.Cmd.(*syntax.BinaryCmd); ok && c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			return c.Op == syntax.AndStmt && len(st.Redirs) == 0 && walk(c.X) && walk(c.Y)
		}
		if _, ok := st.Cmd.(*syntax.CallExpr); ok && plain == len(starts) {
			plain++
		}
		starts = append(starts, int(st.Pos().Offset()))
		return true
	}
	if !walk(s.tree.file.Stmts[0]) {
		return nil, 0
	}
	return starts, plain
}
