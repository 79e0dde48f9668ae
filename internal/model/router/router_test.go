package router_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/modeltest"
	"adze/internal/model/modeltest/toy"
	"adze/internal/model/replay"
	"adze/internal/model/retry"
	"adze/internal/model/router"
	"adze/internal/model/wire"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// A spy records the names of requested models.
type spy struct{ asked []string }

func (s *spy) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	s.asked = append(s.asked, req.Model)
	return func(yield func(model.Event, error) bool) { yield(model.Stop{Reason: model.StopEnd}, nil) }
}

type countingSpy struct{ spy }

func (*countingSpy) CountTokens(_ context.Context, req *model.Request) (int, error) {
	return len(req.Model), nil
}

func TestRoute(t *testing.T) {
	errNoKey := errors.New("no key")
	for _, tt := range []struct {
		name  string
		model string
		want  string // provider and model; empty if an error is expected
	}{
		{"bare", "m", "one m"},
		{"named", "two/m", "two m"},
		{"two slashes", "two/meta/llama", "two meta/llama"},
		{"cannot be opened", "three/m", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one, two := &spy{}, &spy{}
			opened := 0
			open := func(p model.Provider) func() (model.Provider, error) {
				return func() (model.Provider, error) { opened++; return p, nil }
			}
			r := router.New(router.Config{
				Rows: []router.Backend{
					{Name: "one", Open: open(one)}, {Name: "two", Open: open(two)},
					{Name: "three", Open: func() (model.Provider, error) { return nil, errNoKey }},
				},
				Route: byPrefix,
			})
			req := &model.Request{Model: tt.model}
			for range 2 {
				for _, err := range r.Stream(t.Context(), req) {
					if (err == nil) != (tt.want != "") || err != nil && (model.KindOf(err) != model.Auth || !errors.Is(err, errNoKey)) {
						t.Errorf("error %v", err)
					}
				}
			}
			if err := r.Open(tt.model); (err == nil) != (tt.want != "") {
				t.Errorf("opening: %v", err)
			}
			var got []string
			for _, m := range one.asked {
				got = append(got, "one "+m)
			}
			for _, m := range two.asked {
				got = append(got, "two "+m)
			}
			if tt.want == "" {
				if len(got) > 0 {
					t.Errorf("asked %q", got)
				}
				return
			}
			if !slices.Equal(got, []string{tt.want, tt.want}) || opened != 1 || req.Model != tt.model {
				t.Errorf("asked %q after opening %d, want %q twice", got, opened, tt.want)
			}
		})
	}
}

// byPrefix routes names such as two/m by prefix, and others to one.
func byPrefix(name string) (row, sent string) {
	if row, sent, ok := strings.Cut(name, "/"); ok {
		return row, sent
	}
	return "one", name
}

func TestCountTokens(t *testing.T) {
	r := router.New(router.Config{Route: byPrefix, Rows: []router.Backend{
		{Name: "one", Open: func() (model.Provider, error) { return retry.New(&countingSpy{}, retry.Config{}), nil }},
		{Name: "two", Open: func() (model.Provider, error) { return &spy{}, nil }},
	}})
	if n, err := r.CountTokens(t.Context(), &model.Request{Model: "one/four"}); n != 4 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
	if n, err := r.CountTokens(t.Context(), &model.Request{Model: "two/four"}); err == nil {
		t.Errorf("counted %d without support", n)
	}
}

func player(t *testing.T, d wire.Server, script string) *replay.Player {
	t.Helper()
	s, err := replay.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	p := replay.NewPlayerIn(d, s)
	t.Cleanup(func() {
		if err := p.Err(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestSession checks that a session can switch providers between turns and fall back within
// one. The second provider uses another dialect and is opened by its first request.
func TestSession(t *testing.T) {
	one := player(t, messages.Server{}, `
expect model first
say One.
---
expect model first
expect messages 5
repeat 3
error overloaded retry-after=0
`)
	two := player(t, toy.Server{}, `
expect model second
expect messages 3
expect text "One."
say Two.
---
expect model spare
expect messages 5
say Three.
`)
	opened := false
	r := router.New(router.Config{Route: byPrefix, Rows: []router.Backend{
		{Name: "one", Open: func() (model.Provider, error) { return one.Provider(), nil }},
		{Name: "two", Open: func() (model.Provider, error) {
			opened = true
			return wire.New(toy.Service(), wire.Config{APIKey: "key", Transport: modeltest.Transport(two.Handler())})
		}},
	}})
	s := session.Open(t.Context(), session.Config{
		ID: "the-session", Provider: retry.New(r, retry.Config{}), Tools: session.Tools{Registry: tool.NewRegistry()},
		Models: session.Models{Main: "first", Fallback: "two/spare", Resolve: func(name string) (agent.Model, error) {
			return agent.Model{ID: name, Window: 200_000, Output: 8000, MaxOutput: 8000}, nil
		}},
	})
	turn := func(text string) {
		t.Helper()
		after := s.Last()
		submit(t, s, session.Prompt{ID: msg.NewID(), Parts: []msg.Part{&msg.Text{Text: text}}})
		for e := range s.Entries(t.Context(), after, session.Every) {
			if f, ok := e.Event.(session.Finished); ok {
				if f.Ended.Reason != agent.Completed {
					t.Errorf("%s: %+v", text, f.Ended)
				}
				return
			}
		}
	}
	turn("to one")
	if opened {
		t.Error("the second provider was opened before it was needed")
	}
	submit(t, s, session.SetModel{Name: "two/second"})
	turn("to two")
	submit(t, s, session.SetModel{Name: "first"})
	turn("to one, which is overloaded")
}

func submit(t *testing.T, s *session.Session, op session.Op) {
	t.Helper()
	if err := s.Submit(t.Context(), op); err != nil {
		t.Fatal(err)
	}
}

// TestNoRow checks that a model without a row yields an error and no request.
func TestNoRow(t *testing.T) {
	r := router.New(router.Config{Route: byPrefix})
	if err := r.Open("four/m"); err == nil || r.FirstParty("four/m") {
		t.Errorf("opened: %v", err)
	}
}
