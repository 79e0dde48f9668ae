package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A Scanner reads one value front to back, as its reader asks for it, and each byte once: it is for values that are
// nested. The zero value is ready for [Scanner.Reset].
//
// An object is read with Object and then Member for each of its members, an array with Array and Element. After each
// Member and each Element that reports true, exactly one value is read: with Object, Array, Text, Number, Bool, Raw
// or Skip. Null counts as a value that is not there: it is an object without members, an array without elements, the
// empty text.
//
// The first error ends all reading; End returns it.
type Scanner struct {
	scanner
	first bool   // an object or array has just been opened
	buf   []byte // text that had escapes; only added to
	err   error
}

// Reset begins a new value. Data must not change while it is read.
func (s *Scanner) Reset(data []byte) {
	*s = Scanner{scanner: scanner{data: data}, buf: s.buf[:0]}
}

// End returns the first error. It is one too that something follows the value.
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

// errWrongType is what an error wraps when a value is not of the type that was asked for.
var errWrongType = errors.New("wrong type")

// IsWrongType reports whether err says that the text is JSON, but a value in it has another type than was asked for.
func IsWrongType(err error) bool { return errors.Is(err, errWrongType) }

// other reads a value that is not what was asked for: a null, or a mistake.
func (s *Scanner) other(want string) {
	if s.err != nil {
		return
	}
	null := s.peek() == 'n'
	s.Skip() // what is no JSON at all is the worse mistake
	if !null && s.err == nil {
		s.err = fmt.Errorf("%w: want %s before byte %d", errWrongType, want, s.pos)
	}
}

// Kind returns how the next value begins: one of { [ " t f n, and the digit 0 for every number. What begins no value
// is an x.
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

// Members enters an object and goes through the names of its members; the loop reads the value of each. It is for a range
// statement: for name := range s.Members.
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

// Elements enters an array and goes through its elements, each of which the loop reads: for range s.Elements.
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

// Pos returns where the next value begins.
func (s *Scanner) Pos() int {
	s.peek()
	return s.pos
}

// From returns what was read since pos.
func (s *Scanner) From(pos int) []byte { return s.data[pos:s.pos] }

// Object enters an object. It reports false if the value is null or no object.
func (s *Scanner) Object() bool { return s.open('{', "an object") }

// Array enters an array. It reports false if the value is null or no array.
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

// Member goes to the next member of the object, whose value is to be read next, and returns its name. At the end of
// the object, which it leaves, and after an error it reports false.
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

// Element goes to the next element of the array, which is to be read next. At the end of the array, which it leaves,
// and after an error it reports false.
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

// Text returns the text of a string, and nothing for a null. It is valid until Reset, and while the data is.
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

// Number returns a number. It reports false for a null.
func (s *Scanner) Number() (float64, bool) {
	if s.Kind() != '0' {
		s.other("a number")
		return 0, false
	}
	digits := s.Raw()
	if n, ok := Int(digits); ok && len(digits) < 16 { // which is exact
		return float64(n), true
	}
	n, err := strconv.ParseFloat(string(digits), 64)
	return n, s.err == nil && (err == nil || errors.Is(err, strconv.ErrRange)) // out of range it is infinite
}

// Bool returns a truth value; null is false.
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

// Raw returns the next value as it is written, and nothing for a null.
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

// Skip reads over the next value.
func (s *Scanner) Skip() { s.Raw() }
