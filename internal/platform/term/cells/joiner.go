package cells

import "unicode"

// Joiners take no cells. In some scripts they select the form of adjacent letters; the
// zero-width joiner also combines several emoji into one.
const (
	nonJoiner = 0x200c
	joiner    = 0x200d
)

// Joins reports whether r is a joiner that changes how the adjacent characters look. Any other
// joiner is invisible and could make two names look the same.
func Joins(before, r, after rune) bool {
	switch r {
	case joiner:
		return emoji(before) && emoji(after) || joining(before, after)
	case nonJoiner:
		return joining(before, after)
	}
	return false
}

// joining reports whether a joiner between two characters has a visible effect: between two
// letters of a cursive or Indic script, or after a virama.
func joining(before, after rune) bool {
	if before < 0x600 || !unicode.In(before, joined...) {
		return false
	}
	return unicode.Is(unicode.Mn, before) && !unicode.Is(unicode.Arabic, before) || unicode.In(after, joined...)
}

var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// emoji reports whether r is an emoji or modifies the emoji before it.
func emoji(r rune) bool {
	return r == 0xfe0f || r >= 0x2190 && r <= 0x21ff || r >= 0x2600 && r <= 0x27bf || r >= 0x2b00 && r <= 0x2bff || r >= 0x1f000 && r <= 0x1faff
}
