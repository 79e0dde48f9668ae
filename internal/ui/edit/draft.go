package edit

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"adze/internal/msg"
)

// A Draft is unsent input. Its folds are preserved.
type Draft struct {
	Pieces []Piece `json:"pieces"`
	// Caret is the number of characters before the caret; a fold counts as one.
	Caret int `json:"caret"`
}

// A Piece is a part of a draft: typed text, folded text, or an image.
type Piece struct {
	Text  string `json:"text,omitempty"`
	Fold  string `json:"fold,omitempty"`
	Image *Image `json:"image,omitempty"`
}

// DraftOf returns a text as a draft. Spans of it that the user pasted are folds; invalid ones are
// ignored.
func DraftOf(text string, pasted []msg.Span) *Draft {
	d := &Draft{}
	at := 0
	for _, s := range pasted {
		if s.From < at || s.To <= s.From || s.To > len(text) || !utf8.ValidString(text[s.From:s.To]) {
			continue
		}
		if s.From > at {
			d.Pieces = append(d.Pieces, Piece{Text: text[at:s.From]})
		}
		d.Pieces = append(d.Pieces, Piece{Fold: text[s.From:s.To]})
		at = s.To
	}
	if at < len(text) {
		d.Pieces = append(d.Pieces, Piece{Text: text[at:]})
	}
	return d
}

// Pasted returns the spans of the text that are folds.
func (d *Draft) Pasted() []msg.Span {
	var spans []msg.Span
	at, images := 0, 0
	for _, p := range d.Pieces {
		if p.Image != nil {
			images++
			at += len(p.Image.label(images))
		}
		at += len(p.Text)
		if p.Fold != "" {
			spans = append(spans, msg.Span{From: at, To: at + len(p.Fold)})
		}
		at += len(p.Fold)
	}
	return spans
}

// Text returns the full text, with images replaced by their labels.
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

// Brief returns the text with folds and images replaced by their labels.
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

// Join concatenates drafts, each on its own lines, with the caret at the end. Empty drafts are
// skipped.
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

// Draft returns the field's content.
func (b *buffer) Draft() *Draft {
	return b.draft(b.slice(pos{}, b.end()), len(b.slice(pos{}, b.caret)))
}

// draft returns runes as a draft, with the caret after the first caret runes.
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

// runesOf returns a draft's content as runes.
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

// PutBack replaces the field's content with a draft. It can be undone.
func (b *buffer) PutBack(d *Draft) {
	runes := b.runesOf(d)
	b.set(runes)
	b.caret = b.snap(advance(pos{}, runes[:min(max(0, d.Caret), len(runes))]))
}

// swapStash stashes the text and restores the previously stashed text, or the text covered by a
// history entry.
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

// Unstash moves the stashed text into the field if the field is empty.
func (f *Field) Unstash() {
	if f.stash != nil && f.empty() {
		f.swapStash()
	}
}

// DropStash discards the stashed text.
func (f *Field) DropStash() { f.stash = nil }

// Stashed returns the stashed text, or "".
func (f *Field) Stashed() string {
	if f.stash == nil {
		return ""
	}
	return f.stash.Text()
}

// saved is the file format of a field.
type saved struct {
	Draft *Draft `json:"draft,omitempty"`
	Stash *Draft `json:"stash,omitempty"`
}

// Save encodes the typed and stashed text for [Field.Load], preceded by other drafts. It
// returns nil if there is nothing to save.
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
		return nil // texts can always be encoded
	}
	return data
}

// typedIn returns the field's content, including text covered by a history entry. An unmodified
// entry is omitted because it is still in the history.
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

// Load restores saved content into an empty field.
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
