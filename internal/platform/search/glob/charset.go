package glob

import (
	"unicode"
	"unicode/utf8"
)

// A charSet is a set of characters. In git's dialect a character is a byte.
type charSet struct {
	low  [4]uint64 // characters below 256
	high []charRange
	rest bool // characters above 255: true means all except high, false only high
}

type charRange struct{ lo, hi rune }

const maxLow = 255

func (s *charSet) has(c rune) bool {
	if c <= maxLow {
		return s.low[c>>6]&(1<<(c&63)) != 0
	}
	for _, r := range s.high {
		if r.lo <= c && c <= r.hi {
			return !s.rest
		}
	}
	return s.rest
}

func (s *charSet) add(lo, hi rune) {
	for c := lo; c <= min(hi, maxLow); c++ {
		s.low[c>>6] |= 1 << (c & 63)
	}
	if hi > maxLow {
		s.high = append(s.high, charRange{max(lo, maxLow+1), hi})
	}
}

func (s *charSet) remove(c rune) { s.low[c>>6] &^= 1 << (c & 63) }

func (s *charSet) negate() {
	for i := range s.low {
		s.low[i] = ^s.low[i]
	}
	s.rest = !s.rest
}

// maxFolded is the longest range whose characters are folded one by one. Longer ranges contain
// both cases of the letters they are meant for.
const maxFolded = 1024

// addFolded adds the characters of a range and all characters that differ from them only in
// case.
func (s *charSet) addFolded(lo, hi rune) {
	s.add(lo, hi)
	if hi-lo > maxFolded || hi > unicode.MaxRune {
		return
	}
	for c := lo; c <= hi; c++ {
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			s.add(f, f)
		}
	}
}

func anyChar() *charSet {
	s := &charSet{}
	s.negate()
	return s
}

func anyButSlash() *charSet {
	s := anyChar()
	s.remove('/')
	return s
}

func isUpper(c rune) bool { return 'A' <= c && c <= 'Z' }

// posixClass returns the ranges of a named class, which is ASCII only, as in git.
func posixClass(name string) ([]charRange, bool) {
	switch name {
	case "alnum":
		return []charRange{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, true
	case "alpha":
		return []charRange{{'A', 'Z'}, {'a', 'z'}}, true
	case "blank":
		return []charRange{{' ', ' '}, {'\t', '\t'}}, true
	case "cntrl":
		return []charRange{{0, 31}, {127, 127}}, true
	case "digit":
		return []charRange{{'0', '9'}}, true
	case "graph":
		return []charRange{{33, 126}}, true
	case "lower":
		return []charRange{{'a', 'z'}}, true
	case "print":
		return []charRange{{32, 126}}, true
	case "punct":
		return []charRange{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, true
	case "space":
		return []charRange{{'\t', '\r'}, {' ', ' '}}, true
	case "upper":
		return []charRange{{'A', 'Z'}}, true
	case "xdigit":
		return []charRange{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, true
	}
	return nil, false
}

// rawByte is added to bytes that are not part of a character, so that they match only
// themselves.
const rawByte = unicode.MaxRune + 1

// decodeRune is utf8.DecodeRuneInString with invalid bytes kept distinct.
func decodeRune(s string) (rune, int) {
	c, size := utf8.DecodeRuneInString(s)
	if c == utf8.RuneError && size == 1 {
		return rawByte + rune(s[0]), 1
	}
	return c, size
}

// encode returns the text of a character.
func encode(c rune) string {
	if c >= rawByte {
		return string([]byte{byte(c - rawByte)})
	}
	return string(c)
}

// decode splits s into characters.
func decode(s string) []rune {
	chars := make([]rune, 0, len(s))
	for len(s) > 0 {
		c, size := decodeRune(s)
		chars = append(chars, c)
		s = s[size:]
	}
	return chars
}
