package edit

import (
	"strings"

	"adze/internal/ui/keys"
)

// A recall is the position while browsing the history.
type recall struct {
	past  int    // number of entries back
	typed []rune // the field's content before browsing
}

// earlier goes back in the history by the given number of entries, or forward if it is
// negative.
func (f *Field) earlier(steps int) {
	past := f.recall.past + steps
	if past < 0 || past > len(f.History) {
		return
	}
	if f.recall.past == 0 {
		f.recall.typed = f.slice(pos{}, f.end())
	}
	runes := f.recall.typed
	if past > 0 {
		runes = f.album.entry(&f.buffer, f.History[len(f.History)-past])
	}
	f.set(runes)
	f.recall.past = past
}

// Covered returns the text a history entry replaced, or nil.
func (f *Field) Covered() *Draft {
	typed := f.recall.typed
	switch {
	case f.recall.past > 0:
	case f.search != nil:
		typed = f.search.before
	default:
		return nil
	}
	if len(typed) == 0 {
		return nil
	}
	return f.draft(typed, len(typed))
}

// Remember adds an entry to the history, unless it equals the last one.
func (f *Field) Remember(text string) {
	if n := len(f.History); n == 0 || f.History[n-1] != text {
		f.History = append(f.History, text)
	}
}

// A search looks for an earlier entry, from the last one back.
type search struct {
	wanted string
	at     int    // the entry that was found, or where the search begins
	found  bool   // there is a match; otherwise the previous match stays
	before []rune // the field's content before the search
	caret  pos
}

// searchKey handles a key during a search and reports whether it consumed the key. Any other
// key ends the search and edits the match.
func (f *Field) searchKey(ev keys.Event, action keys.Action) bool {
	s := f.search
	switch {
	case action == "" && ev.Kind == keys.Press && ev.Text != "":
		s.wanted += ev.Text
		f.find(min(s.at, len(f.History)-1))
	case action == keys.Backspace:
		if r := []rune(s.wanted); len(r) > 0 {
			s.wanted = string(r[:len(r)-1])
		}
		f.find(len(f.History) - 1)
	case action == keys.SearchNext:
		f.find(s.at - 1)
	case action == keys.SearchAccept:
		s.accept(f)
	case action == keys.SearchCancel:
		f.restore(s)
		f.search = nil
	case action == "" && ev.Kind != keys.Paste:
	default:
		s.accept(f)
		return false
	}
	return true
}

// accept ends the search and keeps the match. Browsing the history continues from there.
func (s *search) accept(f *Field) {
	f.search = nil
	if s.at >= len(f.History) || f.Text() != f.History[s.at] {
		return
	}
	if f.recall.past == 0 {
		f.recall.typed = s.before
	}
	f.recall.past = len(f.History) - s.at
}

// restore restores the content from before a search.
func (f *Field) restore(s *search) {
	f.set(s.before)
	f.caret = s.caret
}

// find searches for an entry with the wanted text, from the given one back.
func (f *Field) find(from int) {
	s := f.search
	if s.wanted == "" {
		f.restore(s)
		s.at, s.found = len(f.History), false
		return
	}
	for i := from; i >= 0; i-- {
		if !strings.Contains(strings.ToLower(f.History[i]), strings.ToLower(s.wanted)) {
			continue
		}
		if i != s.at && s.found && f.Text() == f.History[i] {
			continue // a duplicate
		}
		s.at, s.found = i, true
		f.set(f.album.entry(&f.buffer, f.History[i]))
		return
	}
	s.found = false
}

// Searching returns the search text and whether it was found. On reports whether a search is
// active.
func (s *sheet) Searching() (wanted string, found, on bool) {
	if s.search == nil {
		return "", false, false
	}
	return s.search.wanted, s.search.found || s.search.wanted == "", true
}

// prompt returns the prompt of a search.
func (s *search) prompt() string {
	if !s.found && s.wanted != "" {
		return "no earlier entry with \"" + s.wanted + "\": "
	}
	return "earlier entry with \"" + s.wanted + "\": "
}
