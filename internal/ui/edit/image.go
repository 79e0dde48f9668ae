package edit

import (
	"fmt"
	"slices"
	"strings"
)

// An Image is an image in a text, where it takes the place of one character.
type Image struct {
	MediaType string `json:"type"`
	// Width and Height are the dimensions of the attached image, in pixels.
	Width  int `json:"width"`
	Height int `json:"height"`
	// Path is the file that contains the image. If it is empty, Data holds the image itself.
	Path string `json:"path,omitempty"`
	Data []byte `json:"-"`
}

// label returns the text that represents an image.
func (i *Image) label(number int) string {
	return fmt.Sprintf("[Image #%d %dx%d]", number, i.Width, i.Height)
}

// Attach inserts an image at the caret.
func (b *buffer) Attach(image Image) {
	b.change(b.caret, b.caret, []rune{b.addFold(fold{image: &image})}, apart)
}

// AttachFor replaces the last occurrence of text, which names an image, with the image. It
// reports false if the text is gone.
func (b *buffer) AttachFor(text string, image Image) bool {
	wanted := []rune(text)
	for n := len(b.lines) - 1; n >= 0 && len(wanted) > 0; n-- {
		runes := b.lines[n].runes
		for col := len(runes) - len(wanted); col >= 0; col-- {
			if !slices.Equal(runes[col:col+len(wanted)], wanted) {
				continue
			}
			b.swap(pos{n, col}, pos{n, col + len(wanted)}, b.addFold(fold{image: &image}))
			return true
		}
	}
	return false
}

// swap replaces the text between two positions with one rune. The caret keeps its position in
// the text.
func (b *buffer) swap(from, to pos, r rune) {
	at := b.caret
	b.change(from, to, []rune{r}, apart)
	switch {
	case at.line != from.line || !from.before(at):
		b.caret = at
	case to.before(at):
		b.caret = pos{at.line, at.col - (to.col - from.col) + 1}
	}
}

// Images returns the images in the text, in order.
func (b *buffer) Images() []Image {
	var images []Image
	for _, r := range b.slice(pos{}, b.end()) {
		if isFold(r) && b.folds[foldIndex(r)].image != nil {
			images = append(images, *b.folds[foldIndex(r)].image)
		}
	}
	return images
}

// Revise replaces the field's content with text, which the user derived from [Field.Text]
// elsewhere, such as in an editor. An image stays where its label is. It can be undone.
func (b *buffer) Revise(text string) {
	var pictures []rune
	for _, r := range b.slice(pos{}, b.end()) {
		if isFold(r) && b.folds[foldIndex(r)].image != nil {
			pictures = append(pictures, r)
		}
	}
	var runes []rune
	for {
		at, next := len(text), -1
		for i, r := range pictures {
			if found := strings.Index(text, b.folds[foldIndex(r)].label()); found >= 0 && found < at {
				at, next = found, i
			}
		}
		runes = append(runes, b.brought(text[:at])...)
		if next < 0 {
			b.set(runes)
			return
		}
		r := pictures[next]
		runes, pictures = append(runes, r), slices.Delete(pictures, next, next+1)
		text = text[at+len(b.folds[foldIndex(r)].label()):]
	}
}

// An imageHistory maps history entries with images to their drafts, so that recalled entries have
// their images.
type imageHistory map[string]*Draft

// keep records the images of a text.
func (a *imageHistory) keep(text string, d *Draft) {
	if !slices.ContainsFunc(d.Pieces, func(p Piece) bool { return p.Image != nil }) {
		return
	}
	if *a == nil {
		*a = imageHistory{}
	}
	(*a)[text] = d
}

// entry returns the runes to insert for a history entry.
func (a imageHistory) entry(b *buffer, text string) []rune {
	if d := a[text]; d != nil {
		return b.runesOf(d)
	}
	return b.brought(text)
}
