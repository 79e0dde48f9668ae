package model_test

import (
	"context"
	"iter"
	"testing"

	"adze/internal/model"
)

type mute struct{}

func (mute) Stream(context.Context, *model.Request) iter.Seq2[model.Event, error] {
	return func(func(model.Event, error) bool) {}
}

type counter struct{ mute }

func (counter) CountTokens(context.Context, *model.Request) (int, error) { return 42, nil }

type wrapper struct{ model.Provider }

func (w wrapper) Unwrap() model.Provider { return w.Provider }

func TestAs(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    model.Provider
		want bool
	}{
		{"itself", counter{}, true},
		{"wrapped twice", wrapper{wrapper{counter{}}}, true},
		{"not there", wrapper{mute{}}, false},
		{"hidden", struct{ model.Provider }{counter{}}, false},
		{"nothing", nil, false},
	} {
		if _, ok := model.As[model.Counter](tt.p); ok != tt.want {
			t.Errorf("%s: found %v", tt.name, ok)
		}
	}
}
