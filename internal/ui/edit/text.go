package edit

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// A pos is a position in a text: before a character of a line, or at its end.
type pos struct{ line, col int }

func (p pos) before(q pos) bool { return p.line < q.line || p.line == q.line && p.col < q.col }

// A text is the content of a field. It has at least one line. A rune beyond Unicode represents
// a fold.
type text struct{ lines []*line }

// A line is a line of text, without its line end.
type line struct {
	runes []rune
	rows  rows
}

func newText() text { return text{lines: []*line{{}}} }

// end returns the position after the last character.
func (t *text) end() pos {
	last := len(t.lines) - 1
	return pos{last, len(t.lines[last].runes)}
}

// empty reports whether the text is empty.
func (t *text) empty() bool { return len(t.lines) == 1 && len(t.lines[0].runes) == 0 }

// char returns the character at a position: a line feed at the end of a line, and 0 at the end
// of the text.
func (t *text) char(p pos) rune {
	if runes := t.lines[p.line].runes; p.col < len(runes) {
		return runes[p.col]
	}
	if p.line == len(t.lines)-1 {
		return 0
	}
	return '\n'
}

// slice returns the text between two positions.
func (t *text) slice(from, to pos) []rune {
	if from.line == to.line {
		return slices.Clone(t.lines[from.line].runes[from.col:to.col])
	}
	out := slices.Clone(t.lines[from.line].runes[from.col:])
	for _, l := range t.lines[from.line+1 : to.line] {
		out = append(append(out, '\n'), l.runes...)
	}
	return append(append(out, '\n'), t.lines[to.line].runes[:to.col]...)
}

// replace replaces the text between two positions and returns the position after the new text.
func (t *text) replace(from, to pos, with []rune) pos {
	first := t.lines[from.line]
	first.rows.changed(from.col)
	if i := slices.Index(with, '\n'); i < 0 && from.line == to.line {
		first.runes = slices.Replace(first.runes, from.col, to.col, with...)
		return pos{from.line, from.col + len(with)}
	}
	tail := slices.Clone(t.lines[to.line].runes[to.col:])
	first.runes = first.runes[:from.col:from.col]
	added := []*line{first}
	for {
		i := slices.Index(with, '\n')
		last := added[len(added)-1]
		if i < 0 {
			last.runes = append(last.runes, with...)
			break
		}
		last.runes = append(last.runes, with[:i]...)
		added, with = append(added, &line{}), with[i+1:]
	}
	last := added[len(added)-1]
	end := pos{from.line + len(added) - 1, len(last.runes)}
	last.runes = append(last.runes, tail...)
	t.lines = slices.Replace(t.lines, from.line, to.line+1, added...)
	return end
}

// replaceable is how far [buffer.Before] looks back, in characters.
const replaceable = 1024

