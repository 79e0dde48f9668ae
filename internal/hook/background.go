package hook

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"adze/internal/msg"
)

// detach leaves a hook to itself. It is ended when its time is up, and what it says in the end is
// delivered when there is an opportunity.
func (r *Runner) detach(j *job, done <-chan ending, end context.CancelCauseFunc, limit time.Duration, started time.Time) {
	r.jobs.Go(func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		var ended ending
		select {
		case ended = <-done:
		case <-timer.C:
			end(errTimeout{limit})
			ended = <-done
		}
		end(nil)
		ended.stdout = ended.stdout.withoutAsyncLine()
		res := r.finish(j, ended, started)
		if j.asyncRewake {
			r.wake(j, res)
		} else {
			r.deliver(j, res)
		}
	})
}

// deliver passes on what a hook says that nobody waited for. It is too late to block anything.
func (r *Runner) deliver(j *job, res result) {
	if res.status == cancelled {
		return
	}
	late := j.kind
	late.plain, late.reach = false, shown
	var out Outcome
	out.add(r, late, &res)
	for _, text := range out.Messages {
		r.notify(text)
	}
	if r.cfg.Deliver != nil {
		for _, text := range out.told {
			r.cfg.Deliver(text)
		}
	}
}

const (
	maxWakes   = 10
	wakeWindow = time.Minute
)

// wake notifies the session of a hook that ended with the code for blocking; others ended in silence.
func (r *Runner) wake(j *job, res result) {
	if res.code == nil || *res.code != exitBlock || r.cfg.Wake == nil {
		return
	}
	if !j.mayWake(time.Now()) {
		r.notifyOnce(fmt.Sprintf("%s wakes the session more than %d times a minute; it is held back", j.who(), maxWakes))
		return
	}
	text := firstOf(res.stderr, res.stdout, "it ended with code 2 and said nothing")
	r.cfg.Wake(msg.Neutralise(j.who() + ": " + text))
}

// mayWake counts a wake-up, unless there were too many lately.
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

// notifyOnce tells the person something that would only annoy when repeated.
func (r *Runner) notifyOnce(text string) {
	r.mu.Lock()
	told := r.warned[text]
	r.warned[text] = true
	r.mu.Unlock()
	if !told {
		r.notify(text)
	}
}

// withoutAsyncLine returns the output without a first line that only said that the hook goes to the
// background.
func (c capture) withoutAsyncLine() capture {
	head := c.Head(maxJSON)
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	if _, ok := asyncLine(line); !ok || c.Size() > int64(len(head)) {
		return c
	}
	c.Close() // ok: it was all in memory
	short := newCapture()
	short.Write(rest) // ok: it is shorter than what fitted
	return short
}
