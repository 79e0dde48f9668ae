package lsp

import (
	"strings"
	"unicode/utf8"
)

// A Position is a place in a text: the line and the number of UTF-16 code units before it in that
// line, both from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Range is the text between two positions. The end is exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Line returns line n of text, from 0, without its end, or "" past the last line. Lines end
// with "\n", "\r\n" or "\r".
func Line(text string, n int) string {
	start, end := lineBounds(text, n)
	return text[start:end]
}

// lineBounds returns the offsets of a line without its end. Past the last line they are both
// len(text).
func lineBounds(text string, n int) (start, end int) {
	for ; n > 0; n-- {
		i := strings.IndexAny(text[start:], "\r\n")
		if i < 0 {
			return len(text), len(text)
		}
		start += i
		if strings.HasPrefix(text[start:], "\r\n") {
			start++
		}
		start++
	}
	if i := strings.IndexAny(text[start:], "\r\n"); i >= 0 {
		return start, start + i
	}
	return start, len(text)
}

// Offset returns the byte offset of p in text. A character past the end of the line means the end
// of the line, and one inside a surrogate pair the start of the pair.
func Offset(text string, p Position) int {
	if p.Line < 0 {
		return 0
	}
	start, end := lineBounds(text, p.Line)
	units := 0
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(text[i:end])
		if units += unitsOf(r); units > p.Character {
			return i
		}
		i += size
	}
	return end
}

// PositionAt returns the position of a byte offset in text. An offset inside a line end means the
// end of the line.
func PositionAt(text string, offset int) Position {
	offset = min(max(offset, 0), len(text))
	var p Position
	start := 0
	for {
		i := strings.IndexAny(text[start:], "\r\n")
		if i < 0 {
			break
		}
		next := start + i + 1
		if strings.HasPrefix(text[start+i:], "\r\n") {
			next++
		}
		if next > offset {
			offset = min(offset, start+i)
			break
		}
		start = next
		p.Line++
	}
	for i := start; i < offset; {
		r, size := utf8.DecodeRuneInString(text[i:])
		if i+size > offset {
			break
		}
		p.Character += unitsOf(r)
		i += size
	}
	return p
}

// unitsOf returns the length of a character in UTF-16. A byte that is not UTF-8 is sent as U+FFFD.
func unitsOf(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}
