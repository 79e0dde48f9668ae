package hook

import (
	"bytes"
	"context"
	"slices"
	"time"
)

// detach lets a hook continue in the background. It is killed at its time limit, and its final
// output is delivered when possible.
func (r *Runner) detach(j *job, done <-chan ending, end context.CancelCauseFunc, limit time.Duration, started time.Time) {
	j.over = make(chan struct{})
	r.mu.Lock()
	r.background = append(r.background, j)
	r.mu.Unlock()
	r.jobs.Go(func() {
		defer func() {
			r.mu.Lock()
			r.background = slices.DeleteFunc(r.background, func(other *job) bool { return other == j })
			r.mu.Unlock()
			close(j.over)
		}()
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
			r.notices.wake(j, res)
		} else {
			r.notices.deliver(j, res)
		}
	})
}

// withoutAsyncLine returns the output without a first line that only sends the hook to the
// background.
func (c capture) withoutAsyncLine() capture {
	head := c.Head(maxJSON)
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	if _, ok := asyncLine(line); !ok || c.Size() > int64(len(head)) {
		return c
	}
	c.Close() // ok: it was all in memory
	short := newCapture()
	short.Write(rest) // ok: shorter than the original, which fit
	return short
}
