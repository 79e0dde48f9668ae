// Package snip leaves steps out of what is sent that the model itself has called stale. A step is an
// answer with the results of its calls; what the user said is never left out. It is an experiment.
// The model names stale steps through a tool; what is stored stays whole.
package snip

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"adze/internal/msg"
)

const (
	// minGain is what has to be saved before steps are left out unasked, in tokens: the provider has to
	// read again everything behind the first of them.
	minGain = 5_000
	// recent is how many of the last steps always stay.
	recent = 3
)

// Gone stands for what was left out. It is the same everywhere, so that nothing before it changes.
const Gone = "[This step was cut out of the conversation.]"

// A When says how urgent it is to leave out what was marked.
type When int

// The two occasions.
const (
	IfWorth When = iota
	Now
)

// An Outcome is what is sent instead of the messages.
type Outcome struct {
	Messages []msg.Message
	// Executed says that steps were left out that were sent before, Freed how many tokens that saves.
	Executed bool
	Freed    int
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
	made   map[int]made // by message
}

// A made message is sent instead of another, as long as that one stays as it is: encoders know it again.
type made struct {
	from []msg.Part
	cut  bool
	msg.Message
}

// Mark takes the model's word that steps are stale. Either all of them are marked or none.
func (s *Snipper) Mark(steps ...int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range steps {
		switch {
		case n < 1 || n > s.steps:
			return fmt.Errorf("there is no step %d; the last one is %d", n, s.steps)
		case n > s.steps-recent:
			return fmt.Errorf("step %d is one of the last %d, which stay", n, recent)
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

// Force leaves out what is marked with the next request, and returns how many steps that are.
func (s *Snipper) Force() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.open())
	s.forced = n > 0
	return n
}

// Restore takes over what an earlier process left out.
func (s *Snipper) Restore(steps []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = map[int]bool{}
	for _, n := range steps {
		s.cut[n] = true
	}
}

// Restart says that the conversation starts over. It reports whether anything had been left out.
func (s *Snipper) Restart() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.cut) > 0
	s.steps, s.marked, s.cut, s.forced, s.made = 0, nil, nil, false, nil
	return had
}

// Snip returns the messages with the number of each step, by which the model can name it, and without
// what is left out. Messages alternate and begin with the user, as in a [msg.Conversation].
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
		s.made = map[int]made{}
	}
	s.made[i] = made{m.Parts, s.cut[n], next}
	return next
}

func isResult(p msg.Part) bool { _, ok := p.(*msg.ToolResult); return ok }

func words(m msg.Message) []msg.Part { return slices.DeleteFunc(slices.Clone(m.Parts), isResult) }

func results(m msg.Message) msg.Message {
	parts := slices.DeleteFunc(slices.Clone(m.Parts), func(p msg.Part) bool { return !isResult(p) })
	return msg.Message{Role: m.Role, Parts: parts}
}
