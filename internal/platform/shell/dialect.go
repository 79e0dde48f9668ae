package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A Dialect is the grammar of the shell that runs a line.
type Dialect uint8

// Dialects.
const (
	Bash Dialect = iota
	// POSIX is the grammar of sh on systems without bash. The actual shell is unknown, and some
	// accept more than the standard. A line that bash would read differently is therefore not
	// understood.
	POSIX
)

// String returns the name of the shell.
func (d Dialect) String() string {
	if d == POSIX {
		return "sh"
	}
	return "bash"
}

// Parse parses src in this dialect. It never fails: the script records constructs it does not
// understand.
func (d Dialect) Parse(src string, vars Vars) *Script {
	t := d.tree(src)
	if d == POSIX {
		t.other = Bash.tree(src) // deny rules are checked against both readings
	}
	return t.script(vars)
}

// variant returns the parser's name for the grammar.
func (d Dialect) variant() syntax.LangVariant {
	if d == POSIX {
		return syntax.LangPOSIX
	}
	return syntax.LangBash
}

// sameParts reports whether two readings of a line have the same commands.
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
