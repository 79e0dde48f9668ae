// Package retry sends a request again when sending it again may help. It decides by the kind of the
// error alone. An answer that broke off is repeated by its reader, who must withdraw what was shown of it;
// [model.Retrier] tells the reader when.
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

// Config says how persistent a provider is. The zero value is the usual policy.
type Config struct {
	// Max is the number of times a request is sent again; zero means 10, and less none.
	Max int
	// Unattended waits out rate limits and overload for hours, since there is no user to try later.
	Unattended bool
	// Jitter returns a number from 0 up to 1; nil means a random one.
	Jitter func() float64
}

const (
	defaultMax   = 10
	firstDelay   = 500 * time.Millisecond
	longestDelay = 32 * time.Second
	jitterShare  = 0.25

	// maxRetryAfter is the longest wait that a user has to sit through.
	maxRetryAfter = time.Minute

	// overloadsBeforeFallback is the patience with overload when there is another model to turn to.
	overloadsBeforeFallback = 3

	unattendedTotal = 6 * time.Hour
	unattendedWait  = 5 * time.Minute
	heartbeat       = 30 * time.Second

	// brokenAttempts is how often an answer is asked for that breaks off: as a stream, as a stream again, and whole. More
	// attempts follow if waiting may help.
	brokenAttempts = 3

	// minOutput is the least room for an answer that is worth asking for.
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

// Unwrap returns the provider that is asked; see [model.As].
func (p *provider) Unwrap() model.Provider { return p.next }

// Stream implements [model.Provider]. Only a request of which nothing was seen is sent again.
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

// Again implements [model.Retrier]. A server that asks for a wait in the middle of its answer gets it. With no retries
// the attempts follow each other immediately.
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

// pass hands the events of one attempt on. It returns the error the attempt failed with before its
// first event; anything else ends the response.
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

// errBrokenOff says that the caller wants no more events.
var errBrokenOff = errors.New("broken off")

// The state of one request.
type state struct {
	c         Config
	req       *model.Request
	attempt   int // failures so far
	overloads int // of them, the last ones in a row that were for overload
	waited    time.Duration
	shrunk    bool // the output limit was reduced

	err    error         // why there is another attempt
	atOnce bool          // without announcing it
	delay  time.Duration // before it
}

// failed takes note of a failure. It returns the error to report if there is to be no other attempt.
func (s *state) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var e *model.Error
	if !errors.As(err, &e) {
		return err
	}
	s.err, s.atOnce = err, false
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
		return false // others need the server more
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

// persistent reports whether e is waited out.
func (s *state) persistent(e *model.Error) bool {
	return s.c.Unattended && (e.Kind == model.RateLimited || e.Kind == model.Overloaded)
}

// backoff returns the delay after the latest failure: twice that of the one before, and a little more,
// so that clients that failed together do not come back together.
func (s *state) backoff() time.Duration {
	d := longestDelay
	if n := s.attempt - 1; n < 6 {
		d = firstDelay << n
	}
	return d + time.Duration(s.c.Jitter()*jitterShare*float64(d))
}

// shrink makes the next attempt ask for no more output than the window has room for, once.
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
	s.req, s.shrunk, s.atOnce = &smaller, true, true
	return nil
}

// wait announces the next attempt and waits for its time. Long waits are announced again and again, so
// that a reader knows that it is alive.
func (s *state) wait(ctx context.Context, yield func(model.Event, error) bool) error {
	if s.atOnce {
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
