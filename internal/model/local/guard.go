package local

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"adze/internal/model"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// Guard wraps p so that requests fit the windows of its models. Servers on this machine have
// small windows, and some silently truncate input that does not fit. Guard shortens the answer
// or rejects the request before it is sent. It does nothing if the window is a guess. about
// returns the description of a model.
func Guard(p model.Provider, about func(name string) (Model, bool)) model.Provider {
	return &guard{next: p, about: about, gauges: map[string]*tokens.Estimator{}}
}

type guard struct {
	next  model.Provider
	about func(string) (Model, bool)

	mu     sync.Mutex
	gauges map[string]*tokens.Estimator
}

// Unwrap returns the wrapped provider; see [model.As].
func (g *guard) Unwrap() model.Provider { return g.next }

// leastAnswer is the minimum number of tokens available for an answer.
const leastAnswer = 256

// Stream implements [model.Provider].
func (g *guard) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	m, ok := g.about(req.Model)
	if !ok || m.Window <= 0 || !m.Sure {
		return g.next.Stream(ctx, req)
	}
	counted, size := g.size(req)
	room := m.Window - size
	if room < leastAnswer {
		return func(yield func(model.Event, error) bool) { yield(nil, g.tooLong(m, req, size)) }
	}
	r := *req
	r.MaxTokens = min(r.MaxTokens, room)
	return func(yield func(model.Event, error) bool) {
		for e, err := range g.next.Stream(ctx, &r) {
			if u, ok := e.(model.Usage); ok && !u.Estimated {
				g.report(req.Model, counted, u.Usage)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// size returns the counted and the estimated tokens of req.
func (g *guard) size(req *model.Request) (counted, size int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gauge := g.gauge(req.Model)
	counted = gauge.Count(req.System, req.Tools, req.Messages)
	return counted, gauge.Correct(counted)
}

func (g *guard) gauge(name string) *tokens.Estimator {
	gauge := g.gauges[name]
	if gauge == nil {
		gauge = tokens.New(name)
		g.gauges[name] = gauge
	}
	return gauge
}

// report corrects the estimate for a model by the server's count.
func (g *guard) report(name string, counted int, u msg.Usage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gauge(name).Report(counted, u.Input+u.CacheRead+u.CacheWrite)
}

// tooLong returns the error for a request that does not fit. It distinguishes the case that no
// conversation would fit.
func (g *guard) tooLong(m Model, req *model.Request, size int) *model.Error {
	fixed := tokens.New(req.Model).Request(req.System, req.Tools, nil)
	e := &model.Error{Kind: model.TooLong, Input: size, Window: m.Window, Hint: m.Advice()}
	if fixed+leastAnswer > m.Window {
		e.Message = fmt.Sprintf("the instructions and tools alone are about %d tokens", fixed)
		if e.Hint == "" {
			e.Hint = "Choose a model with a larger context window"
		}
	} else {
		e.Hint = "" // shortening also helps
	}
	return e
}
