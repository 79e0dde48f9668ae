// Package attention decides when a user who is not at the terminal is called: if something waits for them, and they look at
// another window or have not touched a key for a while. How they are called is left to the front end.
package attention

import (
	"time"

	"adze/internal/ui/keys"
)

const (
	// Patience is how long a user who may be looking touches no key before they are called.
	Patience = time.Minute
	// Long is how long a turn takes for its end to be worth a call.
	Long = 10 * time.Second
)

// A Cause is what the user is called for.
type Cause uint8

const (
	Nothing Cause = iota
	Question
	TurnEnd
)

// String says it to the user.
func (c Cause) String() string {
	return [...]string{Question: "A question waits for you.", TurnEnd: "The turn has ended."}[c]
}

// A Watch knows whether the user is there. The zero value takes them to be there.
type Watch struct {
	gone   time.Time // when they left for another window; zero if they have not, or the terminal does not tell
	sign   time.Time // the last sign of them
	waits  Cause     // what waits for them
	called bool      // they were called for it
}

// Sign notes what the user did, and returns how long there was no sign of them if they have come back. A sign of the user
// is as good as an answer: they are not called for what waits already.
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

// Away returns for how long there has been no sign of the user: since they left for another window, or since they touched
// a key last.
func (w *Watch) Away(now time.Time) time.Duration {
	switch {
	case !w.gone.IsZero():
		return now.Sub(w.gone)
	case !w.sign.IsZero():
		return now.Sub(w.sign)
	}
	return 0
}

// Wait notes what waits for the user from now on.
func (w *Watch) Wait(what Cause, now time.Time) {
	w.waits, w.called = what, false
	if w.sign.IsZero() {
		w.sign = now
	}
}

// Call returns what to call the user for now. It says so once.
func (w *Watch) Call(now time.Time) Cause {
	if in, ok := w.Due(now); !ok || in > 0 {
		return Nothing
	}
	w.called = true
	return w.waits
}

// Due returns in which time the user is to be called unless something happens. It reports false if they are not.
func (w *Watch) Due(now time.Time) (in time.Duration, ok bool) {
	switch {
	case w.waits == Nothing || w.called:
		return 0, false
	case !w.gone.IsZero():
		return 0, true
	}
	return max(0, Patience-now.Sub(w.sign)), true
}
