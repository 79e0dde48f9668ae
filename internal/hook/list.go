package hook

import (
	"encoding/json"
	"time"
)

// A Listing is a hook's entry for display.
type Listing struct {
	Event   Name
	Matcher string
	If      string
	Type    Type
	Label   string // command, address or prompt
	Source  string
	File    string
	// Idle is the reason it does not run, or empty.
	Idle string
	// Last describes its last run; nil if it has not run.
	Last *Report
	// Slow means that something waited long for it.
	Slow bool
}

// slow is the run time above which a foreground hook counts as slow.
const slow = 2 * time.Second

// A Definition is a hook as defined in a source.
type Definition struct {
	Event   Name
	Matcher string
	JSON    json.RawMessage
}

// Read returns a source's hooks for display, and its problems.
func Read(src Source) ([]Definition, []Problem) {
	specs, problems := parse(&src)
	list := make([]Definition, len(specs))
	for i, s := range specs {
		list[i] = Definition{s.event, s.matcher.text, s.raw}
	}
	return list, problems
}

// List returns all hooks, by event and in order of precedence.
func (r *registry) List() []Listing {
	all := r.hooksOf("")
	var list []Listing
	for _, k := range kinds {
		for _, h := range all {
			if h.event == k.name {
				l := h.listing()
				if l.Idle == "" && r.silent(h) {
					l.Idle = "you switched hooks off"
				}
				list = append(list, l)
			}
		}
	}
	return list
}

func (h *hook) listing() Listing {
	l := Listing{
		Event: h.event, Matcher: h.matcher.text, If: h.cond.text, Type: h.typ, Label: h.label(),
		Source: h.source.Name, File: h.source.File, Idle: h.idle,
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	l.Last = h.last
	l.Slow = h.last != nil && h.last.Duration > slow && !h.async && !h.asyncRewake
	switch {
	case l.Idle != "":
	case h.matcher.never:
		l.Idle = "its matcher cannot be read"
	case h.spent:
		l.Idle = "it was to run once"
	}
	return l
}
