package lineedit

import (
	"slices"
	"unicode"

	"adze/internal/platform/cells"
)

// A buffer is a text with a cursor.
type buffer struct {
	text []rune
	pos  int // of the cursor
}

// insertRunes inserts a text before the cursor, and cut removes a part and leaves the cursor there.
func (b *buffer) insertRunes(runes []rune) {
	b.text = slices.Insert(b.text, b.pos, runes...)
	b.pos += len(runes)
}

func (b *buffer) cut(from, to int) {
	b.text = slices.Delete(b.text, from, to)
	b.pos = from
}

// replace makes text the input, with the cursor at its end.
func (b *buffer) replace(text string) {
	b.text = []rune(text)
	b.pos = len(b.text)
}

// next returns the place after the character at pos, and previous the place of the one before. What a user takes for one
// character may be several: a letter with its marks, an emoji that is joined from others.
func (b *buffer) next(pos int) int {
	if pos >= len(b.text) {
		return len(b.text)
	}
	for pos++; pos < len(b.text) && b.attached(pos); {
		pos++
	}
	return pos
}

func (b *buffer) previous(pos int) int {
	if pos <= 0 {
		return 0
	}
	for pos--; pos > 0 && b.attached(pos); {
		pos--
	}
	return pos
}

// attached reports whether what is at pos belongs to the character before it.
func (b *buffer) attached(pos int) bool {
	before, r := b.text[pos-1], b.text[pos]
	if before == '\n' || r == '\n' {
		return false
	}
	return r > 0x2ff && cells.Of(r) == 0 || before == 0x200d && cells.Of(r) == 2 || r >= 0x1f3fb && r <= 0x1f3ff && cells.Of(before) > 0 && before > 0x2600
}

// wordRune reports whether r is part of a word.
func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// wordStart returns where the word before the cursor begins, and wordEnd where the one behind it ends.
func (b *buffer) wordStart(in func(rune) bool) int {
	i := b.pos
	for i > 0 && !in(b.text[i-1]) {
		i--
	}
	for i > 0 && in(b.text[i-1]) {
		i--
	}
	return i
}

func (b *buffer) wordEnd() int {
	i := b.pos
	for i < len(b.text) && !wordRune(b.text[i]) {
		i++
	}
	for i < len(b.text) && wordRune(b.text[i]) {
		i++
	}
	return i
}

// lineStart and lineEnd return the ends of the line that pos is in.
func (b *buffer) lineStart(pos int) int {
	for pos > 0 && b.text[pos-1] != '\n' {
		pos--
	}
	return pos
}

func (b *buffer) lineEnd(pos int) int {
	for pos < len(b.text) && b.text[pos] != '\n' {
		pos++
	}
	return pos
}
