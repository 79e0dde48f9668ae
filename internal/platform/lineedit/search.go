package lineedit

import "strings"

// A search looks for an earlier entry, from the last one back.
type search struct {
	wanted string
	at     int    // the entry that was found, or where the search begins
	found  bool   // something was found; otherwise the last find stays
	before string // what was typed before
	pos    int
}

// searchKey takes a key during a search. Done says that the key has been dealt with; any other key ends the search and
// edits what was found.
func (e *Editor) searchKey(k Key) (ev Event, done bool) {
	s := e.search
	switch k.Code {
	case Rune:
		s.wanted += k.Text
		e.find(min(s.at, len(e.History)-1))
	case Backspace:
		if r := []rune(s.wanted); len(r) > 0 {
			s.wanted = string(r[:len(r)-1])
		}
		e.find(len(e.History) - 1)
	case Search, Up:
		e.find(s.at - 1)
	case Escape, Tab:
		e.search = nil // what was found stays
	case Interrupt, Abandon:
		e.text, e.pos, e.search = []rune(s.before), s.pos, nil
	default:
		e.search = nil
		return None, false
	}
	return None, true
}

// find looks for an entry with the wanted text, from the given one back.
func (e *Editor) find(from int) {
	s := e.search
	if s.wanted == "" {
		e.text, e.pos, s.at, s.found = []rune(s.before), s.pos, len(e.History), false
		return
	}
	for i := from; i >= 0; i-- {
		at := strings.Index(strings.ToLower(e.History[i]), strings.ToLower(s.wanted))
		if at < 0 {
			continue
		}
		if i != s.at && string(e.text) == e.History[i] && s.found {
			continue // the same again
		}
		s.at, s.found = i, true
		e.replace(e.History[i])
		return
	}
	s.found = false
}

// prompt returns the prompt of a search.
func (s *search) prompt() string {
	if !s.found && s.wanted != "" {
		return "no earlier entry with \"" + s.wanted + "\": "
	}
	return "earlier entry with \"" + s.wanted + "\": "
}
