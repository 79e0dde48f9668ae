// Package jsonscan reads JSON in place: it iterates over the members of an object or the
// elements of a list and returns their values undecoded. It only allocates requested strings,
// so a stream of many small objects is cheap to read. It also validates values that are not
// read, except with [Lazy], which is for a few fields of very many lines.
//
// Package jsontext of go-json-experiment validates every value that it skips, and adds 128 KB to
// the binary.
package jsonscan

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

var (
	errSyntax = errors.New("not valid JSON")
	errEnd    = errors.New("unexpected end of JSON")
	errDeep   = errors.New("JSON is nested too deeply")
	errObject = errors.New("not a JSON object")
	errList   = errors.New("not a JSON list")
)

// maxDepth limits the nesting of values.
const maxDepth = 10_000

// Object calls member for each member of the object in data, in order. name and value point
// into data; value has no surrounding whitespace. A name with escapes is decoded. Object stops
// at the first error, including from member.
func Object(data []byte, member func(name, value []byte) error) error {
	s := Scanner{scanner: scanner{data: data}}
	if s.peek() != '{' {
		return s.unexpected(errObject)
	}
	for s.Object(); ; {
		name, ok := s.Member()
		if !ok {
			return s.End()
		}
		value := s.Skip()
		if s.err != nil {
			return s.err
		}
		if err := member(name, value); err != nil {
			return err
		}
	}
}

// List calls element for each element of the list in data, in order, like [Object] for members.
func List(data []byte, element func(value []byte) error) error {
	s := Scanner{scanner: scanner{data: data}}
	if s.peek() != '[' {
		return s.unexpected(errList)
	}
	for s.Array(); s.Element(); {
		value := s.Skip()
		if s.err != nil {
			return s.err
		}
		if err := element(value); err != nil {
			return err
		}
	}
	return s.End()
}

// String decodes value if it is a string.
func String(value []byte) (string, bool) {
	if !isString(value) {
		return "", false
	}
	text := value[1 : len(value)-1]
	return decode(text, bytes.IndexByte(text, '\\') >= 0), true
}

// decode returns the value of a valid string.
func decode(text []byte, escaped bool) string {
	if !escaped && utf8.Valid(text) {
		return string(text)
	}
	out := unescape(make([]byte, 0, len(text)), text)
	return unsafe.String(unsafe.SliceData(out), len(out))
}

// Is reports whether value is the string s, which must not need escapes.
func Is(value []byte, s string) bool {
	return isString(value) && string(value[1:len(value)-1]) == s
}

// Append appends the decoded string to dst if value is a string.
func Append(dst, value []byte) []byte {
	if !isString(value) {
		return dst
	}
	return unescape(dst, value[1:len(value)-1])
}

// Int decodes value if it is an integer that fits into an int.
func Int(value []byte) (int, bool) {
	if len(value) == 0 || len(value) > 20 {
		return 0, false
	}
	n := 0
	digits := value
	if value[0] == '-' {
		digits = value[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' || len(digits) > 18 {
			f, err := strconv.ParseFloat(string(value), 64)
			if err != nil || f != float64(int(f)) || f > 1<<53 || f < -1<<53 {
				return 0, false
			}
			return int(f), true
		}
		n = n*10 + int(c-'0')
	}
	if len(digits) < len(value) {
		n = -n
	}
	return n, len(digits) > 0
}

// IsNull reports whether value is missing or null.
func IsNull(value []byte) bool { return len(value) == 0 || string(value) == "null" }

func isString(value []byte) bool {
	return len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"'
}

