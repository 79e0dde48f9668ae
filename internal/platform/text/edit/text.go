package edit

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"adze/internal/platform/text/latin"
)

// A text is a file's content with its encoding. Positions are byte offsets.
type text struct {
	encoding
	data  []byte
	start int // after the byte order mark
}

// An encoding is a file's character encoding.
type encoding struct {
	wide  binary.ByteOrder // UTF-16 byte order; nil for UTF-8 and other ASCII supersets
	latin bool             // Windows-1252 or Latin-1
}

// newText detects the encoding from the byte order mark, or guesses it.
func newText(data []byte) text {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return text{encoding{wide: binary.LittleEndian}, data, 2}
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return text{encoding{wide: binary.BigEndian}, data, 2}
	case bytes.HasPrefix(data, []byte("\ufeff")):
		return text{data: data, start: 3}
	}
	return text{encoding: encoding{latin: latin.Is(data)}, data: data}
}

// with returns data as a text in the same encoding.
func (t *text) with(data []byte) *text { return &text{encoding: t.encoding, data: data} }

// unit returns the size of an ASCII character in bytes.
func (e encoding) unit() int {
	if e.wide != nil {
		return 2
	}
	return 1
}

// aligned reports whether a character can begin at p.
func (t *text) aligned(p int) bool { return t.wide == nil || (p-t.start)%2 == 0 }

// is reports whether the ASCII character c is at p.
func (t *text) is(p int, c byte) bool {
	switch {
	case p < t.start || p+t.unit() > len(t.data):
		return false
	case t.wide != nil:
		return t.wide.Uint16(t.data[p:]) == uint16(c)
	}
	return t.data[p] == c
}

// encode returns s in the file's encoding. A character that the encoding lacks stays UTF-8,
// which occurs nowhere in the file.
func (e encoding) encode(s string) []byte {
	switch {
	case e.latin:
		b := make([]byte, 0, len(s))
		for _, r := range s {
			if c, ok := latin.Encode(r); ok {
				b = append(b, c)
			} else {
				b = utf8.AppendRune(b, r)
			}
		}
		return b
	case e.wide == nil:
		return []byte(s)
	}
	b := make([]byte, 0, 2*len(s))
	for _, r := range s {
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			b = e.append(e.append(b, hi), lo)
		} else {
			b = e.append(b, r)
		}
	}
	return b
}

func (e encoding) append(b []byte, unit rune) []byte {
	at := len(b)
	b = append(b, 0, 0)
	e.wide.PutUint16(b[at:], uint16(unit))
	return b
}

// decode converts b from the file's encoding to valid UTF-8.
func (e encoding) decode(b []byte) string {
	switch {
	case e.latin:
		return latin.Decode(b)
	case e.wide == nil:
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = e.wide.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// nextEnd returns the position of the first LF at or after p, or -1.
func (t *text) nextEnd(p int) int {
	for p < len(t.data) {
		i := bytes.IndexByte(t.data[p:], '\n')
		if i < 0 {
			return -1
		}
		p += i
		if t.wide == nil {
			return p
		}
		// In UTF-16 the byte may be half of another character.
		if at := p - (p-t.start)%2; at >= t.start && t.is(at, '\n') {
			return at
		}
		p++
	}
	return -1
}

// countEnds returns the number of line ends in r.
func (t *text) countEnds(r Range) int {
	if t.wide == nil {
		return bytes.Count(t.data[r.Start:r.End], []byte("\n"))
	}
	n := 0
	for p := t.nextEnd(r.Start); p >= 0 && p < r.End; p = t.nextEnd(p + 2) {
		n++
	}
	return n
}

// isLineStart reports whether a line begins at p.
func (t *text) isLineStart(p int) bool { return p <= t.start || t.is(p-t.unit(), '\n') }

// lineStart returns the start of the line at p.
func (t *text) lineStart(p int) int {
	if t.wide == nil {
		return max(bytes.LastIndexByte(t.data[:p], '\n')+1, t.start)
	}
	for p > t.start && !t.isLineStart(p) {
		p -= 2
	}
	return max(p, t.start)
}

// lineEnd returns the start of the line after the one at p, or the end of the file.
func (t *text) lineEnd(p int) int {
	if i := t.nextEnd(p); i >= 0 {
		return i + t.unit()
	}
	return len(t.data)
}

// endAt returns the size of the line ending at p, or 0.
func (t *text) endAt(p int) int {
	switch {
	case t.is(p, '\n'):
		return t.unit()
	case t.is(p, '\r') && t.is(p+t.unit(), '\n'):
		return 2 * t.unit()
	}
	return 0
}

// endings counts the CRLF line endings and all line endings.
func (t *text) endings() (crlf, all int) {
	all = t.countEnds(Range{t.start, len(t.data)})
	if t.wide == nil {
		return bytes.Count(t.data, []byte("\r\n")), all
	}
	for p := t.nextEnd(t.start); p >= 0; p = t.nextEnd(p + 2) {
		if t.is(p-2, '\r') {
			crlf++
		}
	}
	return crlf, all
}

// lineNumbers returns the lines, counted from 1, in which ranges begin.
func (t *text) lineNumbers(ranges []Range) []int {
	var lines []int
	at, line := t.start, 1
	for _, r := range ranges {
		line += t.countEnds(Range{at, r.Start})
		lines, at = append(lines, line), r.Start
	}
	return lines
}

// lacks returns the first character of s that the file's encoding cannot represent.
func (t *text) lacks(s string) (r rune, found bool) {
	if t.wide != nil || !t.latin && !t.isForeign() {
		return 0, false
	}
	for _, r := range s {
		if _, ok := latin.Encode(r); r >= utf8.RuneSelf && !(t.latin && ok) {
			return r, true
		}
	}
	return 0, false
}

// isForeign reports whether the file is in an unknown single-byte encoding: it has bytes that
// are not valid UTF-8, and no valid non-ASCII UTF-8.
func (t *text) isForeign() bool {
	if t.wide != nil || utf8.Valid(t.data) {
		return false
	}
	for p := t.start; p < len(t.data); {
		if t.data[p] < utf8.RuneSelf {
			p++
			continue
		}
		_, n := utf8.DecodeRune(t.data[p:])
		if n > 1 {
			return false
		}
		p += n
	}
	return true
}

// Recode returns content in the encoding of the file it replaces: UTF-16 stays UTF-16, with its
// byte order mark, and Windows-1252 stays Windows-1252. If foreign is true, content is in UTF-8
// because the old encoding is unknown or lacks one of its characters.
func Recode(old []byte, content string) (data []byte, foreign bool) {
	t := newText(old)
	switch {
	case t.latin:
		if _, lacks := t.lacks(content); lacks {
			return []byte(content), true
		}
		return t.encode(content), false
	case t.wide == nil:
		return []byte(content), t.isForeign()
	}
	return t.encode("\ufeff" + strings.TrimPrefix(content, "\ufeff")), false
}
