// Package attention decides when to notify an absent user: if something is waiting and they are
// in another window or have not pressed a key for a while.
package attention

import (
	"time"

	"adze/internal/ui/keys"
)

const (
	// Patience is how long a user who may be present can press no key before being notified.
	Patience = time.Minute
	// Long is the minimum duration of a turn for notifying the user of its end.
	Long = 10 * time.Second
)

// A Cause is the reason for notifying the user.
type Cause uint8

const (
	Nothing Cause = iota
	Question
	TurnEnd
)

// String returns the cause as a message for the user.
func (c Cause) String() string {
	return [...]string{Question: "A question waits for you.", TurnEnd: "The turn has ended."}[c]
}

// A Watch tracks whether the user is present. The zero value assumes they are.
type Watch struct {
	gone   time.Time // time they left for another window; zero if unknown or present
	sign   time.Time // time of the last user activity
	waits  Cause     // pending cause
	called bool      // the user has been notified of it
}

// Sign records user activity. It returns how long the user was away, or 0 if ev is a focus
// loss. Unless ev is a focus change, it counts as an answer: the user is not notified of
// anything already pending.
func (w *Watch) Sign(ev keys.Event) (away time.Duration) {
	if ev.Kind == keys.FocusOut {
		w.gone = ev.At
		return 0
	}
	away = w.Away(ev.At)
	w.gone, w.sign = time.Time{}, ev.At
	if ev.Kind != keys.FocusIn {
		w.called = w.waits != Nothing
	}
	return away
}

// Away returns how long the user has been away: since they left for another window, or since
// the last key.
func (w *Watch) Away(now time.Time) time.Duration {
	switch {
	case !w.gone.IsZero():
		return now.Sub(w.gone)
	case !w.sign.IsZero():
		return now.Sub(w.sign)
	}
	return 0
}

// Elsewhere reports whether the user is in another window.
func (w *Watch) Elsewhere() bool { return !w.gone.IsZero() }

// Wait sets the pending cause.
func (w *Watch) Wait(what Cause, now time.Time) {
	w.waits, w.called = what, false
	if w.sign.IsZero() {
		w.sign = now
	}
}

// Call returns the cause to notify the user of now, once.
func (w *Watch) Call(now time.Time) Cause {
	if in, ok := w.Due(now); !ok || in > 0 {
		return Nothing
	}
	w.called = true
	return w.waits
}

// Due returns the time until the user is to be notified unless something happens. It reports
// false if there is nothing to notify.
func (w *Watch) Due(now time.Time) (in time.Duration, ok bool) {
	switch {
	case w.waits == Nothing || w.called:
		return 0, false
	case !w.gone.IsZero():
		return 0, true
	}
	return max(0, Patience-now.Sub(w.sign)), true
}
