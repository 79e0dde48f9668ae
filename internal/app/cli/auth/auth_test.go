package auth

import (
	"errors"
	"io"
	"strings"
	"testing"

	"adze/internal/app/models"
	"adze/internal/ui/console"
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

// first is what a first start offers in these tests.
func first(demos *int) FirstStart {
	return FirstStart{
		Models: []string{"ollama/qwen3", "vllm/m"}, Screen: errScreen,
		Demo: func() error { *demos++; return nil },
	}
}

var errScreen = errors.New("every way")

// TestSetUp checks that a typo during the first start does not end it: the question is
// repeated, and once a model is available the welcome text is shown. The demo and a declined
// question lead back to the list.
//
// Proves X-116.
func TestSetUp(t *testing.T) {
	for _, tt := range []struct {
		input string
		want  Selection
		demos int
		err   error
	}{
		{"3\n", Selection{Model: "ollama/qwen3"}, 0, nil},
		{"4\n", Selection{Model: "vllm/m"}, 0, nil},
		{"9\nx\nqwen3\n", Selection{Model: "ollama/qwen3"}, 0, nil},
		{"9\n0\n-1\n3\n", Selection{}, 0, errScreen},
		{"6\n6\n4\n", Selection{Model: "vllm/m"}, 2, nil},
		{"5\n\n3\n", Selection{Model: "ollama/qwen3"}, 0, nil},
		{"5\n1\n", Selection{Provider: "bedrock"}, 0, nil},
		{"5\nGoogle Vertex\n", Selection{Provider: "vertex"}, 0, nil},
		{"5\n4\n", Selection{}, 0, ErrInterrupted},
		{"2\n\n\n", Selection{}, 0, errScreen},
		{"\n", Selection{}, 0, errScreen}, {"\x1b\n", Selection{}, 0, errScreen}, {"", Selection{}, 0, errScreen},
	} {
		var out strings.Builder
		demos := 0
		c := Console{In: strings.NewReader(tt.input), Out: &out, Terminal: true}
		got, err := SetUp(t.Context(), c, models.Config{}, first(&demos))
		if got != tt.want || err != tt.err || demos != tt.demos {
			t.Errorf("%q: %+v, %v, %d demos\n%s", tt.input, got, err, demos, out.String())
		}
		for _, row := range []string{"1  Anthropic ", "(recommended)", "2  OpenAI, Gemini, Grok, OpenRouter ", "3  qwen3 ", "found on this machine, with Ollama, no key", "5  Bedrock, Vertex", "6  None yet "} {
			if !strings.Contains(out.String(), row) {
				t.Errorf("%q: no %q in\n%s", tt.input, row, out.String())
			}
		}
		if strings.HasSuffix(out.String(), welcome) != (tt.err == nil) {
			t.Errorf("%q: told %q", tt.input, out.String())
		}
	}
	if _, err := SetUp(t.Context(), Console{}, models.Config{}, FirstStart{Screen: errScreen}); err != errScreen {
		t.Errorf("without a terminal: %v", err)
	}
}

// TestSetUpWithDialog checks that dialogs, if available, ask for the setup method and the
// provider.
func TestSetUpWithDialog(t *testing.T) {
	lines := errors.New("no keys")
	for _, tt := range []struct {
		name    string
		answers []int
		broken  error
		want    Selection
		err     error
	}{
		{"a model of this machine", []int{2}, nil, Selection{Model: "ollama/qwen3"}, nil},
		{"a cloud, after another thought", []int{1, -1, 4, 1}, nil, Selection{Provider: "vertex"}, nil},
		{"left", []int{-1}, nil, Selection{}, errScreen},
		{"interrupted", nil, ErrInterrupted, Selection{}, ErrInterrupted},
		{"on a line after all", nil, lines, Selection{Model: "ollama/qwen3"}, nil},
	} {
		var asked []string
		demos := 0
		c := Console{In: strings.NewReader("3\n"), Out: io.Discard, Terminal: true, Choose: func(q console.Choice) (int, error) {
			asked = append(asked, q.Question+" "+q.Answers[0])
			if tt.broken != nil {
				return -1, tt.broken
			}
			return tt.answers[len(asked)-1], nil
		}}
		got, err := SetUp(t.Context(), c, models.Config{}, first(&demos))
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
		if len(asked) != max(1, len(tt.answers)) || asked[0] != "Welcome to adze. Which model should it use? Anthropic" {
			t.Errorf("%s: asked %q", tt.name, asked)
		}
	}
}
