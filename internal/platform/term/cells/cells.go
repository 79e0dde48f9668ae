// Package cells measures the width of text in terminal cells: an ideograph or emoji takes two
// cells, a combining mark none. Control sequences must be removed first; see package term.
package cells

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Of returns the number of cells r takes. The parts of a joined emoji are counted separately,
// because terminals render them differently.
func Of(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3: // most Chinese characters and Korean syllables
		return 2
	case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7ff: // non-initial parts of a Korean syllable
		return 0
	case unicode.In(r, unicode.Mn, unicode.Me), r == joiner, r == nonJoiner:
		return 0
	case r >= 0x1100 && wide(r):
		return 2
	}
	return 1
}

func wide(r rune) bool {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return true
	}
	return false
}

// Width returns the number of cells text takes on one line.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += Of(r)
	}
	return n
}

// Cut returns text if it fits into n cells. Otherwise it returns text truncated to n cells,
// ending in more if more fits.
func Cut(text string, n int, more string) string {
	if len(text) <= n || Width(text) <= n {
		return text
	}
	if Width(more) > n {
		more = ""
	}
	n -= Width(more)
	used := 0
	for i, r := range text {
		if used += Of(r); used > n {
			return text[:i] + more
		}
	}
	return text
}

// Left pads text with trailing blanks to n cells. Longer text is unchanged.
func Left(text string, n int) string { return text + blanks(n-Width(text)) }

// Right pads text with leading blanks to n cells. Longer text is unchanged.
func Right(text string, n int) string { return blanks(n-Width(text)) + text }

func blanks(n int) string { return strings.Repeat(" ", max(0, n)) }
