package edit

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// A Draft is what was typed and not sent. Its folds stay what they are.
type Draft struct {
	Pieces []Piece `json:"pieces"`
	// Caret is how many characters stand before the caret; a fold is one.
	Caret int `json:"caret"`
}

// A Piece is a part of a draft: a text as it was typed, one that is folded, or a picture.
type Piece struct {
	Text  string `json:"text,omitempty"`
	Fold  string `json:"fold,omitempty"`
	Image *Image `json:"image,omitempty"`
}

// Text returns the whole text, with the names of pictures.
func (d *Draft) Text() string {
	text, images := "", 0
	for _, p := range d.Pieces {
		if p.Image != nil {
			images++
			text += p.Image.label(images)
		}
		text += p.Text + p.Fold
	}
	return text
}

// Brief returns the text with the names of folds and pictures, for a glance.
func (d *Draft) Brief() string {
	text, texts, images := "", 0, 0
	for _, p := range d.Pieces {
		switch {
		case p.Image != nil:
			images++
			text += p.Image.label(images)
		case p.Fold != "":
			texts++
			text += fold{number: texts, text: p.Fold}.label()
		default:
			text += p.Text
		}
	}
	return text
}

// Join returns one draft of several, each on lines of its own, with the caret at the end. Those that are empty are left out.
func Join(drafts ...*Draft) *Draft {
	all := &Draft{}
	for _, d := range drafts {
		if len(d.Pieces) == 0 {
			continue
		}
		if len(all.Pieces) > 0 {
			all.Pieces = append(all.Pieces, Piece{Text: "\n"})
		}
		all.Pieces = append(all.Pieces, d.Pieces...)
	}
	for _, p := range all.Pieces {
		if p.Text != "" {
			all.Caret += utf8.RuneCountInString(p.Text)
		} else {
			all.Caret++
		}
	}
	return all
}

// Draft returns what the field holds.
func (b *buffer) Draft() *Draft {
	return b.draft(b.slice(pos{}, b.end()), len(b.slice(pos{}, b.caret)))
}

// draft returns runes as a draft, with the caret after so many of them.
func (b *buffer) draft(runes []rune, caret int) *Draft {
	d := &Draft{Caret: caret}
	var typed []rune
	flush := func() {
		if len(typed) > 0 {
			d.Pieces = append(d.Pieces, Piece{Text: string(typed)})
		}
		typed = nil
	}
	for _, r := range runes {
		if !isFold(r) {
			typed = append(typed, r)
			continue
		}
		flush()
		fold := b.folds[foldIndex(r)]
		d.Pieces = append(d.Pieces, Piece{Fold: fold.text, Image: fold.image})
	}
	flush()
	return d
}

// runesOf returns what a draft holds.
func (b *buffer) runesOf(d *Draft) []rune {
	var runes []rune
	for _, p := range d.Pieces {
		runes = append(runes, []rune(p.Text)...)
		if p.Fold != "" {
			runes = append(runes, b.newFold(p.Fold))
		}
		if p.Image != nil {
			runes = append(runes, b.addFold(fold{image: p.Image}))
		}
	}
	return runes
}

// PutBack makes a draft what the field holds. It can be undone.
func (b *buffer) PutBack(d *Draft) {
	runes := b.runesOf(d)
	b.set(runes)
	b.caret = b.snap(advance(pos{}, runes[:min(max(0, d.Caret), len(runes))]))
}

// swapStash puts the text aside, and takes back what was put aside before, or what an earlier entry has covered.
func (f *Field) swapStash() {
	was, covered := f.stash, f.Covered()
	f.stash = nil
	if !f.empty() {
		f.stash = f.Draft()
	}
	f.Clear()
	switch {
	case was != nil && covered != nil:
		f.PutBack(Join(covered, was))
	case covered != nil:
		f.PutBack(covered)
	case was != nil:
		f.PutBack(was)
	}
}

// Unstash moves the text that is put aside into the field, if the field is empty.
func (f *Field) Unstash() {
	if f.stash != nil && f.empty() {
		f.swapStash()
	}
}

// DropStash forgets the text that is put aside.
func (f *Field) DropStash() { f.stash = nil }

// Stashed returns the text that is put aside, or "".
func (f *Field) Stashed() string {
	if f.stash == nil {
		return ""
	}
	return f.stash.Text()
}

// saved is how a field is kept in a file.
type saved struct {
	Draft *Draft `json:"draft,omitempty"`
	Stash *Draft `json:"stash,omitempty"`
}

// Save returns what is typed and put aside, so that [Field.Load] brings it back, with other drafts before it. It returns nil
// if there is nothing.
func (f *Field) Save(before ...*Draft) []byte {
	s := saved{Stash: f.stash}
	typed := typedIn(f)
	if len(before) > 0 {
		s.Draft = Join(append(before, typed)...)
	} else if len(typed.Pieces) > 0 {
		s.Draft = typed
	}
	if s.Draft == nil && s.Stash == nil {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil // texts can always be written
	}
	return data
}

// typedIn returns what a field holds, with what an earlier entry has covered. An entry that is as it was is still in the
// history.
func typedIn(f *Field) *Draft {
	covered := f.Covered()
	switch past := f.recall.past; {
	case covered == nil:
		return f.Draft()
	case f.search != nil, f.Text() == f.History[len(f.History)-past]:
		return covered
	}
	return Join(covered, f.Draft())
}

// Load brings back what was saved, in an empty field.
func (f *Field) Load(data []byte) error {
	var s saved
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("reading a draft: %w", err)
	}
	f.Clear()
	if s.Draft != nil {
		f.PutBack(s.Draft)
		f.changes = changes{}
	}
	f.stash = s.Stash
	return nil
}
