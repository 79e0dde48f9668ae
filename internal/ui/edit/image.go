package edit

import (
	"fmt"
	"slices"
	"strings"
)

// An Image is a picture in a text, where it takes the place of one character.
type Image struct {
	MediaType string `json:"type"`
	// Width and Height are those of the picture as it was attached, in pixels.
	Width  int `json:"width"`
	Height int `json:"height"`
	// Path is the file that holds the picture, and Data the picture itself if there is none.
	Path string `json:"path,omitempty"`
	Data []byte `json:"-"`
}

// label returns the name by which a picture is shown, and by which the text refers to it.
func (i *Image) label(number int) string {
	return fmt.Sprintf("[Image #%d %dx%d]", number, i.Width, i.Height)
}

// Attach inserts a picture at the caret.
func (b *buffer) Attach(image Image) {
	b.change(b.caret, b.caret, []rune{b.addFold(fold{image: &image})}, apart)
}

// AttachFor puts a picture in the place of a text that names it, where that was inserted last. It reports false if the
// text is not there any more.
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

// swap puts a character in the place of what stands between two places. The caret stays where it is in the text.
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

// Images returns the pictures in the text, in their order.
func (b *buffer) Images() []Image {
	var images []Image
	for _, r := range b.slice(pos{}, b.end()) {
		if isFold(r) && b.folds[foldIndex(r)].image != nil {
			images = append(images, *b.folds[foldIndex(r)].image)
		}
	}
	return images
}

// Revise makes text what the field holds, which the user made of [Field.Text] elsewhere. A picture stays where its name
// is. It can be undone.
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

// An album holds the entries of a history that have pictures, so that they have them again when they are called back.
type album map[string]*Draft

// keep notes which pictures a text has.
func (a *album) keep(text string, d *Draft) {
	if !slices.ContainsFunc(d.Pieces, func(p Piece) bool { return p.Image != nil }) {
		return
	}
	if *a == nil {
		*a = album{}
	}
	(*a)[text] = d
}

// entry returns an entry of the history as it is inserted.
func (a album) entry(b *buffer, text string) []rune {
	if d := a[text]; d != nil {
		return b.runesOf(d)
	}
	return b.brought(text)
}
