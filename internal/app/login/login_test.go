package login

import (
	"errors"
	"strings"
	"testing"

	"adze/internal/app/providers"
)

func TestReadSecret(t *testing.T) {
	for _, tt := range []struct{ keys, want string }{
		{"key\r", "key"},
		{"key\nrest", "key"},
		{"  key \r", "key"},
		{"kex\x7fy\r", "key"},
		{"\x7f\x7fkey\x08y\r", "key"},
		{"wrong\x15key\r", "key"},
		{"\x1b[200~key\x1b[201~\r", "key"}, // pasted
		{"k\x1b[De\x1bOAy\x1bx\r", "key"},  // arrows, Alt-X
		{"k\x01e\x00y\r", "key"},
		{"\r", ""},
	} {
		if got, err := readSecret(strings.NewReader(tt.keys)); got != tt.want || err != nil {
			t.Errorf("%q is %q, %v", tt.keys, got, err)
		}
	}
	for _, keys := range []string{"ke\x03y\r", "\x04", "", "key"} {
		if got, err := readSecret(strings.NewReader(keys)); !errors.Is(err, ErrInterrupted) || got != "" {
			t.Errorf("%q is %q, %v", keys, got, err)
		}
	}
}

func TestSetUp(t *testing.T) {
	screen := errors.New("every way")
	for _, tt := range []struct {
		input, model string
		failed       bool
	}{
		{"2\n", "ollama/qwen3", false},
		{"3\n", "vllm/m", false},
		{"4\n", "", true}, {"\n", "", true}, {"what?\n", "", true}, {"", "", true},
	} {
		var out strings.Builder
		c := Console{In: strings.NewReader(tt.input), Out: &out, Terminal: true}
		got, err := SetUp(t.Context(), c, providers.Config{}, []string{"ollama/qwen3", "vllm/m"}, screen)
		if got != tt.model || (err == screen) != tt.failed || !strings.Contains(out.String(), "2  use ollama/qwen3, a model on this machine") {
			t.Errorf("%q: %q, %v\n%s", tt.input, got, err, out.String())
		}
	}
	if _, err := SetUp(t.Context(), Console{}, providers.Config{}, nil, screen); err != screen {
		t.Errorf("without a terminal: %v", err)
	}
}
