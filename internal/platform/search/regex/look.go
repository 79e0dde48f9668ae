package regex

import "unicode/utf8"

// A side classifies the text directly before or after a position.
type side uint8

const (
	sideOther   side = iota // a character that is not a word character
	sideEdge                // start or end of the text
	sideLine                // a line feed
	sideWord                // a word character
	sideInvalid             // a byte that is not part of a valid character
	sideInside              // right side only: rest of the character on the left
	sideHigh                // a non-ASCII byte: sideOther or any of the last three
)

// holds reports whether l is true between left and right, neither of which is sideHigh.
func (l lookaround) holds(left, right side) bool {
	switch l {
	case lookStartLine:
		return left == sideEdge || left == sideLine
	case lookEndLine:
		return right == sideEdge || right == sideLine
	case lookStartText:
		return left == sideEdge
	case lookEndText:
		return right == sideEdge
	case lookBoundary:
		return (left == sideWord) != (right == sideWord)
	case lookNoBoundary:
		return (left == sideWord) == (right == sideWord) && right != sideInside
	case lookWordStart:
		return left != sideWord && right == sideWord
	case lookWordEnd:
		return left == sideWord && right != sideWord
	case lookNoWordLeft:
		return left != sideWord && left != sideInvalid
	case lookNoWordRight:
		return right != sideWord && right != sideInvalid && right != sideInside
	}
	return false
}

// leftAlone reports whether l depends only on a known left side.
func (l lookaround) leftAlone(left side) bool {
	return l == lookStartLine || l == lookStartText || l == lookNoWordLeft && left != sideHigh
}

// sideOf returns the side for the byte c.
func sideOf(c byte) side {
	switch {
	case c >= utf8.RuneSelf:
		return sideHigh
	case isWordByte(c):
		return sideWord
	case c == '\n':
		return sideLine
	}
	return sideOther
}

// leftOf and rightOf return the sides adjacent to a position in text, decoding whole
// characters.
func leftOf(text []byte, at int) side {
	if at == 0 {
		return sideEdge
	}
	s := sideOf(text[at-1])
	if s != sideHigh {
		return s
	}
	r, n := utf8.DecodeLastRune(text[:at])
	return sideOfRune(r, n)
}

func rightOf(text []byte, at int) side {
	if at == len(text) {
		return sideEdge
	}
	s := sideOf(text[at])
	if s != sideHigh {
		return s
	}
	r, n := utf8.DecodeRune(text[at:])
	if s = sideOfRune(r, n); s == sideInvalid && inside(text, at) {
		return sideInside
	}
	return s
}

// inside reports whether a position is within a character.
func inside(text []byte, at int) bool {
	for start := at - 1; start >= 0 && start > at-utf8.UTFMax; start-- {
		if utf8.RuneStart(text[start]) {
			_, n := utf8.DecodeRune(text[start:])
			return start+n > at
		}
	}
	return false
}

func sideOfRune(r rune, n int) side {
	switch {
	case r == utf8.RuneError && n == 1:
		return sideInvalid
	case wordRunes().has(r):
		return sideWord
	}
	return sideOther
}
