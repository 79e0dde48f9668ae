// Package retry repeats failed requests if that may help, based only on the kind of the error.
// An answer that broke off is repeated by its reader, which must withdraw the part already
// shown; [model.Retrier] determines when.
package retry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"adze/internal/model"
)

// Config configures the retry policy. The zero value is the usual policy.
type Config struct {
	// Max is the number of retries; zero means 10, and a negative value none.
	Max int
	// Unattended waits out rate limits and overload for hours, since no user can try later.
	Unattended bool
	// Jitter returns a number in [0,1). If nil, it is random.
	Jitter func() float64
}

const (
	defaultMax   = 10
	firstDelay   = 500 * time.Millisecond
	longestDelay = 32 * time.Second
	jitterShare  = 0.25

	// maxRetryAfter is the longest wait for an interactive user.
	maxRetryAfter = time.Minute

	// overloadsBeforeFallback is the number of overload errors tolerated if there is a fallback
	// model.
	overloadsBeforeFallback = 3

	unattendedTotal = 6 * time.Hour
	unattendedWait  = 5 * time.Minute
	heartbeat       = 30 * time.Second

	// brokenAttempts is the number of attempts for an answer that breaks off: as a stream, as a
	// stream again, and whole. More attempts follow if waiting may help.
	brokenAttempts = 3

	// minOutput is the minimum output limit worth requesting.
	minOutput = 3000
)

// New returns p with retries.
func New(p model.Provider, c Config) model.Provider {
	if c.Max == 0 {
		c.Max = defaultMax
	}
	c.Max = max(c.Max, 0)
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	return &provider{next: p, c: c}
}

type provider struct {
	next model.Provider
	c    Config
}

// Unwrap returns the wrapped provider; see [model.As].
func (p *provider) Unwrap() model.Provider { return p.next }

// Stream implements [model.Provider]. It repeats a request only if no event was yielded yet.
func (p *provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s := state{c: p.c, req: req}
		for {
			ended, err := pass(p.next.Stream(ctx, s.req), yield)
			if ended {
				return
			}
			if err = s.failed(ctx, err); err == nil {
				err = s.wait(ctx, yield)
			}
			switch err {
			case nil:
			case errBrokenOff:
				return
			default:
				yield(nil, err)
				return
			}
		}
	}
}

// Again implements [model.Retrier]. A delay requested by the server in the middle of its answer
// is respected. Without retries, the attempts follow each other immediately.
func (p *provider) Again(ctx context.Context, failures int, err error, announce func(model.Retrying)) error {
	s := state{c: p.c, attempt: failures, err: err}
	var e *model.Error
	if !errors.As(err, &e) || e.Lasting {
		s.c.Max = brokenAttempts - 1
	}
	switch {
	case p.c.Max == 0 && failures < brokenAttempts:
		return nil
	case failures > s.c.Max && failures >= brokenAttempts:
		return err
	}
	s.c.Max = max(s.c.Max, brokenAttempts-1)
	s.delay = s.backoff()
	return s.wait(ctx, func(ev model.Event, _ error) bool {
		announce(ev.(model.Retrying))
		return true
	})
}

// pass forwards the events of one attempt. It returns the error of an attempt that failed
// before its first event; anything else ends the response.
func pass(attempt iter.Seq2[model.Event, error], yield func(model.Event, error) bool) (ended bool, failed error) {
	begun := false
	for e, err := range attempt {
		if err != nil && !begun {
			return false, err
		}
		begun = true
		if !yield(e, err) || err != nil {
			return true, nil
		}
	}
	return true, nil
}

// errBrokenOff means that the caller wants no more events.
var errBrokenOff = errors.New("broken off")

// state is the state of one request.
type state struct {
	c         Config
	req       *model.Request
	attempt   int // failures so far
	overloads int // trailing consecutive overload failures
	waited    time.Duration
	shrunk    bool // the output limit was reduced

	err       error         // reason for the next attempt
	immediate bool          // retry without a delay or announcement
	delay     time.Duration // delay before the next attempt
}

// failed records a failure. It returns the error to report if there must not be another
// attempt.
func (s *state) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var e *model.Error
	if !errors.As(err, &e) {
		return err
	}
	s.err, s.immediate = err, false
	if e.Kind == model.OverWindow {
		return s.shrink(e)
	}
	s.attempt++
	if e.Kind == model.Overloaded {
		s.overloads++
	} else {
		s.overloads = 0
	}
	if !s.retries(e) {
		return err
	}
	s.delay = s.backoff()
	if e.HasRetryAfter && e.RetryAfter >= 0 && e.RetryAfter <= 24*time.Hour {
		s.delay = e.RetryAfter
	}
	switch {
	case s.persistent(e):
		s.delay = min(s.delay, unattendedWait)
		if s.waited+s.delay > unattendedTotal {
			return err
		}
	case s.delay > maxRetryAfter:
		long := *e
		long.Message = strings.TrimPrefix(fmt.Sprintf("%s; the server asks to wait %v", e.Message, s.delay.Round(time.Second)), "; ")
		return &long
	}
	return nil
}

// retries reports whether e is worth another attempt.
func (s *state) retries(e *model.Error) bool {
	switch {
	case e.Kind == model.Overloaded && s.req.Background:
		return false // leave the capacity to others
	case e.Kind == model.Overloaded && s.req.HasFallback && s.overloads >= overloadsBeforeFallback:
		return false
	case s.attempt > s.c.Max && !s.persistent(e):
		return false
	case e.ShouldRetry != 0:
		return e.ShouldRetry > 0
	}
	switch e.Kind {
	case model.Network, model.RateLimited, model.Overloaded, model.ServerFault:
		return true
	}
	return false
}

// persistent reports whether to wait until e is resolved.
func (s *state) persistent(e *model.Error) bool {
	return s.c.Unattended && (e.Kind == model.RateLimited || e.Kind == model.Overloaded)
}

// backoff returns the delay after the latest failure: twice the previous one plus jitter, so
// that clients that failed together do not return together.
func (s *state) backoff() time.Duration {
	d := longestDelay
	if n := s.attempt - 1; n < 6 {
		d = firstDelay << n
	}
	return d + time.Duration(s.c.Jitter()*jitterShare*float64(d))
}

// shrink reduces the next attempt's output limit to fit the window, once.
func (s *state) shrink(e *model.Error) error {
	room := e.Window - e.Input
	if s.shrunk || room < minOutput || room >= s.req.MaxTokens ||
		s.req.Thinking.Mode == model.ThinkingBudget && room <= s.req.Thinking.Budget {
		long := *e
		long.Kind = model.TooLong
		return &long
	}
	smaller := *s.req
	smaller.MaxTokens = room
	s.req, s.shrunk, s.immediate = &smaller, true, true
	return nil
}

// wait announces the next attempt and waits for it. Long waits are announced repeatedly as a
// sign of life.
func (s *state) wait(ctx context.Context, yield func(model.Event, error) bool) error {
	if s.immediate {
		return nil
	}
	for left := s.delay; ; {
		if !yield(model.Retrying{Attempt: s.attempt, Max: s.c.Max, After: left, Err: s.err}, nil) {
			return errBrokenOff
		}
		step := left
		if s.c.Unattended {
			step = min(left, heartbeat)
		}
		t := time.NewTimer(step)
		select {
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case <-t.C:
		}
		s.waited += step
		if left -= step; left <= 0 {
			return nil
		}
	}
}
