// Package jsonline reads JSON in place, for programs that need a few fields of very many lines.
// Other values are skipped without being decoded, and strings are decoded once. It validates
// decoded values and the nesting of skipped ones.
package jsonline

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrSyntax means that a text is not the expected JSON.
var ErrSyntax = errors.New("not the JSON that was expected")

// A Cursor is a position in a JSON text. After the first error it does not advance and returns
// zero values; see [Cursor.Err].
//
// To read an object, call [Cursor.Enter] and then read a value for each of its [Cursor.Keys].
// To read an array, call Enter and then read a value while [Cursor.More] reports true.
type Cursor struct {
	b   []byte
	i   int
	sep bool // after a value: the next one needs a comma before it
	bad bool
}

// New returns a cursor at the start of b, which must not be modified while the cursor is used.
func New(b []byte) Cursor { return Cursor{b: b} }

// Err returns [ErrSyntax] if an error occurred.
func (c *Cursor) Err() error {
	if c.bad {
		return ErrSyntax
	}
	return nil
}

// Offset returns the cursor's position.
func (c *Cursor) Offset() int { return c.i }

// End reports whether the cursor has reached the end without an error, ignoring whitespace.
func (c *Cursor) End() bool {
	c.peek()
	return c.i == len(c.b) && !c.bad
}

// Kind returns the first byte of the value at the cursor, or 0.
func (c *Cursor) Kind() byte {
	if c.bad {
		return 0
	}
	return c.peek()
}

// Enter enters an object or array, depending on open, if the cursor is at one.
func (c *Cursor) Enter(open byte) bool {
	if c.bad || c.peek() != open {
		return c.fail()
	}
	c.i++
	c.sep = false
	return true
}

// Key returns the next key of the object, undecoded, or leaves the object.
func (c *Cursor) Key() (key []byte, ok bool) {
	if !c.next('}') {
		return nil, false
	}
	if c.peek() != '"' {
		return nil, c.fail()
	}
	key = c.skipString()
	if c.bad || c.peek() != ':' {
		return nil, c.fail()
	}
	c.i++
	return key[1 : len(key)-1], true
}

// Keys yields the remaining keys of the object, undecoded, and leaves the object. The value of
// each must be read or skipped before the next.
func (c *Cursor) Keys() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for {
			key, ok := c.Key()
			if !ok || !yield(key) {
				return
			}
		}
	}
}

// More reports whether the array has another value, or leaves the array.
func (c *Cursor) More() bool { return c.next(']') }

// next advances to the next member of a container, or past its end.
func (c *Cursor) next(end byte) bool {
	if c.bad {
		return false
	}
	switch c.peek() {
	case end:
		c.i++
		c.sep = true
		return false
	case ',':
		if !c.sep {
			return c.fail()
		}
		c.i++
		return c.peek() != end || c.fail()
	case 0:
		return c.fail()
	}
	return !c.sep || c.fail()
}

// Skip skips a value and returns it undecoded. It only validates the value's strings and
// nesting.
func (c *Cursor) Skip() []byte {
	if c.bad {
		return nil
	}
	kind := c.peek()
	start := c.i
	switch kind {
	case '"':
		c.skipString()
	case '{', '[':
		c.skipNested()
	case 0, ',', ':', '}', ']':
		c.fail()
	default:
		for c.i < len(c.b) && !bytes.ContainsRune([]byte(",:]} \t\r\n"), rune(c.b[c.i])) {
			c.i++
		}
	}
	c.sep = true
	if c.bad {
		return nil
	}
	return c.b[start:c.i]
}

// skipNested skips an object or array.
func (c *Cursor) skipNested() {
	depth := 0
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case '"':
			if c.skipString() == nil {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				c.i++
				return
			}
		}
		c.i++
	}
	c.fail()
}

// skipString skips a string and returns it with its quotes.
func (c *Cursor) skipString() []byte {
	start := c.i
	for at := start + 1; ; {
		n := bytes.IndexByte(c.b[min(at, len(c.b)):], '"')
		if n < 0 {
			c.fail()
			return nil
		}
		at += n
		slashes := 0
		for c.b[at-1-slashes] == '\\' {
			slashes++
		}
		at++
		if slashes%2 == 0 {
			c.i = at
			c.sep = true
			return c.b[start:at]
		}
	}
}

// Bool reads a boolean; null is false.
func (c *Cursor) Bool() bool {
	switch string(c.Skip()) {
	case "true":
		return true
	case "false", "null":
		return false
	}
	return c.fail()
}

// Int reads an integer; null is 0, and fractions are truncated.
func (c *Cursor) Int() int {
	raw := c.Skip()
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n
	}
	if string(raw) == "null" {
		return 0
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f > 1<<53 || f < -1<<53 {
		c.fail()
		return 0
	}
	return int(f)
}

// String reads a string; null is "". Invalid UTF-8 becomes U+FFFD.
func (c *Cursor) String() string {
	if c.Kind() == 'n' {
		if string(c.Skip()) != "null" {
			c.fail()
		}
		return ""
	}
	if c.Kind() != '"' {
		c.fail()
		return ""
	}
	start := c.i
	i := start + 1
	for i < len(c.b) && plain[c.b[i]] {
		i++
	}
	if i < len(c.b) && c.b[i] == '"' {
		c.i, c.sep = i+1, true
		return valid(c.b[start+1 : i])
	}
	raw := c.skipString()
	if raw == nil {
		return ""
	}
	text, ok := unescape(raw[1:len(raw)-1], i-start-1)
	if !ok {
		c.fail()
	}
	return text
}

// plain marks the bytes that are literal in a string.
var plain = func() (t [256]bool) {
	for i := range t {
		t[i] = i >= ' ' && i != '"' && i != '\\'
	}
	return t
}()

func valid(s []byte) string {
	if utf8.Valid(s) {
		return string(s)
	}
	out := make([]byte, 0, len(s)+8)
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		out = utf8.AppendRune(out, r)
		s = s[n:]
	}
	return string(out)
}

// unescape decodes a string whose first clean bytes are literal.
func unescape(s []byte, clean int) (string, bool) {
	var out strings.Builder
	out.Grow(len(s)) // escapes are longer than their values
	out.Write(s[:clean])
	for i := clean; i < len(s); {
		start := i
		for i < len(s) && plain[s[i]] {
			i++
		}
		out.Write(s[start:i])
		if i == len(s) {
			break
		}
		if s[i] != '\\' || i+1 == len(s) {
			return "", false // a control character
		}
		if c := single[s[i+1]]; c != 0 {
			out.WriteByte(c)
			i += 2
			continue
		}
		r, n := codePoint(s[i:])
		if n == 0 {
			return "", false
		}
		out.WriteRune(r)
		i += n
	}
	if text := out.String(); utf8.ValidString(text) {
		return text, true
	}
	return valid([]byte(out.String())), true
}

// single maps the single-letter escapes.
var single = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// codePoint decodes the escape \uXXXX, or a surrogate pair of them, and returns its length.
func codePoint(s []byte) (r rune, n int) {
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hex4(s[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Value skips a value and returns a fully validated copy.
func (c *Cursor) Value() json.RawMessage {
	raw := c.Skip()
	if !c.bad && !json.Valid(raw) {
		c.fail()
	}
	if c.bad {
		return nil
	}
	return bytes.Clone(raw)
}

// peek skips whitespace and returns the next byte, or 0 at the end.
func (c *Cursor) peek() byte {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
			c.i++
		default:
			return c.b[c.i]
		}
	}
	return 0
}

func (c *Cursor) fail() bool {
	c.bad = true
	return false
}
