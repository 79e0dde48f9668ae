package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.uber.org/goleak"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/model/replay"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/session/window"
	"adze/internal/tool"
	"adze/internal/ui/streamjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A stage is a front end with a scripted model and its captured output.
type stage struct {
	out, err bytes.Buffer
	front    *Front
	mode     atomic.Value // string
}

// newStage sets up a script; change may modify both configurations.
func newStage(t testing.TB, script string, change func(*session.Config, *Config)) *stage {
	t.Helper()
	s, err := replay.Parse("test.replay", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{}
	st.mode.Store("default")
	cfg := session.Config{
		Provider: replay.NewPlayer(s).Provider(),
		Tools:    session.Tools{Registry: tool.NewRegistry(echo())},
		Gates:    []exec.Gate{{Name: "permission", Gate: allow{}}},
		Models: session.Models{Main: "m", Resolve: func(name string) (agent.Model, error) {
			if name == "none" {
				return agent.Model{}, errors.New("no such model")
			}
			return agent.Model{ID: name, Window: 5000, Output: 100, MaxOutput: 100}, nil
		}},
		Controls: session.Controls{SetMode: func(mode string) (string, error) {
			if mode == "bypassPermissions" {
				return "", permission.ErrBypass
			}
			st.mode.Store(mode)
			return mode, nil
		}},
		Records: session.Records{Ledger: cost.New(func(string) cost.Facts {
			return cost.Facts{Price: &model.Price{Input: 1, Output: 1}, ContextWindow: 1000, MaxOutput: 100}
		})},
	}
	front := Config{
		Format: StreamJSON, Stdout: &st.out, Stderr: &st.err,
		Info: func() streamjson.Info {
			return streamjson.Info{Dir: "/w", Model: "m", Mode: st.mode.Load().(string), KeySource: "none", Version: "1"}
		},
	}
	if change != nil {
		change(&cfg, &front)
	}
	front.Session = session.Open(t.Context(), cfg)
	st.front = New(front)
	return st
}

type allow struct{ stop string }

func (a allow) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Decide(tool.Allow, "test", "")
	u.Verdict.Stop = a.stop
	return nil
}

func echo() tool.Tool {
	type input struct {
		Text string `json:"text"`
	}
	return tool.New(tool.Def{
		Name: "Echo", Doc: "says it again", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}, func(ctx context.Context, in input, _ func(tool.Progress)) (tool.Result, error) {
		if in.Text == "wait" {
			<-ctx.Done()
			return tool.Result{}, context.Cause(ctx)
		}
		return tool.Text(in.Text), nil
	})
}

type preventer struct{}

func (preventer) Stop(context.Context, agent.StopInput) (agent.StopResult, error) {
	return agent.StopResult{Hook: "test", Prevent: "not on a Sunday"}, nil
}

// lines returns the output with each line decoded.
func (st *stage) lines(t testing.TB) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(st.out.String()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		all = append(all, v)
	}
	return all
}

func last(t testing.TB, lines []map[string]any) map[string]any {
	t.Helper()
	if len(lines) == 0 {
		t.Fatal("nothing was printed")
	}
	return lines[len(lines)-1]
}

