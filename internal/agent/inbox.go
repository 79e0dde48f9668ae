package agent

import (
	"fmt"
	"slices"
	"sync"

	"adze/internal/msg"
)

// maxNotifications is how many notifications wait before the oldest are merged into a count.
const maxNotifications = 100

// An Inbox holds messages of the user and notifications of tasks and hooks that arrive while a turn runs, until
// the loop adds them to the conversation. The zero value is ready; it is safe for concurrent use.
type Inbox struct {
	// News returns what else there is to tell when the inbox is emptied. It may be nil, and is set before the inbox is
	// used. A turn does not go on for its sake.
	News func() []string

	mu     sync.Mutex
	said   []msg.Part
	notes  []msg.Part
	merged int
	steer  chan struct{}
}

// Say queues a message of the user. It is never dropped.
func (in *Inbox) Say(parts ...msg.Part) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.said = append(in.said, parts...)
}

// Steer is like Say, but ends running calls that only wait. Nothing that does something is ended by it.
func (in *Inbox) Steer(parts ...msg.Part) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.said = append(in.said, parts...)
	select {
	case in.steering() <- struct{}{}:
	default:
	}
}

// Retract takes parts back that were queued by Say or Steer. It reports false if the loop has them already.
func (in *Inbox) Retract(parts ...msg.Part) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	mine := func(p msg.Part) bool { return slices.Contains(parts, p) }
	if !slices.ContainsFunc(in.said, mine) {
		return false
	}
	in.said = slices.DeleteFunc(in.said, mine)
	return true
}

// Notify queues a notification. When too many wait, the oldest are merged into one line.
func (in *Inbox) Notify(text string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.notes = append(in.notes, msg.Reminder(text))
	if n := len(in.said) + len(in.notes); n > maxNotifications {
		drop := min(n-maxNotifications, len(in.notes))
		in.notes = in.notes[drop:]
		in.merged += drop
	}
}

// Take empties the inbox: it returns the messages of the user, then the notifications, each in order of
// arrival, then the news.
func (in *Inbox) Take() []msg.Part {
	if in == nil {
		return nil
	}
	parts := in.take()
	if in.News != nil {
		for _, text := range in.News() {
			parts = append(parts, msg.Reminder(text))
		}
	}
	return parts
}

func (in *Inbox) take() []msg.Part {
	in.mu.Lock()
	defer in.mu.Unlock()
	parts := in.said
	if in.merged > 0 {
		parts = append(parts, msg.Reminder(fmt.Sprintf("%d earlier notifications were left out.", in.merged)))
	}
	parts = append(parts, in.notes...)
	in.said, in.notes, in.merged = nil, nil, 0
	select {
	case <-in.steering():
	default:
	}
	return parts
}

// Return puts back what Take returned and the model was not told. It is told with what comes next.
func (in *Inbox) Return(parts ...msg.Part) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.notes = slices.Concat(parts, in.notes)
}

// Waiting reports whether a message of the user is queued.
func (in *Inbox) Waiting() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.said) > 0
}

// Noted reports whether a notification is queued.
func (in *Inbox) Noted() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.notes)+in.merged > 0
}

// empty reports whether nothing waits. A nil inbox is empty.
func (in *Inbox) empty() bool { return in == nil || !in.Waiting() && !in.Noted() }

// steered is signalled by Steer. A nil inbox never signals.
func (in *Inbox) steered() <-chan struct{} {
	if in == nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.steering()
}

func (in *Inbox) steering() chan struct{} {
	if in.steer == nil {
		in.steer = make(chan struct{}, 1)
	}
	return in.steer
}
