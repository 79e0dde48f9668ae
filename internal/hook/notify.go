package hook

import (
	"fmt"
	"sync"
	"time"

	"adze/internal/msg"
)

// A notifier forwards hooks' messages to the user, the observer and the session.
type notifier struct {
	cfg *Config

	mu     sync.Mutex
	warned map[string]bool
}

// notify shows the user a message.
func (n *notifier) notify(text string) {
	if n.cfg.Notify != nil {
		n.cfg.Notify(text)
	}
}

// once shows the user a message that should not be repeated.
func (n *notifier) once(text string) {
	n.mu.Lock()
	told := n.warned[text]
	n.warned[text] = true
	n.mu.Unlock()
	if !told {
		n.notify(text)
	}
}

func (n *notifier) observe(f func(Observer)) {
	if n.cfg.Observer != nil {
		f(n.cfg.Observer)
	}
}

// deliver forwards a background hook's result. It cannot block anything any more.
func (n *notifier) deliver(j *job, res result) {
	if res.status == cancelled {
		return
	}
	late := j.kind
	late.plain, late.reach = false, shown
	var out Outcome
	out.add(late, &res, n.cfg.Results)
	for _, text := range out.Messages {
		n.notify(text)
	}
	if n.cfg.Deliver != nil {
		for _, text := range out.told {
			n.cfg.Deliver(text)
		}
	}
}

const (
	maxWakes   = 10
	wakeWindow = time.Minute
)

// wake notifies the session of a hook that ended with the blocking exit code; others are
// ignored.
func (n *notifier) wake(j *job, res result) {
	if res.code == nil || *res.code != exitBlock || n.cfg.Wake == nil {
		return
	}
	if !j.mayWake(time.Now()) {
		n.once(fmt.Sprintf("%s wakes the session more than %d times a minute; it is held back", j.who(), maxWakes))
		return
	}
	text := firstOf(res.stderr, res.stdout, "it ended with code 2 and said nothing")
	n.cfg.Wake(msg.Neutralise(j.who() + ": " + text))
}

// mayWake counts a wake-up, and returns false if there were too many recently.
func (h *hook) mayWake(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.wakes) > 0 && now.Sub(h.wakes[0]) >= wakeWindow {
		h.wakes = h.wakes[1:]
	}
	if len(h.wakes) >= maxWakes {
		return false
	}
	h.wakes = append(h.wakes, now)
	return true
}
