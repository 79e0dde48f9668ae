package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Scanner reads a nested value sequentially on request, each byte once. The zero value is
// ready for [Scanner.Reset].
//
// To read an object, call Object and then Member for each member; for an array, call Array and
// Element. After each Member or Element that reports true, read exactly one value with Object,
// Array, Text, Number, Bool, Raw or Skip. Null counts as missing: an object without members, an
// array without elements, or the empty string.
//
// The first error ends all reading; End returns it. A copy of a Scanner continues at the same
// position.
type Scanner struct {
	scanner
	lazy  bool
	first bool   // just after the start of an object or array
	buf   []byte // decoded strings; append-only
	err   error
}

// Reset starts reading a new value. data must not be modified while it is read.
func (s *Scanner) Reset(data []byte) {
	*s = Scanner{scanner: scanner{data: data}, buf: s.buf[:0]}
}

// Lazy returns a scanner that only validates the values it decodes, and the strings and nesting
// of those it skips. It returns names undecoded, and null is neither an object nor an array.
func Lazy(data []byte) Scanner { return Scanner{scanner: scanner{data: data}, lazy: true} }

// End returns the first error. Data after the value is also an error.
func (s *Scanner) End() error {
	if s.err == nil {
		s.err = s.end()
	}
	return s.err
}

func (s *Scanner) fail(err error) {
	if s.err == nil {
		s.err = s.unexpected(err)
	}
}

// errWrongType is wrapped by errors about values of an unexpected type.
var errWrongType = errors.New("wrong type")

// IsWrongType reports whether err means that the text is valid JSON, but a value has an
// unexpected type.
func IsWrongType(err error) bool { return errors.Is(err, errWrongType) }

// other reads a value of an unexpected type, which is an error unless it is null.
func (s *Scanner) other(want string) {
	if s.err != nil {
		return
	}
	raw := s.Skip() // a syntax error takes precedence
	if s.err == nil && string(raw) != "null" {
		s.err = fmt.Errorf("%w: want %s before byte %d", errWrongType, want, s.pos)
	}
}

// Kind returns the first byte of the next value: { [ " t f n, or 0 (the digit) for any number.
// It returns x if no value begins here.
func (s *Scanner) Kind() byte {
	switch c := s.peek(); {
	case s.err != nil:
	case c == '{' || c == '[' || c == '"' || c == 't' || c == 'f' || c == 'n':
		return c
	case c == '-' || '0' <= c && c <= '9':
		return '0'
	}
	return 'x'
}

// Members enters an object and iterates over its member names; the loop must read each value.
// Use it as for name := range s.Members.
func (s *Scanner) Members(yield func(name []byte) bool) {
	if s.Object() {
		s.Remaining(yield)
	}
}

// Remaining iterates like Members over the remaining members of an object that was entered.
func (s *Scanner) Remaining(yield func(name []byte) bool) {
	for {
		name, ok := s.Member()
		if !ok || !yield(name) {
			return
		}
	}
}

// Elements enters an array and iterates over its elements; the loop must read each one. Use it
// as for range s.Elements.
func (s *Scanner) Elements(yield func() bool) {
	if !s.Array() {
		return
	}
	for s.Element() {
		if !yield() {
			return
		}
	}
}

// Err returns the first error so far.
func (s *Scanner) Err() error { return s.err }

// Pos returns the position of the next value.
func (s *Scanner) Pos() int {
	s.peek()
	return s.pos
}

// From returns the data read since pos.
func (s *Scanner) From(pos int) []byte { return s.data[pos:s.pos] }

// Object enters an object. It reports false if the value is null or not an object.
func (s *Scanner) Object() bool { return s.open('{', "an object") }

// Array enters an array. It reports false if the value is null or not an array.
func (s *Scanner) Array() bool { return s.open('[', "an array") }

func (s *Scanner) open(c byte, name string) bool {
	if s.err != nil || s.peek() != c {
		if s.other(name); s.lazy {
			s.fail(errWrongType)
		}
		return false
	}
	s.pos++
	s.first = true
	return true
}

// Member advances to the next member of the object and returns its name; its value must be read
// next. It reports false at the end of the object, which it leaves, and after an error.
func (s *Scanner) Member() (name []byte, ok bool) {
	if !s.next('}') {
		return nil, false
	}
	if s.peek() != '"' {
		s.fail(errSyntax)
		return nil, false
	}
	if s.lazy {
		name = s.skipText()
	} else {
		name = s.Text()
	}
	if s.peek() != ':' {
		s.fail(errSyntax)
		return nil, false
	}
	s.pos++
	return name, s.err == nil
}

