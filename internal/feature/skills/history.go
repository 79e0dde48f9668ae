package skills

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/agent/compact"
	"adze/internal/domain/skill"
)

const (
	// invokedKind is the prefix of the kinds of notes for called skills; a number follows.
	invokedKind = "invoked-skill-"
	// maxInvoked is the number of notes stored, and maxKept the maximum size of each, in bytes.
	maxInvoked = 10
	maxKept    = 40_000
)

// A record is a called skill, restored when the conversation is compacted.
type record struct {
	Slot int    `json:"slot"`
	At   int    `json:"at"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// A history holds the called skills. It is safe for concurrent use.
type history struct {
	cfg *Config

	mu      sync.Mutex
	invoked []record // oldest first
}

// add records a called skill's text.
func (s *history) add(k *skill.Skill, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := record{Name: k.Name, Text: strings.ToValidUTF8(text[:min(len(text), maxKept)], "")}
	if len(s.invoked) > 0 {
		n.At = s.invoked[len(s.invoked)-1].At + 1
	}
	i := slices.IndexFunc(s.invoked, func(x record) bool { return x.Name == k.Name })
	if i < 0 && len(s.invoked) == maxInvoked {
		i = 0
	}
	if n.Slot = len(s.invoked); i >= 0 {
		n.Slot = s.invoked[i].Slot
		s.invoked = slices.Delete(s.invoked, i, i+1)
	}
	s.invoked = append(s.invoked, n)
	s.cfg.note(invokedKind+fmt.Sprint(n.Slot), map[string]any{"slot": n.Slot, "at": n.At, "name": n.Name, "text": n.Text})
}

// note saves a note with the session.
func (c *Config) note(kind string, fields map[string]any) {
	if c.Note != nil {
		c.Note(kind, fields)
	}
}

// restore loads the state saved by an earlier process.
func (s *history) restore() {
	for i := range maxInvoked {
		var n record
		if json.Unmarshal(s.cfg.Last[invokedKind+fmt.Sprint(i)], &n) == nil && n.Name != "" && n.Slot == i {
			s.invoked = append(s.invoked, n)
		}
	}
	slices.SortFunc(s.invoked, func(a, b record) int { return a.At - b.At })
}

// forget clears the history when the conversation starts over.
func (s *history) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.invoked {
		s.cfg.note(invokedKind+fmt.Sprint(n.Slot), map[string]any{"slot": n.Slot})
	}
	s.invoked = nil
}

// sources returns the called skills, most recent first.
func (s *history) sources() (list []compact.Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range slices.Backward(s.invoked) {
		list = append(list, compact.Source{Name: n.Name, Text: func() (string, bool) { return n.Text, true }})
	}
	return list
}
