package edit

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/amount"
)

// What is pasted becomes a fold if it has more lines or characters than these.
const (
	foldLines = 10
	foldChars = 1000
)

// A fold is a long text that was pasted, or a picture. It is shown by its name and is one character to the caret.
type fold struct {
	number int // among those of its kind
	text   string
	image  *Image // nil for a text
}

// label returns what is shown of the fold.
func (f fold) label() string {
	if f.image != nil {
		return f.image.label(f.number)
	}
	if n := strings.Count(strings.TrimSuffix(f.text, "\n"), "\n"); n > 0 {
		return fmt.Sprintf("[Pasted text #%d +%s]", f.number, amount.Of(n+1, "line", "lines"))
	}
	return fmt.Sprintf("[Pasted text #%d +%s]", f.number, amount.Of(utf8.RuneCountInString(f.text), "character", "characters"))
}

// firstFold is the character of the first fold; those that follow have the next ones.
const firstFold = unicode.MaxRune + 1

func isFold(r rune) bool { return r >= firstFold }

func foldIndex(r rune) int { return int(r - firstFold) }

// Other texts that are brought in, such as earlier entries, become one only if they are far longer: they are there to be
// edited.
const (
	hugeLines = 200
	hugeChars = 20_000
)

// pasted returns a text that was pasted as it is inserted: as itself, or as a fold if it is long.
func (b *buffer) pasted(text string) []rune { return b.folded(text, foldLines, foldChars) }

// brought returns another text as it is inserted.
func (b *buffer) brought(text string) []rune { return b.folded(text, hugeLines, hugeChars) }

// folded returns a text, or a fold if it has more lines or characters than it may have.
func (b *buffer) folded(text string, lines, chars int) []rune {
	if strings.Count(text, "\n") < lines && (len(text) <= chars || utf8.RuneCountInString(text) <= chars) {
		return []rune(text)
	}
	return []rune{b.newFold(text)}
}

// newFold returns the character of a new fold.
func (b *buffer) newFold(text string) rune {
	return b.addFold(fold{text: text})
}

// addFold numbers a fold and returns its character.
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

// unfold puts the text of the fold at the caret in its place, and reports whether there is one.
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

// expand returns runes as a text, with that of folds and the names of pictures.
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

// lineFeeds returns a text that was pasted with line feeds at the ends of lines.
func lineFeeds(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}
