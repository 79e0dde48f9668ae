// Package snip leaves steps that the model has marked as stale out of requests. A step is an answer with the
// results of its calls; messages of the user are never left out. It is an experiment. The model marks steps
// with a tool; the stored history stays complete.
package snip

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"adze/internal/msg"
)

const (
	// minGain is how many tokens must be saved before steps are left out unasked: the provider's cache is
	// lost from the first of them on.
	minGain = 5_000
	// recent is how many of the last steps always stay.
	recent = 3
)

// Gone replaces a step that was left out.
const Gone = "[This step was cut out of the conversation.]"

// A When says when marked steps are left out.
type When int

// The two occasions.
const (
	IfWorth When = iota
	Now
)

// An Outcome holds the messages to send.
type Outcome struct {
	Messages []msg.Message
	// Executed says that steps sent before were left out, Freed how many tokens that saves, and First is the
	// first message that is sent otherwise.
	Executed bool
	Freed    int
	First    int
	// Boundary lists all steps that are left out, if there are new ones, for [Snipper.Restore] in a later
	// process.
	Boundary []int
}

// A Snipper leaves steps out of one conversation. It is safe for concurrent use.
type Snipper struct {
	mu     sync.Mutex
	steps  int          // that the model has been shown
	marked map[int]bool // by the model, and still sent
	cut    map[int]bool
	forced bool
	made   map[int]replacement // by message
}

// A replacement is the message sent instead of another. It is kept while the original is unchanged, so that
// encoders recognise it.
type replacement struct {
	from []msg.Part
	cut  bool
	msg.Message
}

// Mark marks steps as stale: all of them, or none if one cannot be marked.
func (s *Snipper) Mark(steps ...int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range steps {
		switch {
		case n < 1 || n > s.steps:
			return fmt.Errorf("there is no step %d; the last one is %d", n, s.steps)
		case n > s.steps-recent:
			return fmt.Errorf("step %d is one of the last %d, which are always kept", n, recent)
		}
	}
	if s.marked == nil {
		s.marked = map[int]bool{}
	}
	for _, n := range steps {
		s.marked[n] = true
	}
	return nil
}

// Force leaves the marked steps out of the next request, and returns how many there are.
func (s *Snipper) Force() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.open())
	s.forced = n > 0
	return n
}

// Restore sets the steps that an earlier process left out.
func (s *Snipper) Restore(steps []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = map[int]bool{}
	for _, n := range steps {
		s.cut[n] = true
	}
}

// Restart resets the snipper for a conversation that starts over. It reports whether anything was left out.
func (s *Snipper) Restart() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.cut) > 0
	s.steps, s.marked, s.cut, s.forced, s.made = 0, nil, nil, false, nil
	return had
}

// Snip returns the messages with the number of each step, which the model uses to name it, and without the
// steps that are left out. Messages alternate and begin with the user, as in a [msg.Conversation].
func (s *Snipper) Snip(messages []msg.Message, size func(...msg.Message) int, when When) Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = (len(messages) - 1) / 2
	out := Outcome{}
	if open := s.open(); len(open) > 0 {
		for _, n := range open {
			out.Freed += size(messages[2*n-1]) + size(results(messages[2*n]))
		}
		out.Executed = when == Now || s.forced || out.Freed >= minGain
		if out.Executed {
			for _, n := range open {
				s.cut[n] = true
			}
			s.marked, s.forced = nil, false
			out.First = 2*open[0] - 1
			out.Boundary = slices.Sorted(maps.Keys(s.cut))
		} else {
			out.Freed = 0
		}
	}
	out.Messages = make([]msg.Message, len(messages))
	for i, m := range messages {
		out.Messages[i] = s.message(i, m)
	}
	return out
}

// open returns the steps that are marked and still sent.
func (s *Snipper) open() []int {
	if s.cut == nil {
		s.cut = map[int]bool{}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.marked)), func(n int) bool { return s.cut[n] || n > s.steps })
}

// message returns the message at a place as it is sent.
func (s *Snipper) message(i int, m msg.Message) msg.Message {
	n := (i + 1) / 2
	if n == 0 || m.Role == msg.Assistant && !s.cut[n] {
		return m
	}
	if old, ok := s.made[i]; ok && old.cut == s.cut[n] && slices.Equal(old.from, m.Parts) {
		return old.Message
	}
	next := msg.Message{Role: m.Role}
	switch {
	case m.Role == msg.Assistant:
		next.Parts = []msg.Part{&msg.Text{Text: Gone}}
	case s.cut[n]:
		if next.Parts = words(m); len(next.Parts) == 0 {
			next.Parts = []msg.Part{&msg.Text{Text: Gone}}
		}
	default:
		next.Parts = append(slices.Clip(m.Parts), &msg.Text{Text: fmt.Sprintf("[step %d]", n)})
	}
	if s.made == nil {
		s.made = map[int]replacement{}
	}
	s.made[i] = replacement{m.Parts, s.cut[n], next}
	return next
}

func isResult(p msg.Part) bool { _, ok := p.(*msg.ToolResult); return ok }

func words(m msg.Message) []msg.Part { return slices.DeleteFunc(slices.Clone(m.Parts), isResult) }

func results(m msg.Message) msg.Message {
	parts := slices.DeleteFunc(slices.Clone(m.Parts), func(p msg.Part) bool { return !isResult(p) })
	return msg.Message{Role: m.Role, Parts: parts}
}
