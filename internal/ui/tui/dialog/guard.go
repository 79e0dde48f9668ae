package dialog

import (
	"time"

	"adze/internal/ui/keys"
)

const (
	// pause is how long nothing must have been typed before a question accepts keys without
	// activation.
	pause = time.Second
	// sight is how long a question must have been visible before a key can be meant for it.
	sight = 350 * time.Millisecond
)

// A Guard keeps keys meant for the composer from answering a question. A question waits while
// the user types, and is active once it accepts keys. All times are when keys were read and
// frames were written.
type Guard struct {
	active bool
	last   time.Time // time of the last key
	shown  time.Time // time the question was first visible as active; zero if it was not yet
}

// A Target is the destination of a key.
type Target uint8

// The targets.
const (
	Composer Target = iota
	Question
	Activation // the key activates the question, and is consumed
)

// Pressed reports whether events read together are pressed keys, and not text pasted without
// marks: a single event, or keys of which none types text and the first cannot be part of a
// text. A slow connection delivers several keys at a time.
func Pressed(events []keys.Event) bool {
	if len(events) == 1 {
		return true
	}
	for i, ev := range events {
		name := ev.Key.Name
		if ev.Kind != keys.Press || ev.Text != "" || i == 0 && (name == "enter" || name == "tab" || name == "backspace") || len(name) == 1 {
			return false
		}
	}
	return len(events) > 0
}

// NewGuard returns the guard of a question that opens. Last is the time of the last key, and
// typed is true if the composer holds text.
func NewGuard(now, last time.Time, typed bool) Guard {
	return Guard{last: last, active: !typed && now.Sub(last) >= pause}
}

// Active reports whether the question accepts keys.
func (g *Guard) Active() bool { return g.active }

// Target returns the target of an event. Alone is true if nothing else was read with it. Tab is
// true if it is the key that activates a question.
func (g *Guard) Target(ev keys.Event, alone, tab bool) Target {
	if ev.Kind == keys.FocusIn {
		g.Disturb()
	}
	if ev.Kind != keys.Press && ev.Kind != keys.Paste {
		return Composer
	}
	g.last = ev.At
	switch {
	case tab && alone && ev.Kind == keys.Press && g.active:
		return Activation
	case tab && alone && ev.Kind == keys.Press:
		g.active, g.shown = true, time.Time{}
		return Activation
	case !g.active:
		return Composer
	case ev.Kind == keys.Paste || !alone || !g.seen(ev.At):
		g.Wait()
		return Composer
	}
	return Question
}

// Typed records a key that was meant for something else.
func (g *Guard) Typed(at time.Time) {
	if at.After(g.last) {
		g.last = at
	}
}

// seen reports whether the user had seen the active question when a key was read.
func (g *Guard) seen(at time.Time) bool { return !g.shown.IsZero() && at.Sub(g.shown) >= sight }

// Wait makes the question wait again because the user types something else.
func (g *Guard) Wait() { g.active, g.shown = false, time.Time{} }

// Shown records that a frame with the question was written.
func (g *Guard) Shown(now time.Time) {
	if g.active && g.shown.IsZero() {
		g.shown = now
	}
}

// Unseen reports whether the question is active but no frame with it has been written yet.
func (g *Guard) Unseen() bool { return g.active && g.shown.IsZero() }

// Disturb records that the user looked elsewhere, or that the question changed: it has to be
// seen again.
func (g *Guard) Disturb() { g.shown = time.Time{} }

// Look activates a question whose pause is over. It returns the delay until the next check; 0
// means that only a key can change something. Typed is true if the composer holds text.
func (g *Guard) Look(now time.Time, typed bool) time.Duration {
	if g.active || typed {
		return 0
	}
	if left := pause - now.Sub(g.last); left > 0 {
		return left
	}
	g.active, g.shown = true, time.Time{}
	return 0
}
