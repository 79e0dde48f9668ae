package hook

import (
	"encoding/json"
	"time"
)

// A Listing is a hook as users see it.
type Listing struct {
	Event   Name
	Matcher string
	If      string
	Type    Type
	Label   string // the command, address or prompt
	Source  string
	File    string
	// Idle says why it does not run, or is empty.
	Idle string
	// Last is how it ended last, nil if it has not run.
	Last *Report
	// Slow says that others waited long for it.
	Slow bool
}

// slow is how long a hook may take that others wait for.
const slow = 2 * time.Second

// A Definition is a hook as a source has it.
type Definition struct {
	Event   Name
	Matcher string
	JSON    json.RawMessage
}

// Read returns the hooks that a source defines, to be shown, and what is wrong with it.
func Read(src Source) ([]Definition, []Problem) {
	specs, problems := parse(&src)
	list := make([]Definition, len(specs))
	for i, s := range specs {
		list[i] = Definition{s.event, s.matcher.text, s.raw}
	}
	return list, problems
}

// List returns all hooks, by event and in the order in which they count.
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
