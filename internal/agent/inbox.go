package agent

import (
	"fmt"
	"slices"
	"sync"

	"adze/internal/msg"
)

// maxNotifications is the number of queued notifications beyond which the oldest are merged
// into a count.
const maxNotifications = 100

// An Inbox queues user messages and task and hook notifications that arrive during a turn,
// until the loop adds them to the conversation. The zero value is ready; it is safe for
// concurrent use.
type Inbox struct {
	// News, if non-nil, returns additional notifications when the inbox is emptied. It is set
	// before the inbox is used. News alone does not continue a turn.
	News func() []string

	mu     sync.Mutex
	said   []msg.Part
	notes  []msg.Part
	merged int
	steer  chan struct{}
}

// Say queues a user message. It is never dropped.
func (in *Inbox) Say(parts ...msg.Part) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.said = append(in.said, parts...)
}

// Steer is like Say, but ends running calls that only wait. Calls that do any work continue.
func (in *Inbox) Steer(parts ...msg.Part) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.said = append(in.said, parts...)
	select {
	case in.steering() <- struct{}{}:
	default:
	}
}

// Retract withdraws parts queued by Say or Steer. It returns false if the loop already has
// them.
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

// Notify queues a notification. If too many are queued, the oldest are merged into one line.
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

// Take empties the inbox. It returns the user messages, then the notifications, each in order
// of arrival, then the news.
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

// Return puts back parts from Take that were not delivered to the model. They are delivered
// with the next Take.
func (in *Inbox) Return(parts ...msg.Part) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.notes = slices.Concat(parts, in.notes)
}

// Waiting reports whether a user message is queued.
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

// empty reports whether nothing is queued. A nil inbox is empty.
func (in *Inbox) empty() bool { return in == nil || !in.Waiting() && !in.Noted() }

// steered is signaled by Steer. A nil inbox never signals.
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
