package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash evaluates more than is visible: an array subscript is an expression, an expression
// treats a variable's value as another expression, and substitutions in any of them are
// executed. The values of some variables are executed as well.

// evaluatedCode finds code that bash evaluates.
type evaluatedCode struct{ *suspects }

// evaluate inspects a node for code that bash evaluates.
func (f evaluatedCode) evaluate(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		f.assign(n)
	case *syntax.DeclClause:
		integers := slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool {
			return a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), "i")
		})
		for _, a := range n.Args {
			if integers && a.Name != nil {
				f.use(a.Name.Value)
			}
		}
	case *syntax.ForClause:
		if loop, ok := n.Loop.(*syntax.WordIter); ok && loop.Name != nil {
			f.note(loop.Name.Value, loop.Items...)
		}
	case *syntax.ArithmExp:
		f.arithmetic(n.X)
	case *syntax.ArithmCmd:
		f.arithmetic(n.X)
	case *syntax.LetClause:
		f.active = true
		for _, x := range n.Exprs {
			f.arithmetic(x)
		}
	case *syntax.CStyleLoop:
		f.arithmetic(n.Init)
		f.arithmetic(n.Cond)
		f.arithmetic(n.Post)
	case *syntax.ParamExp:
		f.expansion(n)
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			f.subscript(n.X)
		}
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			f.operandOf(n.X)
			f.operandOf(n.Y)
		}
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			f.builtin(n.Args)
		}
	}
}

// assign records a variable assignment.
func (f evaluatedCode) assign(a *syntax.Assign) {
	if a.Index != nil {
		f.arithmetic(a.Index)
	}
	if a.Name == nil {
		f.name(readWord(a.Value, f.vars)) // operand of declare
		return
	}
	name := a.Name.Value
	if a.Value != nil {
		f.note(name, a.Value)
		f.variable(name, readWord(a.Value, f.vars))
	}
	if a.Array != nil {
		for _, elem := range a.Array.Elems {
			if elem.Index != nil {
				f.arithmetic(elem.Index)
			}
			if elem.Value != nil {
				f.note(name, elem.Value)
				f.variable(name, readWord(elem.Value, f.vars))
			}
		}
	}
}

// note records the values assigned to a variable.
func (f evaluatedCode) note(name string, values ...*syntax.Word) {
	if !f.sure {
		return
	}
	if f.assigned == nil {
		f.assigned = map[string][]*syntax.Word{}
	}
	f.assigned[name] = append(f.assigned[name], values...)
	if f.assigned[name] == nil {
		f.assigned[name] = []*syntax.Word{}
	}
}

// take records that a variable gets its value from an unknown source.
func (f evaluatedCode) take(name string) {
	if f.taken == nil {
		f.taken = map[string]bool{}
	}
	name, _, _ = strings.Cut(name, "[")
	f.taken[name] = f.taken[name] || f.sure
}

// arithmetic records the variables in an expression and searches its text.
func (f evaluatedCode) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok {
			f.expression(w)
			return false
		}
		return true
	})
}

// expression records the variables in a word that bash evaluates as an expression.
func (f evaluatedCode) expression(w *syntax.Word) {
	word := readWord(w, f.vars)
	f.evaluated(word)
	if syntax.ValidName(word.Value) {
		f.use(word.Value)
	}
	for _, name := range word.unset {
		f.use(name)
	}
	if word.substs && !f.numeric(w) {
		f.doubt("bash evaluates what another command prints as an expression")
	}
}

// use records a variable whose value is evaluated.
func (f evaluatedCode) use(name string) {
	if f.sure && !f.used[name] {
		if f.used == nil {
			f.used = map[string]bool{}
		}
		f.used[name] = true
		f.pending = append(f.pending, name)
	}
}

// settle checks the sources of all evaluated variables.
func (f evaluatedCode) settle() {
	for len(f.pending) > 0 {
		name := f.pending[0]
		f.pending = f.pending[1:]
		f.sure = true
		if f.taken[name] {
			f.doubt("bash evaluates $" + name + ", which gets its value from elsewhere, as an expression")
		}
		for _, w := range f.assigned[name] {
			f.expression(w)
			if word := readWord(w, f.vars); word.Glob {
				f.doubt("bash evaluates $" + name + ", the name of a file, as an expression")
			}
		}
	}
}

