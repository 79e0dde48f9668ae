package hook

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/msg"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// golden compares got with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// shellInput is the input of a command tool.
type shellInput struct {
	Command string `json:"command"`
}

func (in shellInput) Match(content string) (bool, error) {
	if strings.Contains(in.Command, "((") {
		return false, fmt.Errorf("cannot be parsed")
	}
	for _, part := range strings.Split(in.Command, " && ") {
		if prefix, ok := strings.CutSuffix(content, "*"); ok && strings.HasPrefix(part, prefix) || part == content {
			return true, nil
		}
	}
	return false, nil
}

// fileInput is the input of a file-changing tool.
type fileInput struct {
	Path_ string `json:"file_path"`
}

func (in fileInput) Path() string { return in.Path_ }

func newTool[In any](name, schema string, ran *[]string, aliases ...string) tool.Tool {
	def := tool.Def{Name: name, Doc: "Does.", Schema: json.RawMessage(schema), Traits: tool.Traits{Aliases: aliases}}
	return tool.New(def, func(_ context.Context, in In, _ func(tool.Progress)) (tool.Result, error) {
		if ran != nil {
			data, err := json.Marshal(in)
			*ran = append(*ran, string(data))
			return tool.Text("ok"), err
		}
		return tool.Text("ok"), nil
	})
}

const (
	shellSchema = `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}`
	fileSchema  = `{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"],"additionalProperties":false}`
)

func bind(t testing.TB, tl tool.Tool, input string) *tool.Use {
	t.Helper()
	call, err := tl.Bind(json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	return &tool.Use{ToolUse: msg.ToolUse{ID: "toolu_1", Name: tl.Spec().Name, Input: json.RawMessage(input)}, Tool: tl, Call: call}
}

// shell returns a use of a command tool.
func shell(t testing.TB, command string) *tool.Use {
	input, err := json.Marshal(shellInput{command})
	if err != nil {
		t.Fatal(err)
	}
	return bind(t, newTool[shellInput]("Bash", shellSchema, nil, "Shell"), string(input))
}

// on returns settings with hooks for an event, matching everything.
func on(event Name, entries ...string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{%q:[{"hooks":[%s]}]}`, event, strings.Join(entries, ",")))
}

// command returns a hook that runs a script; more holds further fields.
func command(script string, more ...string) string {
	text, err := json.Marshal(script)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"type":"command","command":%s%s}`, text, strings.Join(append([]string{""}, more...), ","))
}

// said collects a runner's messages to the user, the session and its observer.
type said struct {
	mu      sync.Mutex
	notes   []string
	late    []string
	woken   []string
	changed chan struct{}
}

func (s *said) add(list *[]string, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, text)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *said) get(list *[]string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), *list...)
}

// start returns a runner with user hooks, closed by the test.
func start(t *testing.T, cfg Config, settings ...json.RawMessage) (*Runner, *said) {
	t.Helper()
	s := &said{changed: make(chan struct{}, 1)}
	for _, data := range settings {
		cfg.Sources = append(cfg.Sources, Source{Name: "user settings", Scope: scope.User, JSON: data})
	}
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	cfg.Notify = func(text string) { s.add(&s.notes, text) }
	cfg.Deliver = func(text string) { s.add(&s.late, text) }
	cfg.Wake = func(text string) { s.add(&s.woken, text) }
	r, problems := New(cfg)
	for _, p := range problems {
		t.Error(p)
	}
	t.Cleanup(r.Close)
	return r, s
}

// posted returns the event after a call that returned a text.
func posted(u *tool.Use) Event {
	res := tool.Text("ok")
	return OnPostToolUse(u, &res)
}
