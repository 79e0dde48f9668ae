package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
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
// The first error ends all reading; End returns it.
type Scanner struct {
	scanner
	first bool   // just after the start of an object or array
	buf   []byte // decoded strings; append-only
	err   error
}

// Reset starts reading a new value. data must not be modified while it is read.
func (s *Scanner) Reset(data []byte) {
	*s = Scanner{scanner: scanner{data: data}, buf: s.buf[:0]}
}

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
	null := s.peek() == 'n'
	s.Skip() // a syntax error takes precedence
	if !null && s.err == nil {
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
	if !s.Object() {
		return
	}
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
		s.other(name)
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
	name = s.Text()
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
	if s.err != nil || s.peek() != '"' {
		s.other("a string")
		return nil
	}
	start := s.pos + 1
	if err := s.text(); err != nil {
		s.fail(err)
		return nil
	}
	s.first = false
	text := s.data[start : s.pos-1]
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return text
	}
	from := len(s.buf)
	s.buf = unescape(s.buf, text)
	return s.buf[from:len(s.buf):len(s.buf)]
}

// Number reads a number. It reports false for null.
func (s *Scanner) Number() (float64, bool) {
	if s.Kind() != '0' {
		s.other("a number")
		return 0, false
	}
	digits := s.Raw()
	if n, ok := Int(digits); ok && len(digits) < 16 { // exactly representable
		return float64(n), true
	}
	n, err := strconv.ParseFloat(string(digits), 64)
	return n, s.err == nil && (err == nil || errors.Is(err, strconv.ErrRange)) // infinite if out of range
}

// Bool reads a boolean; null is false.
func (s *Scanner) Bool() bool {
	switch s.Kind() {
	case 't':
		s.Skip()
		return s.err == nil
	case 'f':
		s.Skip()
	default:
		s.other("true or false")
	}
	return false
}

// Raw returns the next value undecoded, or nil for null.
func (s *Scanner) Raw() []byte {
	if s.err != nil {
		return nil
	}
	raw, err := s.value(0)
	if err != nil {
		s.fail(err)
		return nil
	}
	s.first = false
	if IsNull(raw) {
		return nil
	}
	return raw
}

// Skip skips the next value.
func (s *Scanner) Skip() { s.Raw() }