// Element advances to the next element of the array, which must be read next. It reports false
// at the end of the array, which it leaves, and after an error.
func (s *Scanner) Element() bool { return s.next(']') }

func (s *Scanner) next(end byte) bool {
	first := s.first
	s.first = false
	switch c := s.peek(); {
	case s.err != nil:
		return false
	case c == end:
		s.pos++
		return false
	case first:
		return true
	case c != ',':
		s.fail(errSyntax)
		return false
	}
	s.pos++
	if s.peek() == end {
		s.fail(errSyntax)
		return false
	}
	return true
}

// Text reads a string; null is empty. The result is valid until Reset or until data is
// modified.
func (s *Scanner) Text() []byte {
	text := s.quoted()
	if !s.escaped && utf8.Valid(text) {
		return text
	}
	from := len(s.buf)
	s.buf = unescape(s.buf, text)
	return s.buf[from:len(s.buf):len(s.buf)]
}

// String reads a string like [Scanner.Text] and returns a copy.
func (s *Scanner) String() string {
	text := s.quoted()
	return decode(text, s.escaped)
}

// quoted reads a string and returns its undecoded text.
func (s *Scanner) quoted() []byte {
	s.escaped = false
	if s.err != nil || s.peek() != '"' {
		s.other("a string")
		s.escaped = false
		return nil
	}
	start := s.pos + 1
	if err := s.text(); err != nil {
		s.fail(err)
		s.escaped = false
		return nil
	}
	s.first = false
	return s.data[start : s.pos-1]
}

// Number reads a number. It reports false for null.
func (s *Scanner) Number() (float64, bool) {
	if s.Kind() != '0' {
		s.other("a number")
		return 0, false
	}
	lazy := s.lazy
	s.lazy = false // validate it
	digits := s.Raw()
	s.lazy = lazy
	if n, ok := Int(digits); ok && len(digits) < 16 { // exactly representable
		return float64(n), true
	}
	n, _ := strconv.ParseFloat(string(digits), 64) // ok: infinite if out of range
	return n, s.err == nil
}

// Int reads a number without its fraction; null is 0.
func (s *Scanner) Int() int {
	n, _ := s.Number() // ok: 0 for null
	if n >= 1<<53 || n <= -1<<53 {
		s.fail(errWrongType)
		return 0
	}
	return int(n)
}

// Bool reads a boolean; null is false.
func (s *Scanner) Bool() bool {
	if c := s.Kind(); c != 't' && c != 'f' {
		s.other("true or false")
		return false
	}
	switch string(s.Skip()) {
	case "true":
		return true
	case "false":
	default:
		s.fail(errSyntax)
	}
	return false
}

// Raw returns the next value undecoded, or nil for null.
func (s *Scanner) Raw() []byte {
	raw := s.Skip()
	if IsNull(raw) {
		return nil
	}
	return raw
}

// Value returns a validated copy of the next value.
func (s *Scanner) Value() json.RawMessage {
	lazy := s.lazy
	s.lazy = false
	raw := s.Skip()
	s.lazy = lazy
	return bytes.Clone(raw)
}

// Skip skips the next value and returns it undecoded, or nil after an error.
func (s *Scanner) Skip() []byte {
	if s.err != nil {
		return nil
	}
	s.peek()
	start := s.pos
	if s.lazy {
		s.skim()
	} else if _, err := s.value(0); err != nil {
		s.fail(err)
	}
	if s.err != nil {
		return nil
	}
	s.first = false
	return s.data[start:s.pos]
}

// skim skips a value without validating more than its strings and nesting.
func (s *Scanner) skim() {
	switch s.peek() {
	case '"':
		s.skipText()
	case '{', '[':
		s.skimNested()
	case 0, ',', ':', '}', ']':
		s.fail(errSyntax)
	default:
		for s.pos < len(s.data) && !strings.ContainsRune(",:]} \t\r\n", rune(s.data[s.pos])) {
			s.pos++
		}
	}
}

func (s *Scanner) skimNested() {
	for depth := 0; s.pos < len(s.data); {
		switch s.data[s.pos] {
		case '"':
			if s.skipText(); s.err != nil {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.pos++
				return
			}
		}
		s.pos++
	}
	s.fail(errEnd)
}

// skipText skips a string and returns its undecoded text.
func (s *Scanner) skipText() []byte {
	start := s.pos + 1
	for at := start; ; {
		n := bytes.IndexByte(s.data[min(at, len(s.data)):], '"')
		if n < 0 {
			s.fail(errEnd)
			return nil
		}
		at += n
		slashes := 0
		for s.data[at-1-slashes] == '\\' {
			slashes++
		}
		at++
		if slashes%2 == 0 {
			s.pos = at
			return s.data[start : at-1]
		}
	}
}
