package shell

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// construct names the construct that keeps a line from being simple, for the permission prompt.
func construct(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.CmdSubst:
		return "it uses a command substitution"
	case *syntax.ProcSubst:
		return "it uses a process substitution"
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
		return "it uses arithmetic"
	case *syntax.ParamExp:
		return "it uses a variable ($" + paramName(n) + ")"
	case *syntax.ExtGlob:
		return "it uses an extended pattern"
	case *syntax.FuncDecl:
		return "it defines a function"
	case *syntax.ForClause, *syntax.WhileClause:
		return "it uses a loop"
	case *syntax.IfClause, *syntax.CaseClause, *syntax.TestClause:
		return "it uses a condition"
	case *syntax.DeclClause:
		return "it declares variables (" + n.Variant.Value + ")"
	case *syntax.CoprocClause:
		return "it uses a coprocess"
	}
	return "it uses syntax that is not understood"
}

// evaluatingBuiltins are builtins that execute, or change the meaning of, text that the parser sees only
// as a word: their arguments do not determine their effect.
var evaluatingBuiltins = setOf(`eval exec source . trap alias unalias shopt set enable hash bind complete compgen compopt
	fc history declare typeset local export readonly nameref let unset read mapfile readarray getopts`)

// notStatic returns the reason why the words of p do not determine its effect, or "".
func (p *Part) notStatic() string {
	for _, a := range p.Assigns {
		if !a.Value.Static {
			return a.Value.why
		}
	}
	for _, w := range p.Words {
		if !w.Static {
			return w.why
		}
	}
	if len(p.Words) == 0 {
		return ""
	}
	name := p.Words[0]
	switch {
	case name.expanded:
		return "the name of the command is expanded"
	case name.Glob || name.brace:
		return "the name of the command is a pattern"
	case strings.HasPrefix(name.Value, "%"):
		return "it names a job"
	case !ascii(name.Value):
		return "the name of the command has unusual characters"
	case evaluatingBuiltins(name.Value):
		return "it uses " + name.Value
	}
	return p.subscripts()
}

// subscripts returns the reason why a builtin may evaluate an operand as an array subscript,
// which executes the substitutions in it, or "".
func (p *Part) subscripts() string {
	args := p.Words[1:]
	switch p.Words[0].Value {
	case "test", "[":
		for _, w := range args {
			if w.Value == "-v" || w.Value == "-R" || strings.Contains(w.Value, "[") {
				return "it tests a variable"
			}
		}
	case "printf", "wait":
		if len(args) > 0 && (strings.HasPrefix(args[0].Value, "-v") || strings.Contains(args[0].Value, "p") && args[0].Value[0] == '-') {
			return "it sets a variable"
		}
	}
	return ""
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// setOf returns a membership test for the words in list, which is split on first use.
func setOf(list string) func(string) bool {
	set := sync.OnceValue(func() map[string]bool {
		m := make(map[string]bool)
		for _, w := range strings.Fields(list) {
			m[w] = true
		}
		return m
	})
	return func(word string) bool { return set()[word] }
}
