package shell

import "strings"

// parsedArgs is a parsed command line.
type parsedArgs struct {
	name     string
	words    []Word // all words
	options  []option
	operands []Word
	// unknown is the first option that is unlisted, lacks its value or, for a reader, is
	// abbreviated, or "".
	unknown string
	pattern bool // an option is a pattern, which may expand to others
	late    bool // an option follows an operand, which some implementations take for operands
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

// of returns the values of options of these kinds.
func (g *parsedArgs) of(kinds string) []Word {
	var words []Word
	for _, o := range g.options {
		if o.kind != 0 && strings.IndexByte(kinds, o.kind) >= 0 && o.value.Text != "" {
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

func (g *parsedArgs) doubt(option string) {
	if g.unknown == "" {
		g.unknown = option
	}
}

// A rest holds the words of a command line that are not yet parsed.
type rest struct {
	words []Word
	at    int
}

// value returns the value of an option that is in the next word, or in the next two.
func (r *rest) value(g *parsedArgs, option string, kind byte) Word {
	n := 1
	if kind == '2' || kind == 'Q' {
		n = 2
	}
	if r.at+n >= len(r.words) {
		g.doubt(option)
		r.at = len(r.words) - 1
		return Word{}
	}
	r.at += n
	return r.words[r.at]
}

// separate reports whether the value of an option may be the next word.
func separate(kind byte) bool { return kind != 0 && kind <= 'Z' }

// valueKind returns the kind of an option's value, regardless of its position.
func valueKind(kind byte) byte {
	switch {
	case kind == 'Q':
		return 'R'
	case kind == '2':
		return 'N'
	case kind >= 'a' && kind <= 'z':
		return kind - 'a' + 'A'
	}
	return kind
}

// parse parses words, without the program name.
func (e *entry) parse(name string, words []Word) *parsedArgs {
	e.parsed.Do(e.readOptions)
	g := &parsedArgs{name: name, words: words}
	for r := (&rest{words: words}); r.at < len(words); r.at++ {
		w := words[r.at]
		v := w.Value
		switch {
		case v == "--" && e.style == getopt:
			g.operands = append(g.operands, words[r.at+1:]...)
			return g
		case len(v) < 2 || v[0] != '-':
			g.operands = append(g.operands, w)
			if e.stops {
				g.operands = append(g.operands, words[r.at+1:]...)
				return g
			}
			continue
		}
		g.pattern, g.late = g.pattern || w.Glob, g.late || len(g.operands) > 0
		before := len(g.options)
		switch {
		case e.style != getopt:
			e.single(g, w, r)
		case v[1] == '-':
			e.long(g, w, r)
		default:
			e.short(g, w, r)
		}
		for k := before; k < len(g.options); k++ {
			g.options[k].end = min(r.at, len(words)-1) + 1
		}
	}
	return g
}

// long parses a long option, which may be abbreviated.
func (e *entry) long(g *parsedArgs, w Word, r *rest) {
	name, _, assigned := strings.Cut(w.Value, "=")
	full, kind, several := e.complete(name)
	if full == "" || len(several) > 1 || e.reader && full != name || assigned && kind == 0 {
		g.doubt(name)
	}
	for _, k := range several {
		if k == 'X' || k == 'F' {
			g.options = append(g.options, option{name: name, kind: k})
		}
	}
	o := option{name: full, kind: valueKind(kind)}
	if full == "" {
		o.name = name
	}
	switch {
	case assigned:
		o.value = w.behind(len(name) + 1)
	case separate(kind):
		o.value = r.value(g, name, kind)
	}
	g.options = append(g.options, o)
}

// complete finds the option that a long name abbreviates, and the kinds of all candidates. If
// there are several, it chooses the most dangerous: the program would reject the abbreviation,
// or be a version with fewer options.
func (e *entry) complete(name string) (full string, kind byte, several []byte) {
	if kind, ok := e.kinds[name]; ok {
		return name, kind, nil
	}
	for option, k := range e.kinds {
		if len(name) < 3 || !strings.HasPrefix(option, name) {
			continue
		}
		several = append(several, valueKind(k))
		if full == "" || rank(k) > rank(kind) || rank(k) == rank(kind) && option < full {
			full, kind = option, k
		}
	}
	return full, kind, several
}

// rank orders kinds by their possible effect.
func rank(kind byte) int { return strings.IndexByte("N2AQRExXfFdDwW", kind) + 1 }

// short parses options that share a dash.
func (e *entry) short(g *parsedArgs, w Word, r *rest) {
	v := w.Value
	if kind, ok := e.kinds[v]; ok && len(v) > 2 { // -uno
		o := option{name: v, kind: valueKind(kind)}
		if separate(kind) {
			o.value = r.value(g, v, kind)
		}
		g.options = append(g.options, o)
		return
	}
	if _, ok := e.kinds["-#"]; ok && digits(v[1:]) {
		return
	}
	for i := 1; i < len(v); i++ {
		name := "-" + v[i:i+1]
		kind, ok := e.kinds[name]
		if !ok {
			g.doubt(name)
		}
		o := option{name: name, kind: valueKind(kind)}
		if kind == 0 {
			g.options = append(g.options, o)
			continue
		}
		if i+1 < len(v) {
			o.value = w.behind(i + 1)
		} else if separate(kind) {
			o.value = r.value(g, name, kind)
		}
		g.options = append(g.options, o)
		return
	}
}

// single parses an option of a program that does not join options.
func (e *entry) single(g *parsedArgs, w Word, r *rest) {
	name, _, assigned := strings.Cut(w.Value, "=")
	at := len(name) + 1
	kind, ok := e.kinds[name]
	if !ok && strings.HasPrefix(name, "--") {
		name = name[1:]
		kind, ok = e.kinds[name]
	}
	if !ok && e.style == compiler {
		for _, length := range []int{3, 2} { // -MFfile, -ofile
			if len(w.Value) > length && e.kinds[w.Value[:length]] != 0 {
				name, kind, ok = w.Value[:length], e.kinds[w.Value[:length]], true
				at, assigned = length, true
				break
			}
		}
	}
	if !ok || assigned && kind == 0 {
		g.doubt(name)
	}
	o := option{name: name, kind: valueKind(kind)}
	switch {
	case assigned:
		o.value = w.behind(at)
	case separate(kind):
		o.value = r.value(g, name, kind)
	}
	g.options = append(g.options, o)
}

// behind returns the word after its first n bytes. Wildcards apply to the whole word, so the
// rest is not certain.
func (w Word) behind(n int) Word {
	return Word{Value: w.Value[n:], Static: w.Static && !w.Glob, Text: quote(w.Value[n:]), why: w.why}
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// readFiles returns the operands and option values of a reader that are paths.
func (e *entry) readFiles(g *parsedArgs) []Word {
	ops := g.operands
	switch e.operands {
	case texts, none, anything:
		ops = nil
	case archive:
		ops = ops[:min(1, len(ops))]
	case pattern:
		if !g.has("-e", "-f", "--regexp", "--file", "--files") && len(ops) > 0 {
			ops = ops[1:]
		}
	case script:
		if !g.has("-f", "--from-file") && len(ops) > 0 {
			ops = ops[1:]
		}
	}
	var files []Word
	for _, o := range g.options {
		if (o.kind == 'R' || o.kind == 'W') && e.reading[o.name] && o.value.Text != "" {
			files = append(files, o.value)
		}
	}
	return append(files, ops...)
}