// Before returns the text before the caret in its line, or the end of it if it is long. Whole
// reports whether this is all the text before the caret. A fold is returned as a blank.
func (b *buffer) Before() (text string, whole bool) {
	runes := b.lines[b.caret.line].runes
	from := max(0, b.caret.col-replaceable)
	out := make([]byte, 0, b.caret.col-from)
	for _, r := range runes[from:b.caret.col] {
		if isFold(r) {
			r = ' '
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out), from == 0 && b.caret.line == 0
}

// Replace replaces the n characters before the caret, counted as in [buffer.Before].
func (b *buffer) Replace(n int, with string) {
	b.change(b.rewind(b.caret, n), b.caret, []rune(with), apart)
}

// rewind returns the position n runes before p.
func (t *text) rewind(p pos, n int) pos {
	for ; n > 0 && p != (pos{}); n-- {
		if p.col--; p.col < 0 {
			p = pos{p.line - 1, len(t.lines[p.line-1].runes)}
		}
	}
	return p
}

// right returns the position after the user-perceived character at p, and left the position
// before the previous one. Both cross line ends.
func (t *text) right(p pos) pos {
	runes := t.lines[p.line].runes
	switch {
	case p.col < len(runes):
		return pos{p.line, nextCluster(runes, p.col)}
	case p.line < len(t.lines)-1:
		return pos{p.line + 1, 0}
	}
	return p
}

func (t *text) left(p pos) pos {
	switch {
	case p.col > 0:
		return pos{p.line, previousCluster(t.lines[p.line].runes, p.col)}
	case p.line > 0:
		return pos{p.line - 1, len(t.lines[p.line-1].runes)}
	}
	return p
}

// snap returns p, or the end of the character that p is inside.
func (t *text) snap(p pos) pos {
	runes := t.lines[p.line].runes
	if p.col <= 0 || p.col >= len(runes) || boundary(runes, p.col) {
		return p
	}
	return pos{p.line, nextCluster(runes, previousCluster(runes, p.col))}
}

// simple reports whether r never combines with an adjacent simple character, so that no further
// check is needed. This is the case for most text.
func simple(r rune) bool {
	switch {
	case r < 0x300:
		return r >= ' ' && r != 0xad && r != 0xa9 && r != 0xae && (r < 0x7f || r >= 0xa0)
	case r >= 0x391 && r <= 0x3ff, r >= 0x410 && r <= 0x44f: // Greek, Cyrillic
		return true
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, r >= 0x3001 && r <= 0x3020: // kana and punctuation
		return true
	case r >= 0x4e00 && r <= 0x9fff, r >= 0xff01 && r <= 0xff60, r > unicode.MaxRune: // Chinese characters, folds
		return true
	}
	return false
}

// boundary reports whether a character begins at i, which must not be at either end of the
// line.
func boundary(runes []rune, i int) bool {
	if simple(runes[i-1]) && simple(runes[i]) {
		return true
	}
	at := safe(runes, i)
	for at < i {
		at = nextCluster(runes, at)
	}
	return at == i
}

// safe returns a position at or before i where a character certainly begins.
func safe(runes []rune, i int) int {
	for i = min(i, len(runes)-1); i > 0 && (!simple(runes[i-1]) || !simple(runes[i])); i-- {
	}
	return max(0, i)
}

// nextCluster returns the end of the character that begins at i.
func nextCluster(runes []rune, i int) int {
	if simple(runes[i]) && (i+1 == len(runes) || simple(runes[i+1])) {
		return i + 1
	}
	for n := 16; ; n *= 4 { // longer than most characters
		window := runes[i:min(len(runes), i+n)]
		it := graphemes.FromString(string(encodable(window)))
		it.Next()
		size := utf8.RuneCountInString(it.Value())
		if size < len(window) || i+n >= len(runes) {
			return i + max(1, size)
		}
	}
}

// encodable returns runes with folds, which cannot be encoded, replaced by other characters.
func encodable(runes []rune) []rune {
	if !slices.ContainsFunc(runes, isFold) {
		return runes
	}
	out := slices.Clone(runes)
	for i, r := range out {
		if isFold(r) {
			out[i] = 'x'
		}
	}
	return out
}

// previousCluster returns the start of the character before i; i is not 0.
func previousCluster(runes []rune, i int) int {
	at := safe(runes, i-1)
	for {
		next := nextCluster(runes, at)
		if next >= i {
			return at
		}
		at = next
	}
}

// A class distinguishes words: a word is a run of characters of one class.
type class uint8

const (
	blank class = iota
	punctuation
	letter
	han
	hiragana
	katakana
	hangul
	emoji
)

func classOf(r rune) class {
	switch {
	case r == 0 || unicode.IsSpace(r):
		return blank
	case r == '_' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		return letter
	case r < 0x80:
		return punctuation
	case unicode.Is(unicode.Han, r):
		return han
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.Is(unicode.Katakana, r):
		return katakana
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || isFold(r):
		return letter
	case r >= 0x1f000:
		return emoji
	}
	return punctuation
}

// wordLeft returns the start of the word before p, and wordRight the end of the word after it.
// Part reports whether a rune belongs to a word.
func (t *text) wordLeft(p pos, part func(rune) bool) pos {
	for q := t.left(p); q != p && !part(t.char(q)); q = t.left(p) {
		p = q
	}
	for q := t.left(p); q != p && part(t.char(q)); q = t.left(p) {
		p = q
	}
	return p
}

func (t *text) wordRight(p pos) pos {
	for q := t.right(p); q != p && !inWord(t.char(p)); q = t.right(p) {
		p = q
	}
	for q := t.right(p); q != p && inWord(t.char(p)); q = t.right(p) {
		p = q
	}
	return p
}

func inWord(r rune) bool { return classOf(r) > punctuation }

func notBlank(r rune) bool { return classOf(r) != blank }
