// Package latin detects, decodes and encodes Windows-1252 text.
package latin

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// c1 lists the characters of Windows-1252 from 0x80 to 0x9F; U+FFFD means undefined. All other
// characters are the same as in Latin-1.
const c1 = "€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ"

// maxLatin is the maximum size for which the encoding is guessed, in bytes.
const maxLatin = 10 << 20

// Is reports whether data is Windows-1252 text, which includes Latin-1: it has non-ASCII bytes,
// none of them could be UTF-8, and all of them are characters.
func Is(data []byte) bool {
	if len(data) > maxLatin || utf8.Valid(data) {
		return false
	}
	for p := 0; p < len(data); p++ {
		switch c := data[p]; {
		case c < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(c)), c == 0x7f:
			return false
		case c < utf8.RuneSelf:
		case char(c) == utf8.RuneError:
			return false
		default:
			if _, n := utf8.DecodeRune(data[p:]); n > 1 {
				return false
			}
		}
	}
	return true
}

// char returns the character for a byte, or U+FFFD if undefined.
func char(c byte) rune {
	if c < 0x80 || c >= 0xa0 {
		return rune(c)
	}
	return []rune(c1)[c-0x80]
}

// Decode converts Windows-1252 text to UTF-8.
func Decode(data []byte) string {
	var b strings.Builder
	b.Grow(len(data) + len(data)/8)
	for len(data) > 0 {
		n := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
		if n < 0 {
			b.Write(data)
			break
		}
		b.Write(data[:n])
		b.WriteRune(char(data[n]))
		data = data[n+1:]
	}
	return b.String()
}

// Encode returns the Windows-1252 byte for a character, if it has one.
func Encode(r rune) (c byte, ok bool) {
	switch {
	case r < 0x80, r >= 0xa0 && r <= 0xff:
		return byte(r), true
	case r == utf8.RuneError:
		return 0, false
	}
	c = 0x80
	for _, known := range c1 {
		if known == r {
			return c, true
		}
		c++
	}
	return 0, false
}
