package retry

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
)

// A script fails with its errors in order, repeating the last one; nil means an answer.
type script struct {
	errs  []error
	after []model.Event // events yielded before the error
	asked []model.Request
}

func (s *script) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		err := s.errs[min(len(s.asked), len(s.errs)-1)]
		s.asked = append(s.asked, *req)
		for _, e := range s.after {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if yield(model.Start{ID: "1"}, nil) {
			yield(model.Stop{Reason: model.StopEnd}, nil)
		}
	}
}

func kind(k model.Kind) *model.Error { return &model.Error{Kind: k, Message: "announced"} }

func after(d time.Duration) *model.Error {
	return &model.Error{Kind: model.RateLimited, RetryAfter: d, HasRetryAfter: true}
}

// run returns the outcome of one request: the waits, whether an answer came, and the error.
func run(t *testing.T, p model.Provider, req *model.Request) (waits []time.Duration, answered bool, err error) {
	t.Helper()
	for e, err := range p.Stream(t.Context(), req) {
		if err != nil {
			return waits, false, err
		}
		switch e := e.(type) {
		case model.Retrying:
			waits = append(waits, e.After)
			if e.Err == nil || e.Attempt != len(waits) || e.Max != 10 {
				t.Errorf("announced %+v as wait %d", e, len(waits))
			}
		case model.Stop:
			answered = true
		}
	}
	return waits, answered, nil
}

func none() float64 { return 0 }

const sec = time.Second

var backoff = []time.Duration{sec / 2, sec, 2 * sec, 4 * sec, 8 * sec, 16 * sec, 32 * sec, 32 * sec, 32 * sec, 32 * sec}

// Proves PROV-50, PROV-51, PROV-52.
func TestRetry(t *testing.T) {
	should := func(k model.Kind, n int) *model.Error { return &model.Error{Kind: k, ShouldRetry: n} }
	over := kind(model.Overloaded)
	tests := []struct {
		name  string
		req   model.Request
		errs  []error
		waits []time.Duration
		kind  model.Kind // final error kind; Unknown for an answer
	}{
		{"no error", model.Request{}, []error{nil}, nil, 0},
		{"network", model.Request{}, []error{kind(model.Network), nil}, backoff[:1], 0},
		{"rate limit", model.Request{}, []error{kind(model.RateLimited), nil}, backoff[:1], 0},
		{"overload", model.Request{}, []error{over, over, over, nil}, backoff[:3], 0},
		{"server fault", model.Request{}, []error{kind(model.ServerFault), nil}, backoff[:1], 0},
		{"for ever", model.Request{}, []error{kind(model.ServerFault)}, backoff, model.ServerFault},
		{"broken", model.Request{}, []error{kind(model.Broken)}, nil, model.Broken},
		{"tls", model.Request{}, []error{kind(model.TLS)}, nil, model.TLS},
		{"too long", model.Request{}, []error{kind(model.TooLong)}, nil, model.TooLong},
		{"auth", model.Request{}, []error{kind(model.Auth)}, nil, model.Auth},
		{"quota", model.Request{}, []error{kind(model.Quota)}, nil, model.Quota},
		{"invalid", model.Request{}, []error{kind(model.Invalid)}, nil, model.Invalid},
		{"server forbids", model.Request{}, []error{should(model.ServerFault, -1)}, nil, model.ServerFault},
		{"server demands", model.Request{}, []error{should(model.Invalid, 1), nil}, backoff[:1], 0},
		{"retry-after wins", model.Request{}, []error{after(7 * sec), after(0), after(60 * sec), nil}, []time.Duration{7 * sec, 0, 60 * sec}, 0},
		{"retry-after too long", model.Request{}, []error{after(61 * sec)}, nil, model.RateLimited},
		{"absurd retry-after", model.Request{}, []error{after(-sec), after(25 * time.Hour), nil}, backoff[:2], 0},
		{"background, overload", model.Request{Background: true}, []error{over}, nil, model.Overloaded},
		{"background, network", model.Request{Background: true}, []error{kind(model.Network), nil}, backoff[:1], 0},
		{"fallback", model.Request{HasFallback: true}, []error{over}, backoff[:2], model.Overloaded},
		{"fallback, not in a row", model.Request{HasFallback: true}, []error{over, over, kind(model.Network), over, over, nil}, backoff[:5], 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{errs: tt.errs}
				began := time.Now()
				waits, answered, err := run(t, New(s, Config{Jitter: none}), &tt.req)
				if diff := cmp.Diff(tt.waits, waits); diff != "" {
					t.Errorf("waits (-want +got):\n%s", diff)
				}
				var total time.Duration
				for _, w := range tt.waits {
					total += w
				}
				if took := time.Since(began); took != total {
					t.Errorf("took %v, want %v", took, total)
				}
				if model.KindOf(err) != tt.kind || answered != (tt.kind == model.Unknown) {
					t.Errorf("error %v, answered %v, want kind %v", err, answered, tt.kind)
				}
			})
		})
	}
}

// TestRetryAfterTooLong checks that the error includes the delay requested by the server.
//
// Proves PROV-50.
func TestRetryAfterTooLong(t *testing.T) {
	_, _, err := run(t, New(&script{errs: []error{after(90 * sec)}}, Config{}), &model.Request{})
	if err == nil || !strings.Contains(err.Error(), "1m30s") {
		t.Errorf("error %v has no delay", err)
	}
}

// TestJitter checks that jitter adds up to a quarter.
//
// Proves PROV-50.
func TestJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{errs: []error{kind(model.Network), kind(model.Network), nil}}
		waits, _, _ := run(t, New(s, Config{Jitter: func() float64 { return 1 }}), &model.Request{})
		if want := []time.Duration{625 * time.Millisecond, 1250 * time.Millisecond}; !slices.Equal(waits, want) {
			t.Errorf("waits %v, want %v", waits, want)
		}
	})
}

