package shell

import (
	"strings"
	"sync"
)

// A usage is one row of the table of programs that write: how a program reads its options, and what
// their values and its operands are. Unlike a [command] it proves nothing. It finds the files that are
// written, however the options are spelled: glued to their values, joined, shortened or behind an equals sign.
//
// The options are words: "-v" stands alone, "-o:W" has a value, in the next word or behind the option.
// The letter says what the value is; a small letter, that the value may be missing and is never in the
// next word:
//
//	W  a file that is written
//	D  a directory in which files are written
//	R  a file that is read
//	E  a directory in which the program works
//	X  a program that is run, or a file with options, commands or code
//	F  likewise, but what the program is for: another makefile, another configuration
//	A  text, or @ and a file that is read
//	N  anything else
//
// A short option that is not listed stands alone. Options end at the first operand if the row has stops.
type usage struct {
	name    string
	options string
	// operands has a letter for each operand, the last of them for all that follow; empty if they are
	// not files that are written.
	operands string
	style    style
	stops    bool
	// more returns what the options alone do not say, or is nil.
	more func(*given) []use
}

// A style is how a program writes its options.
type style uint8

const (
	getopt   style = iota // -o FILE -oFILE -vo FILE --output FILE --output=FILE --outp=FILE
	oneDash               // -out FILE -out=FILE --out FILE
	compiler              // -o FILE -oFILE -include FILE
)

// given is what a command line gives a program.
type given struct {
	name     string
	words    []Word // all of them
	options  []option
	operands []Word
	// unknown is the first option that is not listed, or "".
	unknown string
}

// An option is one that was given. Its value is the zero word if it has none.
type option struct {
	name  string
	kind  byte // 0 for an option without a value, or one that is not listed
	value Word
	end   int // how many words there are up to the option and its value
}

// has reports whether one of the options was given.
func (g *given) has(names ...string) bool {
	for _, o := range g.options {
		for _, name := range names {
			if o.name == name {
				return true
			}
		}
	}
	return false
}

// of returns the values of options of a kind.
func (g *given) of(kind byte) []Word {
	var words []Word
	for _, o := range g.options {
		if o.kind == kind && o.value.Text != "" {
			words = append(words, o.value)
		}
	}
	return words
}

// value returns the last value of an option, and whether it was given.
func (g *given) value(names ...string) (Word, bool) {
	for i := len(g.options) - 1; i >= 0; i-- {
		for _, name := range names {
			if g.options[i].name == name {
				return g.options[i].value, true
			}
		}
	}
	return Word{}, false
}

// A manual is a usage whose options were read.
type manual struct {
	usage
	// partial says that the row is about what the program runs and reads: it may write more than its options say.
	partial bool
	read    sync.Once
	kinds   map[string]byte
}

func (m *manual) readOptions() {
	m.kinds = make(map[string]byte)
	for word := range strings.FieldsSeq(m.options) {
		name, kind, ok := strings.Cut(word, ":")
		if m.kinds[name] = 0; ok {
			m.kinds[name] = kind[0]
		}
	}
}

// parse reads words, without the name of the program.
func (m *manual) parse(name string, words []Word) *given {
	m.read.Do(m.readOptions)
	g := &given{name: name, words: words}
	for i := 0; i < len(words); i++ {
		w := words[i]
		v := w.Value
		switch {
		case v == "--" && m.style == getopt:
			g.operands = append(g.operands, words[i+1:]...)
			return g
		case len(v) < 2 || v[0] != '-':
			g.operands = append(g.operands, w)
			if m.stops {
				g.operands = append(g.operands, words[i+1:]...)
				return g
			}
			continue
		case w.Glob:
			g.doubt(v) // it may become other options than it seems
		}
		next := func() (Word, bool) {
			if i+1 >= len(words) {
				return Word{}, false
			}
			i++
			return words[i], true
		}
		before := len(g.options)
		switch {
		case m.style != getopt:
			m.single(g, w, next)
		case v[1] == '-':
			m.long(g, w, next)
		default:
			m.short(g, w, next)
		}
		for k := before; k < len(g.options); k++ {
			g.options[k].end = i + 1
		}
	}
	return g
}

