package edit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/text/amount"
)

// Pasted text with more lines or characters than these becomes a fold.
const (
	foldLines = 10
	foldChars = 1000
)

// A fold is a long pasted text or an image. It is shown by its label and is one character to
// the caret.
type fold struct {
	number int // number among folds of the same kind
	text   string
	image  *Image // nil for text
}

// label returns the fold's displayed text.
func (f fold) label() string {
	if f.image != nil {
		return f.image.label(f.number)
	}
	if n := strings.Count(strings.TrimSuffix(f.text, "\n"), "\n"); n > 0 {
		return fmt.Sprintf("[Pasted text #%d +%s]", f.number, amount.Of(n+1, "line", "lines"))
	}
	return fmt.Sprintf("[Pasted text #%d +%s]", f.number, amount.Of(utf8.RuneCountInString(f.text), "character", "characters"))
}

// firstFold is the rune of the first fold; further folds use the following runes.
const firstFold = unicode.MaxRune + 1

func isFold(r rune) bool { return r >= firstFold }

func foldIndex(r rune) int { return int(r - firstFold) }

// Other inserted text, such as a history entry, is folded only if it is much longer, because it
// is there to be edited.
const (
	hugeLines = 200
	hugeChars = 20_000
)

// pasted returns the runes to insert for pasted text: the text itself, or a fold if it is long.
func (b *buffer) pasted(text string) []rune { return b.folded(text, foldLines, foldChars) }

// brought returns the runes to insert for other text.
func (b *buffer) brought(text string) []rune { return b.folded(text, hugeLines, hugeChars) }

// folded returns the text, or a fold if it exceeds the given lines or characters.
func (b *buffer) folded(text string, lines, chars int) []rune {
	if strings.Count(text, "\n") < lines && (len(text) <= chars || utf8.RuneCountInString(text) <= chars) {
		return []rune(text)
	}
	return []rune{b.newFold(text)}
}

// newFold returns the rune of a new fold.
func (b *buffer) newFold(text string) rune {
	return b.addFold(fold{text: text})
}

// addFold numbers a fold and returns its rune.
func (b *buffer) addFold(f fold) rune {
	f.number = 1
	for _, other := range b.folds {
		if (other.image == nil) == (f.image == nil) {
			f.number++
		}
	}
	b.folds = append(b.folds, f)
	return firstFold + rune(len(b.folds)-1)
}

// unfold replaces the fold at the caret with its text, and reports whether there was one.
func (b *buffer) unfold() bool {
	r := b.char(b.caret)
	if !isFold(r) || b.folds[foldIndex(r)].image != nil {
		return false
	}
	at := b.caret
	b.change(at, b.right(at), []rune(b.folds[foldIndex(r)].text), apart)
	b.caret = b.snap(at)
	return true
}

// expand returns runes as text, with the text of folds and the labels of images.
func (b *buffer) expand(runes []rune) string {
	if !slices.ContainsFunc(runes, isFold) {
		return string(runes)
	}
	var out strings.Builder
	for _, r := range runes {
		switch {
		case !isFold(r):
			out.WriteRune(r)
		case b.folds[foldIndex(r)].image != nil:
			out.WriteString(b.folds[foldIndex(r)].label())
		default:
			out.WriteString(b.folds[foldIndex(r)].text)
		}
	}
	return out.String()
}

// lineFeeds returns pasted text with its line ends converted to line feeds.
func lineFeeds(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}