func TestMax(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct{ max, sent int }{{0, 11}, {2, 3}, {-1, 1}} {
			s := &script{errs: []error{kind(model.Network)}}
			for range New(s, Config{Max: tt.max}).Stream(t.Context(), &model.Request{}) {
			}
			if len(s.asked) != tt.sent {
				t.Errorf("max %d: sent %d times, want %d", tt.max, len(s.asked), tt.sent)
			}
		}
	})
}

// TestNoRetryAfterFirstEvent checks that a partially received answer is not repeated.
func TestNoRetryAfterFirstEvent(t *testing.T) {
	s := &script{errs: []error{kind(model.Overloaded)}, after: []model.Event{model.Start{}}}
	_, _, err := run(t, New(s, Config{}), &model.Request{})
	if len(s.asked) != 1 || model.KindOf(err) != model.Overloaded {
		t.Errorf("sent %d times, error %v", len(s.asked), err)
	}
}

// TestCancelWait checks that a done context ends the wait immediately.
//
// Proves PROV-50.
func TestCancelWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("esc")
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		time.AfterFunc(10*time.Second, func() { cancel(cause) })
		var last error
		for _, err := range New(&script{errs: []error{after(30 * sec)}}, Config{}).Stream(ctx, &model.Request{}) {
			last = err
		}
		if last != cause || time.Since(began) != 10*time.Second {
			t.Errorf("ended with %v after %v", last, time.Since(began))
		}
	})
}

func TestBreakWhileWaiting(t *testing.T) {
	s := &script{errs: []error{kind(model.Network)}}
	for range New(s, Config{}).Stream(t.Context(), &model.Request{}) {
		break
	}
	if len(s.asked) != 1 {
		t.Errorf("sent %d times", len(s.asked))
	}
}

// TestUnattended checks that waits add up to six hours, five minutes each, with a sign of life
// every thirty seconds.
//
// Proves PROV-56.
func TestUnattended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{errs: []error{after(10 * time.Minute)}}
		began := time.Now()
		beat := began
		var last error
		for e, err := range New(s, Config{Unattended: true}).Stream(t.Context(), &model.Request{}) {
			last = err
			if _, ok := e.(model.Retrying); ok {
				if since := time.Since(beat); since > heartbeat {
					t.Fatalf("no sign of life for %v", since)
				}
				beat = time.Now()
			}
		}
		if model.KindOf(last) != model.RateLimited || time.Since(began) != 6*time.Hour {
			t.Errorf("gave up after %v with %v", time.Since(began), last)
		}
		if want := 6*12 + 1; len(s.asked) != want {
			t.Errorf("sent %d times, want %d", len(s.asked), want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &script{errs: []error{kind(model.ServerFault)}}
		for range New(s, Config{Unattended: true}).Stream(t.Context(), &model.Request{}) {
		}
		if len(s.asked) != 11 {
			t.Errorf("a server fault was sent %d times, want 11", len(s.asked))
		}
	})
}

// Proves PROV-54.
func TestShrink(t *testing.T) {
	over := func(input, window int) *model.Error {
		return &model.Error{Kind: model.OverWindow, Input: input, Output: 64000, Window: window}
	}
	tests := []struct {
		name   string
		budget int
		errs   []error
		limits []int // requested output limits
		kind   model.Kind
	}{
		{"fits", 0, []error{over(150_000, 200_000), nil}, []int{64000, 50000}, 0},
		{"just fits", 0, []error{over(197_000, 200_000), nil}, []int{64000, 3000}, 0},
		{"no room", 0, []error{over(197_001, 200_000)}, []int{64000}, model.TooLong},
		{"input alone too long", 0, []error{over(250_000, 200_000)}, []int{64000}, model.TooLong},
		{"above the thinking budget", 10_000, []error{over(189_999, 200_000), nil}, []int{64000, 10_001}, 0},
		{"below the thinking budget", 10_000, []error{over(190_000, 200_000)}, []int{64000}, model.TooLong},
		{"only once", 0, []error{over(150_000, 200_000), over(151_000, 200_000)}, []int{64000, 50000}, model.TooLong},
		{"no reduction at all", 0, []error{over(1, 200_000)}, []int{64000}, model.TooLong},
		{"other errors in between", 0, []error{kind(model.Network), over(150_000, 200_000), kind(model.Network), nil}, []int{64000, 64000, 50000, 50000}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{errs: tt.errs}
				req := &model.Request{MaxTokens: 64000}
				if tt.budget > 0 {
					req.Thinking = model.Thinking{Mode: model.ThinkingBudget, Budget: tt.budget}
				}
				_, _, err := run(t, New(s, Config{}), req)
				var limits []int
				for _, r := range s.asked {
					limits = append(limits, r.MaxTokens)
				}
				if diff := cmp.Diff(tt.limits, limits); diff != "" || model.KindOf(err) != tt.kind {
					t.Errorf("error %v, limits (-want +got):\n%s", err, diff)
				}
				if req.MaxTokens != 64000 {
					t.Error("the caller's request was changed")
				}
			})
		})
	}
}

type counting struct{ script }

func (*counting) CountTokens(context.Context, *model.Request) (int, error) { return 42, nil }

func TestKeepsCounter(t *testing.T) {
	if _, ok := model.As[model.Counter](New(&script{}, Config{})); ok {
		t.Error("a provider that cannot count pretends to")
	}
	c, ok := model.As[model.Counter](New(&counting{}, Config{}))
	if !ok {
		t.Fatal("a provider that counts no longer does")
	}
	if n, _ := c.CountTokens(t.Context(), nil); n != 42 {
		t.Errorf("counted %d", n)
	}
}
