package streamjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
)

var _ hook.Observer = (*Printer)(nil)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// newPrinter returns a printer with a fixed clock and its output.
func newPrinter(change func(*Config)) (*Printer, *bytes.Buffer) {
	var out bytes.Buffer
	cfg := Config{
		Out:       NewWriter(&out),
		SessionID: func() string { return "s" },
		Info: func() Info {
			return Info{Dir: "/w", Model: "m", Mode: "default", Tools: []string{"T"}, Servers: []Server{{"docs", "connected", "user"}}, Commands: []string{"help"}}
		},
		Explain: func(err error) string { return "explained: " + err.Error() },
		Now:     func() time.Time { return noon },
	}
	if change != nil {
		change(&cfg)
	}
	return New(cfg), &out
}

func appended(id string, role msg.Role, parts ...msg.Part) agent.Appended {
	return agent.Appended{Entry: msg.Entry{ID: id, Time: noon, Message: msg.Message{Role: role, Parts: parts}}}
}

// TestPrinter checks the lines printed for each event, comparing their beginnings.
func TestPrinter(t *testing.T) {
	use := msg.NewToolUse("u1", "T", `{"a":1}`)
	denied := &msg.ToolResult{ID: "u1", IsError: true, Parts: []msg.Part{&msg.Text{Text: "no"}}}
	overloaded := &model.Error{Kind: model.Overloaded, Status: 529}
	code := 2
	tests := []struct {
		name   string
		change func(*Config)
		do     func(p *Printer)
		want   []string
	}{
		{"init", nil, func(p *Printer) { p.Begin(session.Started{}) },
			[]string{`{"type":"system","subtype":"init","cwd":"/w","tools":["T"],"mcp_servers":[{"name":"docs","status":"connected","source":"user"}],"model":"m","permissionMode":"default","slash_commands":["help"]`}},
		{"no init for a note", nil, func(p *Printer) { p.Begin(session.Started{Note: true}) }, nil},
		{"an answer, part by part", nil, func(p *Printer) {
			p.Event(appended("e1", msg.Assistant, &msg.Text{Text: "a"}, use))
		}, []string{
			`{"type":"assistant","message":{"id":"","type":"message","role":"assistant","model":"","content":[{"type":"text","text":"a"}]`,
			`{"type":"assistant","message":{"id":"","type":"message","role":"assistant","model":"","content":[{"type":"tool_use","id":"u1","name":"T","input":{"a":1}}]` +
				`,"stop_reason":null,"stop_sequence":null},"parent_tool_use_id":null,"timestamp":"2026-03-04T12:00:00.000Z","session_id":"s","uuid":"e1"}`,
		}},
		{"results before the rest", nil, func(p *Printer) {
			p.Event(appended("e2", msg.User, &msg.Text{Text: "more"}, denied))
		}, []string{
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"u1",`,
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"more"}]},"parent_tool_use_id":null,"timestamp":"2026-03-04T12:00:00.000Z","session_id":"s","uuid":"e2"}`,
		}},
		{"the prompt is not printed", nil, func(p *Printer) {
			p.Begin(session.Started{Prompt: "e3", Note: true})
			p.Event(appended("e3", msg.User, &msg.Text{Text: "hi"}))
		}, nil},
		{"but replayed", func(c *Config) { c.Replay = true }, func(p *Printer) {
			p.Begin(session.Started{Prompt: "e3", Note: true})
			p.Event(appended("e3", msg.User, &msg.Text{Text: "hi"}))
		}, []string{`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]},"parent_tool_use_id":null,"isReplay":true,"timestamp":"2026-03-04T12:00:00.000Z","session_id":"s","uuid":"e3"}`}},
		{"denied", nil, func(p *Printer) { p.Event(agent.ToolDone{Use: use, Result: denied, Denied: true}) },
			[]string{`{"type":"system","subtype":"permission_denied","tool_name":"T","tool_use_id":"u1","message":"no"`}},
		{"retrying", nil, func(p *Printer) {
			p.Event(agent.Retrying{Retrying: model.Retrying{Attempt: 1, Max: 3, After: time.Second, Err: overloaded}})
		}, []string{`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":3,"retry_delay_ms":1000,"error_status":529,"error":"overloaded"`}},
		{"notice", nil, func(p *Printer) { p.Event(agent.Notice{Text: "n", Warning: true}) },
			[]string{`{"type":"system","subtype":"informational","content":"n","level":"warning"`}},
		{"compacted", nil, func(p *Printer) { p.Event(agent.Compacted{Before: 9, After: 2, Manual: true}) },
			[]string{`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual","pre_tokens":9,"post_tokens":2}`}},
		{"the mode, not the model", nil, func(p *Printer) {
			p.Changed(session.Changed{Model: "x"})
			p.Changed(session.Changed{Mode: "plan"})
		}, []string{`{"type":"system","subtype":"status","status":null,"permissionMode":"plan"`}},
		{"no events of the provider", nil, func(p *Printer) {
			p.Event(agent.Requesting{})
			p.Event(agent.Delta{Event: model.Raw{JSON: json.RawMessage(`{"type":"ping"}`)}})
			p.Event(agent.Withdrawn{})
		}, nil},
		{"events of the provider", func(c *Config) { c.Partial = true }, func(p *Printer) {
			p.Event(agent.Requesting{})
			p.Event(agent.Delta{Event: model.Start{ID: "r1"}})
			p.Event(agent.Delta{Event: model.Raw{JSON: json.RawMessage(`{"n": 1}`)}})
			p.Event(agent.Delta{Event: model.Raw{JSON: json.RawMessage(`{"n": 2}`)}})
			p.Event(agent.Withdrawn{})
		}, []string{
			`{"type":"system","subtype":"status","status":"requesting"`,
			`{"type":"stream_event","event":{"n":1},"parent_tool_use_id":null,"ttft_ms":0,`,
			`{"type":"stream_event","event":{"n":2},"parent_tool_use_id":null,"session_id":"s"`,
			`{"type":"system","subtype":"tombstone","message_id":"r1"`,
		}},
		{"the hooks of the start", nil, func(p *Printer) {
			p.HookStarted(hook.Run{ID: "h1", Name: "SessionStart:startup", Event: hook.SessionStart})
			p.HookStarted(hook.Run{ID: "h2", Name: "PreToolUse:T", Event: hook.PreToolUse})
		}, []string{`{"type":"system","subtype":"hook_started","hook_id":"h1","hook_name":"SessionStart:startup","hook_event":"SessionStart"`}},
		{"all hooks", func(c *Config) { c.Hooks = true }, func(p *Printer) {
			run := hook.Run{ID: "h2", Name: "PreToolUse:T", Event: hook.PreToolUse}
			p.HookProgress(run, hook.Streams{Stdout: "o", Stderr: "e"})
			p.HookDone(run, hook.Report{Streams: hook.Streams{Stdout: "o"}, ExitCode: &code, Outcome: "error", Duration: time.Second})
		}, []string{
			`{"type":"system","subtype":"hook_progress","hook_id":"h2","hook_name":"PreToolUse:T","hook_event":"PreToolUse","output":"oe","stdout":"o","stderr":"e"`,
			`{"type":"system","subtype":"hook_response","hook_id":"h2","hook_name":"PreToolUse:T","hook_event":"PreToolUse","output":"o","stdout":"o","stderr":"","exit_code":2,"outcome":"error","duration_ms":1000`,
		}},
		{"a sub-agent", nil, func(p *Printer) {
			by := session.SubagentEvent{ID: "a1", Type: "scout", Title: "look around", Use: "u0"}
			for _, by.Event = range []agent.Event{
				appended("e1", msg.User, &msg.Text{Text: "look"}), appended("e2", msg.Assistant, &msg.Text{Text: "a"}),
				agent.ToolDone{Use: use, Result: denied, Denied: true}, agent.Failed{Err: overloaded},
			} {
				p.Beside(by)
			}
			by.Use, by.Event = "", appended("e3", msg.Assistant, &msg.Text{Text: "of no call"})
			p.Beside(by)
		}, []string{
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"look"}]},"parent_tool_use_id":"u0","agent_id":"a1","subagent_type":"scout","task_description":"look around"`,
			`{"type":"assistant","message":{"id":"","type":"message","role":"assistant","model":"","content":[{"type":"text","text":"a"}],"stop_reason":null,"stop_sequence":null},"parent_tool_use_id":"u0","agent_id":"a1"`,
			`{"type":"system","subtype":"permission_denied","tool_name":"T","tool_use_id":"u1","agent_id":"a1","message":"no"`,
		}},
		{"no result of a note", nil, func(p *Printer) { p.End(&Result{Note: true}) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, out := newPrinter(tt.change)
			tt.do(p)
			var got []string
			for line := range strings.Lines(out.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %s", line)
				}
				line = strings.TrimSpace(line)
				if i := len(got); i < len(tt.want) && strings.HasPrefix(line, tt.want[i]) {
					line = tt.want[i]
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFailed checks that the error that ends a turn is printed as a message, with its protocol
// name.
func TestFailed(t *testing.T) {
	p, out := newPrinter(nil)
	p.Event(agent.Failed{Err: &model.Error{Kind: model.Auth}})
	for _, want := range []string{`"model":"<synthetic>"`, `"text":"explained: `, `"error":"authentication_failed"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

// TestResultText checks that an answer cut off by the output limit and the next one form one
// text.
func TestResultText(t *testing.T) {
	cut := appended("e1", msg.Assistant, &msg.Text{Text: "one, t"})
	cut.Entry.Stop = string(model.StopMaxTokens)
	r := &Result{}
	r.Add(appended("e0", msg.Assistant, &msg.Text{Text: "before"}))
	r.Add(cut)
	r.Add(appended("e2", msg.Assistant, &msg.Text{Text: "wo"}))
	r.say("and more")
	if got := r.Text(); got != "one, two\nand more" {
		t.Errorf("got %q", got)
	}
	r.Output = json.RawMessage(`{}`)
	if got := r.Text(); got != "{}" {
		t.Errorf("got %q", got)
	}
}

type brokenPipe struct{ writes int }

func (b *brokenPipe) Write([]byte) (int, error) {
	b.writes++
	return 0, errors.New("broken pipe")
}

func TestWriterStopsAfterAnError(t *testing.T) {
	var b brokenPipe
	w := NewWriter(&b)
	w.Write([]byte("a\n"))
	w.Write([]byte("b\n"))
	if w.Err() == nil || b.writes != 1 {
		t.Errorf("failed: %v after %d writes", w.Err(), b.writes)
	}
}
