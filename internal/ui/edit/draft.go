package edit

import (
	"encoding/json"
	"fmt"
)

// A Draft is what was typed and not sent. Its folds stay what they are.
type Draft struct {
	Pieces []Piece `json:"pieces"`
	// Caret is how many characters stand before the caret; a fold is one.
	Caret int `json:"caret"`
}

// A Piece is a part of a draft: a text as it was typed, or one that is folded.
type Piece struct {
	Text string `json:"text,omitempty"`
	Fold string `json:"fold,omitempty"`
}

// Text returns the whole text.
func (d *Draft) Text() string {
	text := ""
	for _, p := range d.Pieces {
		text += p.Text + p.Fold
	}
	return text
}

// draft returns what the field holds.
func (b *buffer) draft() *Draft {
	d := &Draft{Caret: len(b.slice(pos{}, b.caret))}
	var typed []rune
	flush := func() {
		if len(typed) > 0 {
			d.Pieces = append(d.Pieces, Piece{Text: string(typed)})
		}
		typed = nil
	}
	for _, r := range b.slice(pos{}, b.end()) {
		if !isFold(r) {
			typed = append(typed, r)
			continue
		}
		flush()
		d.Pieces = append(d.Pieces, Piece{Fold: b.folds[foldIndex(r)].text})
	}
	flush()
	return d
}

// putBack makes a draft what the field holds.
func (b *buffer) putBack(d *Draft) {
	var runes []rune
	for _, p := range d.Pieces {
		runes = append(runes, []rune(p.Text)...)
		if p.Fold != "" {
			runes = append(runes, b.newFold(p.Fold))
		}
	}
	b.set(runes)
	b.caret = b.snap(advance(pos{}, runes[:min(max(0, d.Caret), len(runes))]))
}

// swapStash puts the text aside, and takes back what was put aside before.
func (f *Field) swapStash() {
	was := f.stash
	f.stash = nil
	if !f.empty() {
		f.stash = f.draft()
	}
	f.Clear()
	if was != nil {
		f.putBack(was)
	}
}

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

// Save returns what is typed and put aside, so that [Field.Load] brings it back. It returns nil if there is nothing.
func (f *Field) Save() []byte {
	if f.empty() && f.stash == nil {
		return nil
	}
	s := saved{Stash: f.stash}
	if !f.empty() {
		s.Draft = f.draft()
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil // texts can always be written
	}
	return data
}

// Load brings back what was saved, in an empty field.
func (f *Field) Load(data []byte) error {
	var s saved
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("reading a draft: %w", err)
	}
	f.Clear()
	if s.Draft != nil {
		f.putBack(s.Draft)
		f.changes = changes{}
	}
	f.stash = s.Stash
	return nil
}
