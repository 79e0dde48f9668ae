package commands

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/session"
	"adze/internal/tool"
)

// A listener is a provider that records the requested effort.
type listener struct{ effort model.Effort }

func (l *listener) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	l.effort = req.Effort
	return func(yield func(model.Event, error) bool) { yield(nil, errors.New("no answer")) }
}

// TestModelWithEffort checks that an effort can be chosen together with the model, and stays
// unchanged otherwise.
//
// Proves CMD-04.
func TestModelWithEffort(t *testing.T) {
	var asked listener
	resolve := func(name string) (agent.Model, error) {
		return agent.Model{ID: name, Window: 200_000, Output: 1000}, nil
	}
	s := session.Open(t.Context(), session.Config{Provider: &asked, Tools: session.Tools{Registry: tool.NewRegistry()}, Models: session.Models{Main: "m", Resolve: resolve}})
	t.Cleanup(s.Close)
	r := New(Config{Session: s, Terminal: true, Models: Models{Catalog: catalog.Table{}}, Preamble: Preamble{Resolve: resolve}})
	a, err := r.Run(t.Context(), "model", "")
	if err != nil {
		t.Fatal(err)
	}
	list := a.(List)
	var with Choice
	for _, c := range list.Views[1].Choices {
		if len(c.Values) > 0 {
			with = c
		}
		if c.Value != -1 || len(c.Values) > 0 != (c.Cells[0] == "effort") {
			t.Errorf("%+v", c)
		}
	}
	choose := func(c Choice) string {
		t.Helper()
		answer, err := list.Choose(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		op := answer.(Operation)
		if op.Op != (session.SetModel{Name: with.ID}) {
			t.Errorf("%+v", op)
		}
		if err := s.Submit(t.Context(), session.Prompt{Parts: Prompt{Text: "hi"}.Said().Parts}); err != nil {
			t.Fatal(err)
		}
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(op.Page)
	}
	if text := choose(with); asked.effort != "" || strings.Contains(text, "effort") {
		t.Errorf("%s: asked for %q", text, asked.effort)
	}
	with.Value = 0
	if text := choose(with); asked.effort != model.EffortLow || !strings.Contains(text, "The effort is now low.") {
		t.Errorf("%s: asked for %q", text, asked.effort)
	}
	if choose(Choice{ID: with.ID, Values: with.Values, Value: -1}); asked.effort != model.EffortLow {
		t.Errorf("the effort did not stay: %q", asked.effort)
	}
}
