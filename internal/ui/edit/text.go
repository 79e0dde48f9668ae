package edit

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// A pos is a place in a text: before a character of a line, or at its end.
type pos struct{ line, col int }

func (p pos) before(q pos) bool { return p.line < q.line || p.line == q.line && p.col < q.col }

// A text is what a field holds. It has at least one line. A character beyond Unicode stands for a fold.
type text struct{ lines []*line }

// A line is one of a text, without its end.
type line struct {
	runes []rune
	rows  rows
}

func newText() text { return text{lines: []*line{{}}} }

// end returns the place after the last character.
func (t *text) end() pos {
	last := len(t.lines) - 1
	return pos{last, len(t.lines[last].runes)}
}

// empty reports whether there is nothing in the text.
func (t *text) empty() bool { return len(t.lines) == 1 && len(t.lines[0].runes) == 0 }

// char returns the character at a place: a line feed at the end of a line, and 0 at the end of the text.
func (t *text) char(p pos) rune {
	if runes := t.lines[p.line].runes; p.col < len(runes) {
		return runes[p.col]
	}
	if p.line == len(t.lines)-1 {
		return 0
	}
	return '\n'
}

// slice returns what stands between two places.
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

// replace puts runes in the place of what stands between two places, and returns the place after them.
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

// Before returns what stands before the caret in its line, or the end of it if that is long. Whole says that it is all that
// stands before the caret. A fold is a blank.
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

// Replace puts a text in the place of the n characters before the caret, as [buffer.Before] counts them.
func (b *buffer) Replace(n int, with string) {
	b.change(b.rewind(b.caret, n), b.caret, []rune(with), apart)
}

// rewind returns the place n characters before p, as they are stored.
func (t *text) rewind(p pos, n int) pos {
	for ; n > 0 && p != (pos{}); n-- {
		if p.col--; p.col < 0 {
			p = pos{p.line - 1, len(t.lines[p.line-1].runes)}
		}
	}
	return p
}

// right returns the place after the character at p, as users count characters, and left that of the one before; both
// cross the ends of lines.
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

// snap returns the place itself, or the end of the character that it is in.
func (t *text) snap(p pos) pos {
	runes := t.lines[p.line].runes
	if p.col <= 0 || p.col >= len(runes) || boundary(runes, p.col) {
		return p
	}
	return pos{p.line, nextCluster(runes, previousCluster(runes, p.col))}
}

// simple reports whether r stands for itself beside another such character, so that there is no need to look further: most
// of what is typed does.
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

// boundary reports whether a character begins at i, where neither end of the line is.
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

// safe returns a place at or before i where a character surely begins.
func safe(runes []rune, i int) int {
	for i = min(i, len(runes)-1); i > 0 && (!simple(runes[i-1]) || !simple(runes[i])); i-- {
	}
	return max(0, i)
}

// nextCluster returns where the character that begins at i ends.
func nextCluster(runes []rune, i int) int {
	if simple(runes[i]) && (i+1 == len(runes) || simple(runes[i+1])) {
		return i + 1
	}
	for n := 16; ; n *= 4 { // more than most have
		window := runes[i:min(len(runes), i+n)]
		it := graphemes.FromString(string(encodable(window)))
		it.Next()
		size := utf8.RuneCountInString(it.Value())
		if size < len(window) || i+n >= len(runes) {
			return i + max(1, size)
		}
	}
}

// encodable returns runes with other characters in the place of folds, which cannot be encoded.
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

// previousCluster returns where the character before i begins; i is not 0.
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

// A class tells words apart: a word is a run of characters of one class.
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

// classOf returns the class of a character.
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

// wordLeft returns where the word before p begins, and wordRight where the one after it ends. Part says what belongs to a
// word.
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