func schema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "result.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Proves LOOP-21, SESS-05.
func TestReasons(t *testing.T) {
	const done = "say Done."
	const looping = "forever\nuse Echo {\"text\":\"x\"}"
	tests := []struct {
		reason  agent.Reason
		script  string
		prompt  string
		change  func(*session.Config, *Config)
		subtype string
		isError bool
		text    string // text of the result, or of the first error
	}{
		{reason: agent.Completed, script: done, subtype: "success", text: "Done."},
		{reason: agent.TokenBudgetDone, script: "forever\nusage output=1\nsay More.", subtype: "success", text: "More.",
			change: func(c *session.Config, _ *Config) { c.Loop.TokenBudget = 100_000 }},
		{reason: agent.BlockingLimit, script: done, prompt: strings.Repeat("long ", 5000), subtype: "success", isError: true,
			text: "too_long: the conversation is about"},
		{reason: agent.ModelError, script: "error auth", subtype: "success", isError: true, text: "auth: invalid x-api-key"},
		{reason: agent.PromptTooLong, script: "error too_long", subtype: "success", isError: true, text: "too_long: the request does not fit"},
		{reason: agent.ImageError, script: "error media_too_large", subtype: "success", isError: true, text: "media_too_large: "},
		{reason: agent.StopHookPrevented, script: done, subtype: "error_during_execution", isError: true, text: "not on a Sunday",
			change: func(c *session.Config, _ *Config) { c.Stops = []agent.StopHook{preventer{}} }},
		{reason: agent.HookStopped, script: looping, subtype: "error_during_execution", isError: true, text: "enough",
			change: func(c *session.Config, _ *Config) { c.Gates[0].Gate = allow{stop: "enough"} }},
		{reason: agent.MaxTurnsReached, script: looping, subtype: "error_max_turns", isError: true, text: "stopped after 3 turns (--max-turns)",
			change: func(c *session.Config, _ *Config) { c.Loop.MaxTurns = 3 }},
		{reason: agent.BudgetExhausted, script: "forever\nusage input=0 output=1000000\nuse Echo {\"text\":\"x\"}", subtype: "error_max_budget_usd", isError: true,
			text:   "spent $1.0000 of the budget of $0.5000",
			change: func(c *session.Config, _ *Config) { c.Loop.MaxBudgetUSD = 0.5 }},
		{reason: agent.AbortedStreaming, script: "say Half\nhang", prompt: "stop on text", subtype: "error_during_execution", isError: true,
			text: "interrupted before the answer was complete"},
		{reason: agent.AbortedTools, script: "use Echo {\"text\":\"wait\"}", prompt: "stop on tool", subtype: "error_during_execution", isError: true,
			text: "interrupted before the answer was complete"},
	}
	valid := schema(t)
	for _, tt := range tests {
		t.Run(string(tt.reason), func(t *testing.T) {
			st := newStage(t, tt.script, tt.change)
			if tt.prompt == "" {
				tt.prompt = "go"
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			st.front.p = &stopper{st.front.p, tt.prompt, cancel}
			out := st.front.Turn(ctx, &msg.Text{Text: tt.prompt})
			if out.Reason != tt.reason || out.Failed != tt.isError {
				t.Errorf("got %+v", out)
			}
			record := last(t, st.lines(t))
			if err := valid.Validate(record); err != nil {
				t.Errorf("%v\n%v", err, record)
			}
			name := string(tt.reason)
			if tt.reason == agent.ModelError {
				name = "api_error"
			}
			text, _ := record["result"].(string)
			if errs, ok := record["errors"].([]any); ok {
				text, _ = errs[0].(string)
			}
			got := []any{record["subtype"], record["is_error"], record["terminal_reason"]}
			if diff := cmp.Diff([]any{tt.subtype, tt.isError, name}, got); diff != "" {
				t.Error(diff)
			}
			if !strings.HasPrefix(text, tt.text) {
				t.Errorf("text %q, want %q", text, tt.text)
			}
			if !strings.Contains(st.out.String(), `"subtype":"init"`) {
				t.Error("no init")
			}
		})
	}
}

// A stopper interrupts the turn once the event named in the prompt has been shown.
type stopper struct {
	printer
	when   string
	cancel context.CancelCauseFunc
}

func (s *stopper) Event(ev agent.Event) {
	s.printer.Event(ev)
	switch ev := ev.(type) {
	case agent.Delta:
		if _, ok := ev.Event.(model.TextDelta); ok && s.when == "stop on text" {
			s.cancel(tool.AbortUser)
		}
	case agent.ToolStarted:
		if s.when == "stop on tool" {
			s.cancel(tool.AbortUser)
		}
	}
}

// TestStructuredOutput checks that a turn with structured output ends with a value in the
// record, or with the reason it is missing.
//
// Proves LOOP-21, SESS-05, SESS-61.
func TestStructuredOutput(t *testing.T) {
	for _, tt := range []struct {
		end     agent.Ended
		subtype string
		want    any
	}{
		{agent.Ended{Reason: agent.Completed, Output: json.RawMessage(`{"n":[1]}`)}, "success", map[string]any{"n": []any{1.0}}},
		{agent.Ended{Reason: agent.StructuredOutputFailed, Detail: "5 tries"}, "error_max_structured_output_retries", nil},
	} {
		t.Run(tt.subtype, func(t *testing.T) {
			st := newStage(t, "say x", func(c *session.Config, _ *Config) {
				c.Goal = func() agent.Goal { return goal{tt.end} }
			})
			st.front.Turn(t.Context(), &msg.Text{Text: "go"})
			record := last(t, st.lines(t))
			if err := schema(t).Validate(record); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]any{tt.subtype, tt.want}, []any{record["subtype"], record["structured_output"]}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A goal ends a turn with end once the model has nothing more to do.
type goal struct{ end agent.Ended }

func (goal) Reached() (agent.Ended, bool)               { return agent.Ended{}, false }
func (g goal) Missed(msg.Message) (string, agent.Ended) { return "", g.end }

func TestText(t *testing.T) {
	tests := []struct {
		name, script string
		change       func(*session.Config, *Config)
		out, err     string
	}{
		{name: "answer", script: "say Hello.", out: "Hello.\n"},
		{name: "blocks", script: "say One\nsay , two.", out: "One, two.\n"},
		{name: "own line end", script: "text \"Hello.\\n\"", out: "Hello.\n"},
		{name: "thinking is not printed", script: "think Hm.\nsay Hello.", out: "Hello.\n"},
		{name: "last answer only", script: "say First.\nuse Echo {\"text\":\"x\"}\n---\nsay Last.", out: "Last.\n"},
		{name: "carried on", script: "say Hello, w\nstop max_tokens\n---\nsay orld.", out: "Hello, world.\n"},
		{name: "error", script: "error auth", err: "adze: auth: invalid x-api-key\n"},
		{name: "unknown model", script: "say x", err: "adze: no such model\n",
			change: func(c *session.Config, _ *Config) { c.Models.Main = "none" }},
		{name: "explained", script: "error auth", err: "adze: m said no\n",
			change: func(_ *session.Config, c *Config) {
				c.Explain = func(_ error, model string) string { return model + " said no" }
			}},
		{name: "made harmless", script: "text \"a\\u001b[2Jb\"", out: "a?[2Jb\n",
			change: func(_ *session.Config, c *Config) {
				c.Shown = func(s string) string { return strings.ReplaceAll(s, "\x1b", "?") }
			}},
		{name: "verbose", script: "use Echo {\"text\":\"x\"}\n---\nsay Done.", out: "Done.\n", err: "adze: Echo\n",
			change: func(_ *session.Config, c *Config) { c.Verbose = true }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newStage(t, tt.script, func(s *session.Config, c *Config) {
				c.Format = Text
				if tt.change != nil {
					tt.change(s, c)
				}
			})
			st.front.Turn(t.Context(), &msg.Text{Text: "go"})
			if diff := cmp.Diff([]string{tt.out, tt.err}, []string{st.out.String(), st.err.String()}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Proves PROV-50.
func TestRetryNotes(t *testing.T) {
	overloaded := &model.Error{Kind: model.Overloaded}
	tests := []struct {
		name string
		r    model.Retrying
		want string
	}{
		{"first, short", model.Retrying{Attempt: 1, Max: 10, After: time.Second, Err: overloaded}, ""},
		{"second, short", model.Retrying{Attempt: 2, Max: 10, After: 5 * time.Second, Err: overloaded}, ""},
		{"first, long", model.Retrying{Attempt: 1, Max: 10, After: 30 * time.Second, Err: overloaded},
			"adze: the model is overloaded; retrying in 30s (attempt 1 of 10)\n"},
		{"third", model.Retrying{Attempt: 3, Max: 10, After: 2040 * time.Millisecond, Err: &model.Error{Kind: model.RateLimited}},
			"adze: rate limit reached; retrying in 2s (attempt 3 of 10)\n"},
		{"network", model.Retrying{Attempt: 3, Max: 10, After: time.Second, Err: &model.Error{Kind: model.Network, Message: "the host api.example.com was not found"}},
			"adze: no connection: the host api.example.com was not found; retrying in 1s (attempt 3 of 10)\n"},
		{"other", model.Retrying{Attempt: 3, Max: 10, Err: errors.New("odd")}, "adze: unknown; retrying in 0s (attempt 3 of 10)\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newStage(t, "say x", func(_ *session.Config, c *Config) { c.Format = Text })
			st.front.p.Event(agent.Retrying{Retrying: tt.r})
			if diff := cmp.Diff(tt.want, st.err.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A failing writer accepts writes until one contains a text.
type failing struct{ after string }

func (f *failing) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(f.after)) {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestUnread checks that the turn is interrupted if nobody reads, and that the history is
// complete.
func TestUnread(t *testing.T) {
	for _, after := range []string{"init", "assistant", "tool_result", "result"} {
		t.Run(after, func(t *testing.T) {
			st := newStage(t, "use Echo {\"text\":\"x\"}\n---\nsay Done.", func(_ *session.Config, c *Config) {
				c.Stdout = &failing{after}
			})
			out := st.front.Turn(t.Context(), &msg.Text{Text: "go"})
			if !out.Unread {
				t.Errorf("got %+v", out)
			}
			entries := st.front.cfg.Session.Conversation()
			var messages []msg.Message
			for _, e := range entries {
				messages = append(messages, e.Message)
			}
			if _, problems := msg.Repair(messages); len(problems) > 0 {
				t.Errorf("history: %v", problems)
			}
		})
	}
}

// TestWindowWarning checks that a nearly full context window is reported to a host as a
// separate message, and to a person on standard error.
//
// Proves CTX-30.
func TestWindowWarning(t *testing.T) {
	prompt := &msg.Text{Text: strings.Repeat("some word ", 4000*1000/tokens.New("m").Text(strings.Repeat("some word ", 1000)))}
	for format, want := range map[Format]string{
		StreamJSON: `"type":"system","subtype":"informational","content":"The conversation has about `,
		Text:       "adze: The conversation has about ",
	} {
		st := newStage(t, "say fine", func(c *session.Config, f *Config) {
			c.Window = &window.Config{}
			f.Format = format
		})
		st.front.Turn(t.Context(), prompt)
		got := st.out.String() + st.err.String()
		if strings.Count(got, want) != 1 || format == StreamJSON && !strings.Contains(got, `"level":"warning"`) {
			t.Errorf("%v: printed\n%s", format, got)
		}
	}
}
