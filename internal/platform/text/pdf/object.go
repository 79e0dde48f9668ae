package pdf

import (
	"bytes"
	"errors"
	"strconv"
)

// An object is a nil, bool, int, float64, str, name, array, dict, ref or *stream or, in a
// content stream or a damaged file, a keyword.
type object any

type (
	str     string // bytes in a context-dependent encoding
	name    string
	keyword string
	array   []object
	dict    map[name]object
	ref     struct{ num, gen int }
	stream  struct {
		dict dict
		raw  []byte // still encoded by its filters
	}
)

// maxDepth limits nesting and chains of references.
const maxDepth = 64

var errSyntax = errors.New("malformed object")

// A lexer parses objects.
type lexer struct {
	data []byte
	pos  int
	// refs enables parsing "1 0 R" as a reference. Content streams have no references.
	refs bool
}

func isSpace(c byte) bool {
	switch c {
	case 0, '\t', '\n', '\f', '\r', ' ':
		return true
	}
	return false
}

func isDelimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func (l *lexer) skipSpace() {
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// end reports whether only whitespace is left.
func (l *lexer) end() bool {
	l.skipSpace()
	return l.pos >= len(l.data)
}

// next parses an object or keyword. It always advances or fails.
func (l *lexer) next(depth int) (object, error) {
	if l.end() || depth > maxDepth {
		return nil, errSyntax
	}
	switch c := l.data[l.pos]; c {
	case '/':
		l.pos++
		return l.name(), nil
	case '(':
		return l.literal(), nil
	case '<':
		if bytes.HasPrefix(l.data[l.pos:], []byte("<<")) {
			l.pos += 2
			return l.dict(depth)
		}
		return l.hex(), nil
	case '[':
		l.pos++
		return l.array(depth)
	case ']', '{', '}', ')':
		l.pos++
		return keyword(c), nil
	case '>':
		l.pos += min(2, len(l.data)-l.pos)
		return keyword(">>"), nil
	}
	return l.word(), nil
}

// token returns the bytes up to a delimiter or whitespace.
func (l *lexer) token() []byte {
	start := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	return l.data[start:l.pos]
}

func (l *lexer) name() name {
	t := l.token()
	if bytes.IndexByte(t, '#') < 0 {
		return name(t)
	}
	var b []byte
	for i := 0; i < len(t); i++ {
		if t[i] == '#' && i+2 < len(t) {
			if n, err := strconv.ParseUint(string(t[i+1:i+3]), 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, t[i])
	}
	return name(b)
}

// word parses a number, reference or keyword.
func (l *lexer) word() object {
	t := string(l.token())
	switch t {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	n, err := strconv.Atoi(t)
	if err != nil {
		if f, err := strconv.ParseFloat(t, 64); err == nil && f-f == 0 { // neither Inf nor NaN
			return f
		}
		return keyword(t)
	}
	if !l.refs || n < 0 {
		return n
	}
	after := l.pos
	l.skipSpace()
	gen, err := strconv.Atoi(string(l.token()))
	l.skipSpace()
	if err == nil && gen >= 0 && string(l.token()) == "R" {
		return ref{n, gen}
	}
	l.pos = after
	return n
}

func (l *lexer) array(depth int) (object, error) {
	a := array{}
	for {
		o, err := l.next(depth + 1)
		if err != nil {
			return nil, err
		}
		if o == keyword("]") {
			return a, nil
		}
		a = append(a, o)
	}
}

func (l *lexer) dict(depth int) (object, error) {
	d := dict{}
	for {
		key, err := l.next(depth + 1)
		if err != nil {
			return nil, err
		}
		if key == keyword(">>") {
			return d, nil
		}
		k, ok := key.(name)
		if !ok {
			continue // skip a stray value; the rest may be fine
		}
		value, err := l.next(depth + 1)
		if err != nil {
			return nil, err
		}
		if value == keyword(">>") {
			return d, nil
		}
		d[k] = value
	}
}

func (l *lexer) hex() str {
	l.pos++
	var b []byte
	high, odd := byte(0), false
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		n, ok := nibble(c)
		switch {
		case !ok:
		case odd:
			b, odd = append(b, high<<4|n), false
		default:
			high, odd = n, true
		}
	}
	if odd {
		b = append(b, high<<4)
	}
	return str(b)
}

func nibble(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// literal parses a string in parentheses, which may be nested.
func (l *lexer) literal() str {
	var b []byte
	open := 0
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		switch c {
		case '(':
			if open++; open == 1 {
				continue
			}
		case ')':
			if open--; open == 0 {
				return str(b)
			}
		case '\\':
			b = l.escape(b)
			continue
		case '\r':
			if l.pos < len(l.data) && l.data[l.pos] == '\n' {
				l.pos++
			}
			c = '\n'
		}
		b = append(b, c)
	}
	return str(b)
}

// escape appends the character for an escape sequence.
func (l *lexer) escape(b []byte) []byte {
	if l.pos >= len(l.data) {
		return b
	}
	c := l.data[l.pos]
	l.pos++
	if i := bytes.IndexByte([]byte("nrtbf"), c); i >= 0 {
		return append(b, "\n\r\t\b\f"[i])
	}
	switch {
	case c == '\n':
		return b
	case c == '\r':
		if l.pos < len(l.data) && l.data[l.pos] == '\n' {
			l.pos++
		}
		return b
	case c >= '0' && c <= '7':
		n := int(c - '0')
		for i := 0; i < 2 && l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '7'; i++ {
			n = n<<3 | int(l.data[l.pos]-'0')
			l.pos++
		}
		return append(b, byte(n))
	}
	return append(b, c)
}
