package model_test

import (
	"errors"
	"fmt"
	"testing"

	"adze/internal/model"
)

func TestKindNames(t *testing.T) {
	seen := map[string]model.Kind{}
	for k := model.Unknown; k <= model.Invalid; k++ {
		name := k.String()
		if name == "" {
			t.Errorf("kind %d has no name", k)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("kinds %d and %d are both called %s", other, k, name)
		}
		seen[name] = k
		if back, ok := model.ParseKind(name); back != k || !ok {
			t.Errorf("ParseKind(%q) = %v, %v", name, back, ok)
		}
	}
	if k, ok := model.ParseKind("no such kind"); ok || k != model.Unknown {
		t.Errorf("an unknown name is %v", k)
	}
	if k, ok := model.ParseKind(""); ok {
		t.Errorf("no name is %v", k)
	}
	if s := model.Kind(200).String(); s != "unknown" {
		t.Errorf("a kind that does not exist is called %q", s)
	}
}

func TestError(t *testing.T) {
	cause := errors.New("connection reset")
	tests := []struct {
		name string
		err  *model.Error
		want string
	}{
		{"kind", &model.Error{Kind: model.Overloaded}, "overloaded"},
		{"message", &model.Error{Kind: model.Auth, Message: "invalid key", Err: cause}, "auth: invalid key"},
		{"cause", &model.Error{Kind: model.Network, Err: cause}, "network: connection reset"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			wrapped := fmt.Errorf("asking: %w", tt.err)
			if model.KindOf(wrapped) != tt.err.Kind || errors.Is(wrapped, cause) != (tt.err.Err != nil) {
				t.Errorf("kind %v, wraps its cause: %v", model.KindOf(wrapped), errors.Is(wrapped, cause))
			}
		})
	}
	if model.KindOf(cause) != model.Unknown || model.KindOf(nil) != model.Unknown {
		t.Error("an error that is not the provider's has a kind")
	}
}
