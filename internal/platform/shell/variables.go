package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A variableValues is the set of possible values of a variable, according to its line.
type variableValues struct {
	values []string
	// known is true if the variable always holds a value from values where it is used.
	known bool
	// fresh is true if it may be the name of a temporary file that the line creates.
	fresh bool
}

// freshFile represents the name of a file created by mktemp.
const freshFile = "/tmp/fresh"

// holdings returns the variables that the line sets, by name. Values that it reads or computes
// are unknown.
func (s *Script) holdings() map[string]*variableValues {
	all := make(map[string]*variableValues)
	if s.tree.file == nil {
		return all
	}
	get := func(name string) *variableValues {
		if all[name] == nil {
			all[name] = &variableValues{known: true}
		}
		return all[name]
	}
	set := func(name string, value *syntax.Word, plain bool) {
		h := get(name)
		word := readWord(value, s.vars)
		switch {
		case makesFile(value):
			h.fresh, h.values = true, append(h.values, freshFile)
		case word.Static && plain && len(h.values) < maxValues:
			h.values = append(h.values, word.Value)
		default:
			h.known = false
		}
	}
	syntax.Walk(s.tree.file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && !n.Naked {
				set(n.Name.Value, n.Value, !n.Append && n.Index == nil && n.Array == nil)
			}
		case *syntax.WordIter:
			for _, item := range n.Items {
				set(n.Name.Value, item, true)
			}
			if len(n.Items) == 0 {
				get(n.Name.Value).known = false
			}
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				get(n.Param.Value).known = false
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && setsVariables(n.Args[0].Lit()) {
				for _, arg := range n.Args[1:] {
					get(readWord(arg, s.vars).Value).known = false
				}
			}
		}
		return true
	})
	for name, h := range all {
		h.known = h.known && len(h.values) > 0 && s.setsFirst(name)
	}
	return all
}

// maxValues is the maximum number of values of a variable, or of a word, that are checked.
const maxValues = 16

// setsVariables reports whether a command sets variables named by its operands.
func setsVariables(name string) bool {
	switch name {
	case "read", "mapfile", "readarray", "printf", "getopts", "unset", "let", "eval":
		return true
	}
	return false
}

// setsFirst reports whether the line sets a variable unconditionally, or in a loop, before its
// first use.
func (s *Script) setsFirst(name string) bool {
	use := len(s.Source)
	for _, form := range []string{"$" + name, "${" + name} {
		if i := strings.Index(s.Source, form); i >= 0 {
			use = min(use, i)
		}
	}
	found := false
	var look func(list []*syntax.Stmt)
	var visit func(st *syntax.Stmt)
	visit = func(st *syntax.Stmt) {
		switch c := st.Cmd.(type) {
		case *syntax.CallExpr:
			found = found || len(c.Args) == 0 && slices.ContainsFunc(c.Assigns, func(a *syntax.Assign) bool {
				return a.Name != nil && a.Name.Value == name && int(a.Pos().Offset()) < use
			})
		case *syntax.DeclClause:
			found = found || slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool {
				return a.Name != nil && a.Name.Value == name && !a.Naked && int(a.Pos().Offset()) < use
			})
		case *syntax.BinaryCmd:
			visit(c.X)
			if c.Op == syntax.AndStmt {
				visit(c.Y)
			}
		case *syntax.Block:
			look(c.Stmts)
		case *syntax.ForClause:
			if iter, ok := c.Loop.(*syntax.WordIter); ok && iter.Name.Value == name && int(iter.Pos().Offset()) < use {
				found = true
			}
		}
	}
	look = func(list []*syntax.Stmt) {
		for _, st := range list {
			visit(st)
		}
	}
	look(s.tree.file.Stmts)
	if found {
		return true
	}
	syntax.Walk(s.tree.file, func(n syntax.Node) bool { // a nested loop contains all uses of its variable
		if iter, ok := n.(*syntax.WordIter); ok && iter.Name.Value == name && int(iter.Pos().Offset()) < use {
			found = true
		}
		return true
	})
	return found
}

// makesFile reports whether a word is the output of mktemp.
func makesFile(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	subst, ok := part.(*syntax.CmdSubst)
	if !ok || len(subst.Stmts) != 1 {
		return false
	}
	call, ok := subst.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && call.Args[0].Lit() == "mktemp"
}

// fillings returns the possible values of a word with expansions, with unknown ones empty, and
// whether it can have other values, at its start or elsewhere.
func (w Word) fillings(held map[string]*variableValues) (values []string, open, openStart bool) {
	values = []string{""}
	from := 0
	for i, hole := range append(slices.Clone(w.holes), len(w.Value)) {
		for k := range values {
			values[k] += w.Value[from:hole]
		}
		from = hole
		if i == len(w.holes) {
			return values, open, openStart
		}
		h := held[w.names[i]]
		if w.names[i] == "" || h == nil || !h.known || len(values)*len(h.values) > maxValues {
			open = true
			openStart = openStart || hole == 0
			continue
		}
		var all []string
		for _, value := range values {
			for _, v := range h.values {
				all = append(all, value+v)
			}
		}
		if h.fresh && !slices.Contains(all, "") && strings.ContainsAny(w.Value[hole:], "*?[") {
			all = append(all, values...) // empty if mktemp fails
		}
		values = all
	}
	return values, open, openStart
}

// alternatives returns the brace expansion of a word, or nil if it is not easy to determine.
func (w Word) alternatives() []string {
	open := strings.IndexByte(w.Value, '{')
	end := strings.IndexByte(w.Value, '}')
	if open < 0 || end < open || strings.Count(w.Value, "{") != 1 || strings.Count(w.Value, "}") != 1 || len(w.holes) > 0 || strings.Contains(w.Value[open:end], "..") {
		return nil
	}
	items := strings.Split(w.Value[open+1:end], ",")
	if len(items) < 2 || len(items) > maxValues {
		return nil
	}
	var all []string
	for _, item := range items {
		all = append(all, w.Value[:open]+item+w.Value[end+1:])
	}
	return all
}