// numeric reports whether w can only expand to numbers, the output of programs that count.
func (f evaluatedCode) numeric(w *syntax.Word) bool {
	ok := true
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			ok = ok && len(n.Stmts) > 0 && counts(n.Stmts[len(n.Stmts)-1])
			return false
		case *syntax.ProcSubst:
			ok = false
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Word != nil && readWord(n.Exp.Word, f.vars).Static {
				return false
			}
			ok = ok && n.Exp == nil && n.Repl == nil
		}
		return true
	})
	return ok
}

// counts reports whether a statement prints only numbers.
func counts(st *syntax.Stmt) bool {
	switch cmd := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		return cmd.Op == syntax.Pipe && counts(cmd.Y)
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			return false
		}
		switch cmd.Args[0].Lit() {
		case "wc", "date", "nproc", "seq", "id", "stat", "tput", "getconf":
			return true
		case "grep", "rg", "git":
			for _, w := range cmd.Args[1:] {
				if lit := w.Lit(); lit == "--count" || strings.HasPrefix(lit, "-c") {
					return true
				}
			}
		}
	}
	return false
}

// evaluated searches text for substitutions that are executed when it is evaluated.
func (f evaluatedCode) evaluated(w Word) {
	for _, text := range substitutions(w.Value) {
		f.active = true
		f.script(text, true)
	}
}

// substitutions returns the commands in the outermost substitutions of text.
func substitutions(text string) []string {
	var all []string
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '`':
			end := strings.IndexByte(text[i+1:], '`')
			if end < 0 {
				return append(all, text[i+1:])
			}
			all = append(all, text[i+1:i+1+end])
			i += end + 1
		case strings.HasPrefix(text[i:], "$("):
			depth, j := 1, i+2
			for ; j < len(text) && depth > 0; j++ {
				switch text[j] {
				case '(':
					depth++
				case ')':
					depth--
				}
			}
			all = append(all, strings.TrimSuffix(text[i+2:j], ")"))
			i = j - 1
		}
	}
	return all
}

// expansion inspects a parameter expansion for evaluated code.
func (f evaluatedCode) expansion(p *syntax.ParamExp) {
	if p.Index != nil {
		f.arithmetic(p.Index)
	}
	if p.Slice != nil {
		f.arithmetic(p.Slice.Offset)
		f.arithmetic(p.Slice.Length)
	}
	if p.Excl && p.Names == 0 && p.Param != nil {
		f.use(p.Param.Value)
	}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && p.Exp.Word != nil && strings.ContainsAny(p.Exp.Word.Lit(), "P") {
		f.use(p.Param.Value)
		f.doubt("it expands $" + p.Param.Value + " as a prompt")
	}
}

// subscript inspects a variable name in a test.
func (f evaluatedCode) subscript(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		f.name(readWord(w, f.vars))
	}
}

// name inspects a word that is used as a variable name.
func (f evaluatedCode) name(w Word) {
	f.evaluated(w)
	if !w.Static && (w.substs || len(w.unset) > 0) {
		f.pendingNames(w)
	}
}

// pendingNames records the variables in a word that may expand to a subscript.
func (f evaluatedCode) pendingNames(w Word) {
	if w.substs {
		f.doubt("bash evaluates a name that another command prints")
	}
	for _, name := range w.unset {
		f.use(name)
	}
}

// operandOf inspects an operand of a numeric comparison.
func (f evaluatedCode) operandOf(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		f.expression(w)
	}
}

