package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects reads the redirections of a command that may start in any of dirs.
func (r *reader) redirects(list []*syntax.Redirect, dirs []string) []Redirect {
	var all []Redirect
	for _, rd := range list {
		redirect := readRedirect(rd, r.vars(dirs))
		redirect.dirs = dirs
		if !redirect.Target.Static {
			r.blame(redirect.Target.why)
		}
		all = append(all, redirect)
	}
	return all
}

// readRedirect reads one redirection. A target that is not static includes the reason.
func readRedirect(rd *syntax.Redirect, vars Vars) Redirect {
	out := Redirect{FD: -1, Op: rd.Op.String(), Target: readWord(rd.Word, vars)}
	odd := func(why string) {
		out.Target.Static = false
		out.odd = why
		if out.Target.why == "" {
			out.Target.why = why
		}
	}
	if rd.N != nil {
		n, err := strconv.Atoi(rd.N.Value)
		if err != nil {
			odd("it opens a file for a variable")
		}
		out.FD = n
	}
	if out.Target.Glob {
		odd("it redirects to a pattern")
	}
	switch rd.Op {
	case syntax.RdrIn:
		out.Verb = ReadPath
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
		out.Verb = WritePath
	case syntax.DplIn, syntax.DplOut:
		if descriptor(out.Target) {
			return out
		}
		out.Verb = WritePath
		if rd.Op == syntax.DplIn || out.FD >= 0 {
			odd("it redirects in an unusual way")
		}
	case syntax.Hdoc, syntax.DashHdoc:
		// The delimiter is not a word of the command and may look like an expansion.
		out.Target = Word{Static: true}
		text, ok := literalText(rd.Hdoc)
		if out.Target.Value = text; !ok {
			odd("it uses a here-document with expansions")
		}
	case syntax.WordHdoc:
	default:
		odd("it redirects in an unusual way")
	}
	if out.Target.Static && out.Target.Value == "/dev/null" {
		out.Verb = 0
	}
	return out
}

// descriptor reports whether w, after >&, copies or closes a descriptor.
func descriptor(w Word) bool {
	if !w.Static || w.expanded || w.Value == "" {
		return false
	}
	return w.Value == "-" || strings.Trim(w.Value, "0123456789") == ""
}
