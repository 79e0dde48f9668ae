package shell

import (
	"strings"
	"sync"
)

// A usage is a row in the table of programs that write: the syntax of a program's options, and
// the kinds of their values and of its operands. Unlike a [command] it proves nothing. It finds
// the written files for any spelling of the options: attached to their values, joined,
// abbreviated or with an equals sign.
//
// Options are words: "-v" has no value, "-o:W" has a value, in the next word or after the
// option. The letter is the kind of value; a lower-case letter means that the value is optional
// and never in the next word:
//
//	W  a file that is written
//	D  a directory in which files are written
//	R  a file that is read
//	E  a directory in which the program works
//	X  a program that is run, or a file with options, commands or code
//	F  likewise, but as intended by the program: another makefile, another configuration
//	A  text, or @ and a file that is read
//	N  anything else
//
// An unlisted short option has no value. If the row has stops, options end at the first
// operand.
type usage struct {
	name    string
	options string
	// operands has a letter for each operand, the last of them for all that follow; empty if
	// they are not files that are written.
	operands string
	style    style
	stops    bool
	// more, if non-nil, returns further uses.
	more func(*parsedArgs) []use
}

// A style is the syntax of a program's options.
type style uint8

const (
	getopt   style = iota // -o FILE -oFILE -vo FILE --output FILE --output=FILE --outp=FILE
	oneDash               // -out FILE -out=FILE --out FILE
	compiler              // -o FILE -oFILE -include FILE
)

// parsedArgs is a parsed command line.
type parsedArgs struct {
	name     string
	words    []Word // all words
	options  []option
	operands []Word
	// unknown is the first unlisted option, or "".
	unknown string
}

// An option is a given option. Its value is the zero Word if it has none.
type option struct {
	name  string
	kind  byte // 0 for an unlisted option or an option without a value
	value Word
	end   int // number of words up to the option and its value
}

// has reports whether any of the options was given.
func (g *parsedArgs) has(names ...string) bool {
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
func (g *parsedArgs) of(kind byte) []Word {
	var words []Word
	for _, o := range g.options {
		if o.kind == kind && o.value.Text != "" {
			words = append(words, o.value)
		}
	}
	return words
}

// value returns the last value of an option, and whether it was given.
func (g *parsedArgs) value(names ...string) (Word, bool) {
	for i := len(g.options) - 1; i >= 0; i-- {
		for _, name := range names {
			if g.options[i].name == name {
				return g.options[i].value, true
			}
		}
	}
	return Word{}, false
}

// A parsedUsage is a usage with parsed options.
type parsedUsage struct {
	usage
	// partial is true if the row covers only the files that the program runs and reads: it may
	// write more than its options show.
	partial bool
	read    sync.Once
	kinds   map[string]byte
}

func (m *parsedUsage) readOptions() {
	m.kinds = make(map[string]byte)
	for word := range strings.FieldsSeq(m.options) {
		name, kind, ok := strings.Cut(word, ":")
		if m.kinds[name] = 0; ok {
			m.kinds[name] = kind[0]
		}
	}
}

// parse parses words, without the program name.
func (m *parsedUsage) parse(name string, words []Word) *parsedArgs {
	m.read.Do(m.readOptions)
	g := &parsedArgs{name: name, words: words}
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
			g.doubt(v) // may expand to other options
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

func (g *parsedArgs) doubt(option string) {
	if g.unknown == "" {
		g.unknown = option
	}
}

// long parses a long option, which may be abbreviated.
func (m *parsedUsage) long(g *parsedArgs, w Word, next func() (Word, bool)) {
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

// complete finds the option that a long name abbreviates, and the kinds of all candidates. If
// there are several, it chooses the most dangerous: the program would reject the abbreviation,
// or be a version with fewer options.
func (m *parsedUsage) complete(name string) (full string, kind byte, several []byte) {
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

// rank orders kinds by their possible effect.
func rank(kind byte) int { return strings.IndexByte("NARExXfFdDwW", kind) + 1 }

func upper(kind byte) byte {
	if kind >= 'a' && kind <= 'z' {
		return kind - 'a' + 'A'
	}
	return kind
}

// short parses options that share a dash.
func (m *parsedUsage) short(g *parsedArgs, w Word, next func() (Word, bool)) {
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

// single parses an option of a program that does not join options.
func (m *parsedUsage) single(g *parsedArgs, w Word, next func() (Word, bool)) {
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

// behind returns the word after its first n bytes. Wildcards apply to the whole word, so the
// rest is not certain.
func (w Word) behind(n int) Word {
	return Word{Value: w.Value[n:], Static: w.Static && !w.Glob, Text: quote(w.Value[n:]), why: w.why}
}
