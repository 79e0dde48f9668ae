// Package cells measures text as a terminal shows it: an ideograph or an emoji takes two cells, a combining
// mark none. What a terminal would obey must be taken out before; see package term.
package cells

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Of returns how many cells r takes. Of an emoji that is joined from several the parts are counted: terminals differ in
// how they show it.
func Of(r rune) int {
	switch {
	case r < 0x300:
		return 1
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

// Width returns how many cells text takes on one line.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += Of(r)
	}
	return n
}

// Cut returns text if it fits into n cells, and otherwise as much of it as fits with an ellipsis.
func Cut(text string, n int) string {
	if len(text) <= n || Width(text) <= n {
		return text
	}
	used := 0
	for i, r := range text {
		if used+Of(r) > n-1 {
			if n < 1 {
				return ""
			}
			return text[:i] + "…"
		}
		used += Of(r)
	}
	return text
}

// Left returns text with blanks behind it, n cells wide, and Right with blanks before it. Longer text stays
// as it is.
func Left(text string, n int) string { return text + blanks(n-Width(text)) }

// Right returns text at the right end of n cells.
func Right(text string, n int) string { return blanks(n-Width(text)) + text }

func blanks(n int) string { return strings.Repeat(" ", max(0, n)) }
