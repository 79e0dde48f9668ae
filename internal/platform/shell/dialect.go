package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A Dialect is the grammar of the shell that runs a line.
type Dialect uint8

// The dialects.
const (
	Bash Dialect = iota
	// POSIX is what sh reads where there is no bash. Which shell that is cannot be told: some read more
	// than the standard says. A line that bash would read differently is therefore not understood.
	POSIX
)

// String returns the name of the shell.
func (d Dialect) String() string {
	if d == POSIX {
		return "sh"
	}
	return "bash"
}

// Parse reads src as a shell of the dialect would. It never fails: what it does not understand, the
// script says.
func (d Dialect) Parse(src string, vars Vars) *Script {
	t := d.tree(src)
	if d == POSIX {
		t.other = Bash.tree(src) // rules that forbid are tried on both readings
	}
	return t.script(vars)
}

// variant returns the grammar as the parser names it.
func (d Dialect) variant() syntax.LangVariant {
	if d == POSIX {
		return syntax.LangPOSIX
	}
	return syntax.LangBash
}

// sameParts reports whether two readings of a line come to the same commands.
func sameParts(a, b []*Part) bool {
	return slices.EqualFunc(a, b, func(x, y *Part) bool {
		return x.Text == y.Text && slices.EqualFunc(x.Words, y.Words, sameWord) &&
			slices.EqualFunc(x.Assigns, y.Assigns, func(x, y Assign) bool { return x.Name == y.Name && sameWord(x.Value, y.Value) }) &&
			slices.EqualFunc(x.Redirects, y.Redirects, func(x, y Redirect) bool {
				return x.FD == y.FD && x.Op == y.Op && x.Verb == y.Verb && sameWord(x.Target, y.Target)
			})
	})
}

func sameWord(x, y Word) bool { return x.Value == y.Value && x.Static == y.Static && x.Glob == y.Glob }