// builtin inspects the operands of a builtin that are variable names or expressions.
func (f evaluatedCode) builtin(args []*syntax.Word) {
	name := args[0].Lit()
	switch name {
	case "test", "[":
		for i, w := range args[1:] {
			word := readWord(w, f.vars)
			f.evaluated(word)
			if option := args[i].Lit(); option == "-v" || option == "-R" {
				f.name(word)
			}
		}
	case "printf":
		for i, w := range args[1:] {
			word := readWord(w, f.vars)
			switch {
			case args[i].Lit() == "-v":
			case strings.HasPrefix(word.Value, "-v") && len(word.Value) > 2:
				word.Value = word.Value[2:]
			default:
				continue
			}
			f.name(word)
			f.sets(word.Value)
		}
	case "read", "mapfile", "readarray", "getopts", "wait", "unset", "let", "export", "declare", "typeset", "local", "readonly", "command", "builtin":
		for _, w := range args[1:] {
			word := readWord(w, f.vars)
			if name == "let" {
				f.expression(w)
				continue
			}
			f.name(word)
			if variable, value, ok := strings.Cut(word.Value, "="); ok && name != "read" {
				f.variable(variable, Word{Value: value, Static: word.Static})
			}
			if name == "read" || name == "mapfile" || name == "readarray" || name == "getopts" {
				f.sets(word.Value)
			}
		}
	}
}

// sets records a variable that a builtin sets to an unknown value.
func (f evaluatedCode) sets(name string) {
	if name != "" && name[0] != '-' {
		f.take(name)
		f.variable(name, Word{})
	}
}

// variable inspects the value of a variable that bash or some program executes as a command.
func (f evaluatedCode) variable(name string, value Word) {
	name = strings.TrimSuffix(name, "+")
	base, _, _ := strings.Cut(name, "[")
	switch {
	case base == "PATH":
		for dir := range strings.SplitSeq(value.Value, ":") {
			if dir != "" {
				f.dirs = append(f.dirs, dir)
			}
		}
	case base == "BASH_ENV", base == "GIT_EXEC_PATH", base == "GIT_TEMPLATE_DIR", base == "GIT_CONFIG_COUNT", base == "GIT_CONFIG_PARAMETERS",
		base == "ENV" && (!value.Static || strings.ContainsAny(value.Value, "/$.")):
		f.doubt("the variable " + base + " makes a program run code from a file or from other variables")
	case base == "GIT_CONFIG_GLOBAL", base == "GIT_CONFIG_SYSTEM", base == "GIT_CONFIG":
		if value.Value != "/dev/null" && value.Value != "" || !value.Static {
			f.doubt("the variable " + base + " names a file with commands for git")
		}
	case base == "PS0", base == "PS1", base == "PS2", base == "PS3", base == "PS4":
		f.evaluated(value)
		if value.substs || len(value.unset) > 0 || !value.Static {
			f.doubt("it sets a prompt to a value that is known only at run time")
		}
	case strings.HasPrefix(base, "BASH_FUNC_"):
		f.doubt("it hands functions to a shell")
	case base == "TAR_OPTIONS", base == "RSYNC_OPTIONS":
		f.active = true
		f.sequence(append([]string{"tar"}, strings.Fields(value.Value)...), false)
		f.operand(value.Value)
		f.guess(value.Value)
	case namesCommand(base):
		f.active = true
		if !value.Static {
			f.doubt("the variable " + base + " names a program that is known only at run time")
			return
		}
		f.script(strings.TrimPrefix(value.Value, "|"), true)
	}
}

// namesCommand reports whether a variable holds a command that some program runs.
func namesCommand(name string) bool {
	switch name {
	case "PROMPT_COMMAND", "BASH_ALIASES", "BASH_CMDS", "PAGER", "EDITOR", "VISUAL", "BROWSER", "SHELL", "FCEDIT", "LESSOPEN", "LESSCLOSE", "LESSEDIT",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "RSYNC_RSH", "CVS_RSH", "GIT_PROXY_COMMAND",
		"MANPAGER", "MANROFFOPT", "GCC_EXEC_PREFIX", "SUDO_EDITOR", "SYSTEMD_EDITOR", "SYSTEMD_PAGER", "GH_PAGER", "GH_EDITOR", "BAT_PAGER", "PSQL_PAGER",
		"GIT_CONFIG_VALUE_0", "RIPGREP_CONFIG_PATH":
		return true
	}
	return strings.HasSuffix(name, "_PAGER") || strings.HasSuffix(name, "_EDITOR") || strings.HasSuffix(name, "_COMMAND")
}
