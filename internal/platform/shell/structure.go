package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// structure returns the reason why a node is unsuitable for a read-only line in a jail, or "".
// It does not judge the line's commands; see [Script.Jailed].
func (r *reader) structure(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.Stmt:
		switch {
		case n.Background:
			return "it leaves a command running in the background (&)"
		case n.Coprocess || n.Disown:
			return "it uses syntax that is not bash's"
		}
	case *syntax.FuncDecl:
		return r.function(n)
	case *syntax.ForClause:
		if n.Select {
			return "it waits for a choice (select)"
		}
	case *syntax.WordIter:
		return sets(n.Name)
	case *syntax.CmdSubst:
		if n.TempFile || n.ReplyVar {
			return construct(n)
		}
	case *syntax.ProcSubst:
		if n.Op != syntax.CmdIn {
			return construct(n)
		}
	case *syntax.ParamExp:
		return expansion(n)
	case *syntax.CallExpr:
		if len(n.Args) == 0 { // otherwise they apply only to a program
			for _, a := range n.Assigns {
				if why := sets(a.Name); why != "" {
					return why
				}
			}
		}
	case *syntax.DeclClause:
		return declaration(n)
	case *syntax.BinaryArithm:
		if n.Op == syntax.Assgn || n.Op >= syntax.AddAssgn && n.Op <= syntax.ShrAssgn {
			return setsOperand(n.X)
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			return setsOperand(n.X)
		}
	case *syntax.UnaryTest:
		if w, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) && !syntax.ValidName(w.Lit()) {
			return "it tests a variable"
		}
	case *syntax.SglQuoted:
		if subscripted(n.Value) {
			return "it holds a command where bash may evaluate it"
		}
	case *syntax.CoprocClause, *syntax.TestDecl:
		return construct(n)
	}
	return ""
}

// function records that the line defines a function. It rejects a function that calls itself,
// which might never end, and a function with a known name, which would be taken for the
// command.
func (r *reader) function(n *syntax.FuncDecl) string {
	if n.Name == nil || !syntax.ValidName(strings.ReplaceAll(n.Name.Value, "-", "_")) {
		return construct(n)
	}
	name := n.Name.Value
	if r.script.funcs == nil {
		r.script.funcs = make(map[string]int)
	}
	if r.script.funcs[name] != 0 || find(name) != nil || Is(name, wrapperProved) || evaluatingBuiltins(name) {
		return "it redefines " + name
	}
	r.script.funcs[name] = len(r.script.funcs) + 1
	return ""
}

// subscripted reports whether text looks like an array subscript with a command in it. Bash
// executes that wherever it uses the text as a number or a name.
func subscripted(text string) bool {
	for _, start := range []string{"[$(", "[`"} {
		if _, rest, ok := strings.Cut(text, start); ok && strings.ContainsAny(rest, ")`") && strings.Contains(rest, "]") {
			return true
		}
	}
	return false
}

// sets returns the reason why a variable must not be set, or "".
func sets(name *syntax.Lit) string {
	if name != nil && special(name.Value) {
		return "it sets " + name.Value
	}
	return ""
}

// setsOperand is like sets for the left side of an arithmetic assignment.
func setsOperand(x syntax.ArithmExpr) string {
	w, ok := x.(*syntax.Word)
	if !ok {
		return "it uses arithmetic"
	}
	name := w.Lit()
	if name == "" && len(w.Parts) == 1 {
		if p, ok := w.Parts[0].(*syntax.ParamExp); ok { // a[i]
			return sets(p.Param)
		}
	}
	if !syntax.ValidName(name) || special(name) {
		return "it sets " + name
	}
	return ""
}

// expansion returns the reason why a variable expansion may do more than read the variable, or
// "".
func expansion(p *syntax.ParamExp) string {
	switch {
	case p.Excl && p.Names == 0 && !everyIndex(p.Index):
		return "it uses a variable that another one names"
	case p.Exp == nil:
		return ""
	}
	switch p.Exp.Op {
	case syntax.OtherParamOps:
		if p.Exp.Word == nil || strings.Trim(p.Exp.Word.Lit(), "QEUuLlKkAa") != "" {
			return "it expands a variable like a prompt"
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return sets(p.Param)
	}
	return ""
}

// everyIndex reports whether a subscript is @ or *.
func everyIndex(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// declaration returns the reason why declare, local or the like may do more than set a
// variable, or "".
func declaration(n *syntax.DeclClause) string {
	exports := n.Variant.Value == "export"
	for _, a := range n.Args {
		if a.Name != nil {
			continue
		}
		flags := ""
		if a.Value != nil {
			flags = a.Value.Lit()
		}
		if len(flags) < 2 || flags[0] != '-' && flags[0] != '+' || strings.Trim(flags[1:], "aAgilrux") != "" {
			return construct(n)
		}
		exports = exports || strings.Contains(flags, "x")
	}
	switch n.Variant.Value {
	case "declare", "local", "typeset", "readonly", "export":
	default:
		return construct(n)
	}
	named := false
	for _, a := range n.Args {
		if a.Name == nil {
			continue
		}
		named = true
		if why := sets(a.Name); why != "" {
			return why
		}
		if exports && !passable(a) {
			return "it hands " + a.Name.Value + " on to programs"
		}
	}
	if !named {
		return "it shows all variables"
	}
	return ""
}

// passable reports whether a variable with that value may be passed to programs.
func passable(a *syntax.Assign) bool {
	if a.Naked || a.Value == nil || a.Name == nil {
		return a.Naked && a.Name != nil && harmless(a.Name.Value)
	}
	return quietAssign(a.Name.Value, a.Value.Lit())
}

// quietAssign reports whether an assignment does not affect the behavior of a command in a
// jail.
func quietAssign(name, value string) bool {
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER", "BAT_PAGER", "GH_PAGER", "AWS_PAGER":
		return value == "cat" || value == ""
	case "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT":
		return value == "0"
	case "GREP_COLOR", "GREP_COLORS", "LS_COLORS", "CLICOLOR", "CLICOLOR_FORCE", "BLOCK_SIZE", "BLOCKSIZE", "TIME_STYLE", "QUOTING_STYLE", "COLORTERM":
		return true
	}
	return harmlessAssign(name, value)
}