func (g *given) doubt(option string) {
	if g.unknown == "" {
		g.unknown = option
	}
}

// long reads an option of two dashes, which may be shortened.
func (m *manual) long(g *given, w Word, next func() (Word, bool)) {
	name, _, assigned := strings.Cut(w.Value, "=")
	full, kind, several := m.complete(name)
	if full == "" || len(several) > 1 {
		g.doubt(name)
	}
	for _, k := range several {
		if k == 'X' || k == 'F' {
			g.options = append(g.options, option{name: name, kind: k})
		}
	}
	o := option{name: full, kind: upper(kind)}
	if full == "" {
		o.name = name
	}
	switch {
	case assigned:
		o.value = w.behind(len(name) + 1)
	case kind >= 'A' && kind <= 'Z':
		o.value, _ = next()
	}
	g.options = append(g.options, o)
}

// complete finds the option that a long name is short for, and the kinds of all that it may be short for. Of several
// the one that writes or runs something is meant: the program would refuse them, or be of a version that knows fewer.
func (m *manual) complete(name string) (full string, kind byte, several []byte) {
	if kind, ok := m.kinds[name]; ok {
		return name, kind, nil
	}
	for option, k := range m.kinds {
		if len(name) < 3 || !strings.HasPrefix(option, name) {
			continue
		}
		several = append(several, upper(k))
		if full == "" || rank(k) > rank(kind) || rank(k) == rank(kind) && option < full {
			full, kind = option, k
		}
	}
	return full, kind, several
}

// rank orders kinds by what they may do.
func rank(kind byte) int { return strings.IndexByte("NARExXfFdDwW", kind) + 1 }

func upper(kind byte) byte {
	if kind >= 'a' && kind <= 'z' {
		return kind - 'a' + 'A'
	}
	return kind
}

// short reads the options that share a dash.
func (m *manual) short(g *given, w Word, next func() (Word, bool)) {
	v := w.Value
	for i := 1; i < len(v); i++ {
		name := "-" + v[i:i+1]
		kind, ok := m.kinds[name]
		if !ok {
			g.doubt(name)
		}
		o := option{name: name, kind: upper(kind)}
		if kind == 0 {
			g.options = append(g.options, o)
			continue
		}
		if i+1 < len(v) {
			o.value = w.behind(i + 1)
		} else if kind <= 'Z' {
			o.value, _ = next()
		}
		g.options = append(g.options, o)
		return
	}
}

// single reads an option of a program whose options are not joined.
func (m *manual) single(g *given, w Word, next func() (Word, bool)) {
	name, _, assigned := strings.Cut(w.Value, "=")
	at := len(name) + 1
	if strings.HasPrefix(name, "--") && m.kinds[name] == 0 {
		name = name[1:]
	}
	kind, ok := m.kinds[name]
	if !ok && m.style == compiler {
		for _, length := range []int{3, 2} { // -MFfile, -ofile
			if len(w.Value) > length && m.kinds[w.Value[:length]] != 0 {
				name, kind, ok = w.Value[:length], m.kinds[w.Value[:length]], true
				at, assigned = length, true
				break
			}
		}
	}
	if !ok {
		g.doubt(name)
	}
	o := option{name: name, kind: upper(kind)}
	switch {
	case assigned:
		o.value = w.behind(at)
	case kind >= 'A' && kind <= 'Z':
		o.value, _ = next()
	}
	g.options = append(g.options, o)
}

// behind returns what follows the first n bytes of a word. Wildcards are about the whole word, so that what
// follows is not certain.
func (w Word) behind(n int) Word {
	return Word{Value: w.Value[n:], Static: w.Static && !w.Glob, Text: quote(w.Value[n:]), why: w.why}
}