// unescape appends the decoded text of a valid string to dst. Invalid UTF-8 and unpaired
// surrogates become U+FFFD.
func unescape(dst, text []byte) []byte {
	from := len(dst)
	for {
		n := bytes.IndexByte(text, '\\')
		if n < 0 {
			break
		}
		dst, text = append(dst, text[:n]...), text[n:]
		if c := text[1]; c != 'u' {
			dst, text = append(dst, plain(c)), text[2:]
			continue
		}
		r := hex(text[2:6])
		text = text[6:]
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if len(text) >= 6 && text[0] == '\\' && text[1] == 'u' {
				low = hex(text[2:6])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				text = text[6:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	if dst = append(dst, text...); utf8.Valid(dst[from:]) {
		return dst
	}
	invalid := string(dst[from:])
	dst = dst[:from]
	for _, r := range invalid {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// plain returns the character for a single-letter escape.
func plain(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c // a quote, a slash or a backslash
}

func hex(digits []byte) rune {
	var r rune
	for _, c := range digits {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		default:
			r |= rune(c|0x20-'a') + 10
		}
	}
	return r
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

type scanner struct {
	data    []byte
	pos     int
	escaped bool // the last string has escapes
}

// peek skips whitespace and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// unexpected returns err, or an error for unexpected EOF at the end.
func (s *scanner) unexpected(err error) error {
	if s.pos >= len(s.data) {
		return errEnd
	}
	return err
}

// end returns an error if there is more data.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.data) {
		return errSyntax
	}
	return nil
}

// value skips the next value and returns it.
func (s *scanner) value(depth int) ([]byte, error) {
	c := s.peek()
	start := s.pos
	var err error
	switch {
	case depth > maxDepth:
		err = errDeep
	case c == '"':
		err = s.text()
	case c == '{' || c == '[':
		err = s.nested(c, depth)
	case c == '-' || '0' <= c && c <= '9':
		err = s.number()
	case c == 't':
		err = s.word("true")
	case c == 'f':
		err = s.word("false")
	case c == 'n':
		err = s.word("null")
	default:
		err = s.unexpected(errSyntax)
	}
	return s.data[start:s.pos], err
}

// nested skips an object or a list.
func (s *scanner) nested(open byte, depth int) error {
	shut := open + 2
	s.pos++
	if s.peek() == shut {
		s.pos++
		return nil
	}
	for {
		if open == '{' {
			if s.peek() != '"' {
				return s.unexpected(errSyntax)
			}
			if err := s.text(); err != nil {
				return err
			}
			if s.peek() != ':' {
				return s.unexpected(errSyntax)
			}
			s.pos++
		}
		if _, err := s.value(depth + 1); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case shut:
			s.pos++
			return nil
		default:
			return s.unexpected(errSyntax)
		}
	}
}

// notable marks the special bytes in a string: its end, escapes and invalid bytes.
var notable = [256]bool{
	'"': true, '\\': true,
	0x00: true, 0x01: true, 0x02: true, 0x03: true, 0x04: true, 0x05: true, 0x06: true, 0x07: true,
	0x08: true, 0x09: true, 0x0a: true, 0x0b: true, 0x0c: true, 0x0d: true, 0x0e: true, 0x0f: true,
	0x10: true, 0x11: true, 0x12: true, 0x13: true, 0x14: true, 0x15: true, 0x16: true, 0x17: true,
	0x18: true, 0x19: true, 0x1a: true, 0x1b: true, 0x1c: true, 0x1d: true, 0x1e: true, 0x1f: true,
}

// text skips a string.
func (s *scanner) text() error {
	d := s.data
	s.escaped = false
	for i := s.pos + 1; i < len(d); i++ {
		if !notable[d[i]] {
			continue
		}
		switch d[i] {
		case '"':
			s.pos = i + 1
			return nil
		case '\\':
			s.escaped = true
			if i++; i >= len(d) {
				return errEnd
			}
			switch d[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(d) {
					return errEnd
				}
				for _, h := range d[i+1 : i+5] {
					if !isHex(h) {
						return errSyntax
					}
				}
				i += 4
			default:
				return errSyntax
			}
		default:
			return errSyntax
		}
	}
	s.pos = len(d)
	return errEnd
}

func (s *scanner) number() error {
	if s.data[s.pos] == '-' {
		s.pos++
	}
	first := s.pos
	if n := s.digits(); n == 0 || n > 1 && s.data[first] == '0' {
		return s.unexpected(errSyntax)
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		s.pos++
		if s.digits() == 0 {
			return s.unexpected(errSyntax)
		}
	}
	if s.pos < len(s.data) && s.data[s.pos]|0x20 == 'e' {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if s.digits() == 0 {
			return s.unexpected(errSyntax)
		}
	}
	return nil
}

// digits skips digits and returns their number.
func (s *scanner) digits() (n int) {
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
		n++
	}
	return n
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
		return errSyntax
	}
	s.pos += len(w)
	return nil
}
