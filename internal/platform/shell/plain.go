package shell

import "mvdan.cc/sh/v3/syntax"

// Plain returns the words of a line that is a single literal command, without expansions,
// patterns, assignments and redirections. Executing them directly has the same effect as
// running the line in the shell. It returns nil for any other line, and for shell builtins.
func (s *Script) Plain() []string {
	if !s.Simple || len(s.Parts) != 1 || len(s.tree.file.Stmts) != 1 {
		return nil
	}
	st, p := s.tree.file.Stmts[0], s.Parts[0]
	if call, ok := st.Cmd.(*syntax.CallExpr); !ok || len(call.Args) != len(p.Words) {
		return nil
	}
	if st.Negated || len(p.Assigns)+len(p.Redirects) > 0 || len(p.Words) == 0 || ownCommand(p.Words[0].Value) {
		return nil
	}
	words := make([]string, len(p.Words))
	for i, w := range p.Words {
		if !w.Static || w.Glob || w.expanded || w.brace {
			return nil
		}
		words[i] = w.Value
	}
	return words
}

// ownCommand contains commands that shells implement themselves.
var ownCommand = setOf(`. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval
	exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly
	return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`)
