package auth

import (
	"errors"
	"io"
	"strings"
	"testing"

	"adze/internal/app/models"
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

// TestSetUp checks that a typo during the first start does not end it: the question is
// repeated, and once a model is available the welcome text is shown.
//
// Proves X-116.
func TestSetUp(t *testing.T) {
	screen := errors.New("every way")
	for _, tt := range []struct {
		input, model string
		failed       bool
	}{
		{"2\n", "ollama/qwen3", false},
		{"3\n", "vllm/m", false},
		{"9\nx\n2\n", "ollama/qwen3", false}, {"9\n0\n-1\n2\n", "", true},
		{"4\n", "", true}, {"\n", "", true}, {"what?\n", "", true}, {"", "", true},
	} {
		var out strings.Builder
		c := Console{In: strings.NewReader(tt.input), Out: &out, Terminal: true}
		got, err := SetUp(t.Context(), c, models.Config{}, []string{"ollama/qwen3", "vllm/m"}, screen)
		if got != tt.model || (err == screen) != tt.failed || !strings.Contains(out.String(), "2  use ollama/qwen3 on this machine") {
			t.Errorf("%q: %q, %v\n%s", tt.input, got, err, out.String())
		}
		if strings.HasSuffix(out.String(), welcome) != (tt.model != "") {
			t.Errorf("%q: told %q", tt.input, out.String())
		}
	}
	if _, err := SetUp(t.Context(), Console{}, models.Config{}, nil, screen); err != screen {
		t.Errorf("without a terminal: %v", err)
	}
}

// TestSetUpWithDialog checks that dialogs, if available, ask for the setup method and the
// provider.
func TestSetUpWithDialog(t *testing.T) {
	screen := errors.New("every way")
	lines := errors.New("no keys")
	for _, tt := range []struct {
		name    string
		answers []int
		broken  error
		model   string
		want    error
	}{
		{"a model of this machine", []int{1}, nil, "ollama/qwen3", nil},
		{"the last way", []int{2}, nil, "", screen},
		{"left", []int{-1}, nil, "", screen},
		{"a key, and left", []int{0, -1}, nil, "", ErrInterrupted},
		{"interrupted", nil, ErrInterrupted, "", ErrInterrupted},
		{"on a line after all", nil, lines, "ollama/qwen3", nil},
	} {
		var asked []string
		c := Console{In: strings.NewReader("2\n"), Out: io.Discard, Terminal: true, Choose: func(question string, answers []string, _ string) (int, error) {
			asked = append(asked, question+" "+answers[0])
			if tt.broken != nil {
				return -1, tt.broken
			}
			return tt.answers[len(asked)-1], nil
		}}
		model, err := SetUp(t.Context(), c, models.Config{}, []string{"ollama/qwen3"}, screen)
		if model != tt.model || !errors.Is(err, tt.want) {
			t.Errorf("%s: %q, %v", tt.name, model, err)
		}
		if len(asked) != max(1, len(tt.answers)) || asked[0] != "Welcome to adze. Which model should it use? Store an API key" {
			t.Errorf("%s: asked %q", tt.name, asked)
		}
	}
}
