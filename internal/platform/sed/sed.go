// Package sed does what sed -i does, for the simple forms that people and models write: substitutions of
// text in lines. It takes only what it understands exactly, and says no to everything else, so that what
// it makes of a file is what sed makes of it, byte for byte. It touches no file itself.
package sed

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Edit is a sed -i that is understood.
type Edit struct {
	Files []string // as they were given, each once
	steps []substitution
}

// Parse reads the arguments of sed, without its name, as GNU sed does. False means that they are not, or
// not certainly, a simple edit of files in place.
func Parse(args []string) (*Edit, bool) {
	a, ok := readArguments(args)
	if !ok || !a.inPlace || len(a.files) == 0 || len(a.scripts) == 0 {
		return nil, false
	}
	e := &Edit{Files: a.files}
	for _, script := range a.scripts {
		steps, ok := parseScript(script, a.extended)
		if !ok {
			return nil, false
		}
		e.steps = append(e.steps, steps...)
	}
	return e, len(e.steps) > 0 && e.certain()
}

// certain reports whether no step that is certain only for ASCII comes after one that writes more.
func (e *Edit) certain() bool {
	more := false
	for _, s := range e.steps {
		if more && s.ascii {
			return false
		}
		for _, p := range s.with {
			more = more || strings.ContainsFunc(p.text, func(r rune) bool { return r >= utf8.RuneSelf })
		}
	}
	return true
}

type arguments struct {
	inPlace, extended bool
	scripts, files    []string
}

// readArguments sorts the arguments. Options are known in exactly these spellings: -iE, for example, is
// something else than -i -E.
func readArguments(args []string) (a arguments, ok bool) {
	var operands []string
	given := false // a script, with -e
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-i" || arg == "--in-place":
			a.inPlace = true
		case arg == "-E" || arg == "-r" || arg == "--regexp-extended":
			a.extended = true
		case arg == "-e" || arg == "--expression":
			if i++; i == len(args) {
				return a, false
			}
			a.scripts, given = append(a.scripts, args[i]), true
		case strings.HasPrefix(arg, "--expression="):
			a.scripts, given = append(a.scripts, strings.TrimPrefix(arg, "--expression=")), true
		case arg == "--":
			operands = append(operands, args[i+1:]...)
			i = len(args)
		case arg == "" || arg[0] == '-':
			return a, false
		default:
			operands = append(operands, arg)
		}
	}
	if !given {
		if len(operands) == 0 {
			return a, false
		}
		a.scripts, operands = operands[:1], operands[1:]
	}
	for _, name := range operands {
		// The same file twice is edited twice.
		if name == "" || name == "-" || slices.Contains(a.files, name) {
			return a, false
		}
		a.files = append(a.files, name)
	}
	return a, true
}

// Takes reports whether Apply knows for certain what sed makes of data. Which characters a pattern stands
// for depends on the language that sed runs in, unless they are ASCII; data that is no text is left to sed.
func (e *Edit) Takes(data []byte) bool {
	ascii := true
	for _, b := range data {
		if b == 0 {
			return false
		}
		ascii = ascii && b < 0x80
	}
	if ascii {
		return true
	}
	return utf8.Valid(data) && !slices.ContainsFunc(e.steps, func(s substitution) bool { return s.ascii })
}

// Apply returns what sed makes of data, and how many lines it changed. A last line without an end stays
// without one.
func (e *Edit) Apply(data []byte) (result []byte, changed int) {
	var out bytes.Buffer
	out.Grow(len(data))
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		made := line
		for i := range e.steps {
			made = e.steps[i].apply(made)
		}
		if !bytes.Equal(made, line) {
			changed++
		}
		out.Write(made)
		if ended {
			out.WriteByte('\n')
		}
		data = rest
	}
	return out.Bytes(), changed
}
