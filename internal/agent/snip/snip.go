// Package snip omits steps that the model has marked as stale from requests. A step is an
// answer with the results of its calls; user messages are never omitted, and the stored history
// stays complete. It is experimental.
package snip

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"adze/internal/msg"
)

const (
	// minGain is the minimum number of tokens saved before steps are omitted automatically: the
	// provider's cache is lost from the first omitted step on.
	minGain = 5_000
	// recent is the number of trailing steps that are always kept.
	recent = 3
)

// Gone replaces an omitted step.
const Gone = "[This step was cut out of the conversation.]"

// A When determines when marked steps are omitted.
type When int

// The possible values.
const (
	IfWorth When = iota
	Now
)

// An Outcome holds the messages to send.
type Outcome struct {
	Messages []msg.Message
	// Executed is true if steps sent before were omitted. Freed is the number of tokens saved,
	// and First the index of the first message that changes.
	Executed bool
	Freed    int
	First    int
	// Boundary lists all omitted steps if there are new ones, for [Snipper.Restore] in a later
	// process.
	Boundary []int
}

// A Snipper omits steps from one conversation. It is safe for concurrent use.
type Snipper struct {
	mu     sync.Mutex
	steps  int          // steps the model has seen
	marked map[int]bool // marked by the model but still sent
	cut    map[int]bool
	forced bool
	made   map[int]replacement // keyed by message index
}

// A replacement is a message sent instead of another. It is kept while the original is
// unchanged, so that encoders recognize it.
type replacement struct {
	from []msg.Part
	cut  bool
	msg.Message
}

// Mark marks steps as stale. If any step cannot be marked, none is.
func (s *Snipper) Mark(steps ...int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range steps {
		switch {
		case n < 1 || n > s.steps:
			return fmt.Errorf("no step %d; the last step is %d", n, s.steps)
		case n > s.steps-recent:
			return fmt.Errorf("step %d can't be removed: the last %d steps are always kept", n, recent)
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

// Force omits the marked steps from the next request and returns their number.
func (s *Snipper) Force() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.open())
	s.forced = n > 0
	return n
}

// Restore sets the steps that an earlier process omitted.
func (s *Snipper) Restore(steps []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = map[int]bool{}
	for _, n := range steps {
		s.cut[n] = true
	}
}

// Restart resets the snipper for a conversation that starts over. It reports whether any steps
// were omitted.
func (s *Snipper) Restart() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.cut) > 0
	s.steps, s.marked, s.cut, s.forced, s.made = 0, nil, nil, false, nil
	return had
}

// Snip returns the messages without the omitted steps. Each step is annotated with its number,
// which the model uses to refer to it. Messages alternate and begin with the user, as in a
// [msg.Conversation].
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

// open returns the steps that are marked but still sent.
func (s *Snipper) open() []int {
	if s.cut == nil {
		s.cut = map[int]bool{}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.marked)), func(n int) bool { return s.cut[n] || n > s.steps })
}

// message returns message i as it is sent.
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
