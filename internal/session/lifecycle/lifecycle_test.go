package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/proc/envfile"
	"adze/internal/session"
	"adze/internal/tool"
)

var (
	_ agent.StopHook      = (*Hooks)(nil)
	_ tool.Gate           = (*Hooks)(nil)
	_ tool.After          = (*Hooks)(nil)
	_ permission.HookFunc = (*Hooks)(nil).Answer
	_ Session             = (*session.Session)(nil)
)

// A bench runs the hooks of a simulated session. It answers every event as the test defines,
// and records the hooks' input.
type bench struct {
	*Hooks
	t       *testing.T
	answers map[hook.Name]string
	// meanwhile is called while a hook runs; it may be nil.
	meanwhile func(hook.Name)

	mu       sync.Mutex
	fired    []string
	said     []string
	notified []session.Op
}

func (b *bench) Model() string { return "sonnet" }

func (b *bench) Submit(_ context.Context, op session.Op) error {
	b.notified = append(b.notified, op)
	return nil
}

// note records an event with a field of its input.
func (b *bench) note(e hook.Name, value any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fired = append(b.fired, fmt.Sprintf("%s %v", e, value))
}

func (b *bench) takeFired() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	fired := b.fired
	b.fired = nil
	return fired
}

// newBench returns a bench with the given answers to events, each JSON or empty.
func newBench(t *testing.T, c Config, answers map[hook.Name]string) *bench {
	t.Helper()
	b := &bench{t: t, answers: answers}
	c.ModelID = func(name string) string { return "id-of-" + name }
	c.Say = func(text string) { b.said = append(b.said, text) }
	b.Hooks = New(c)
	b.Attach(b)
	var events []string
	for _, name := range []hook.Name{
		hook.SessionStart, hook.SessionEnd, hook.UserPromptSubmit, hook.Stop, hook.StopFailure, hook.PreCompact, hook.PostCompact,
		hook.PermissionRequest, hook.PermissionDenied, hook.CwdChanged, hook.FileChanged,
	} {
		events = append(events, fmt.Sprintf(`%q:[{"hookCallbackIds":[%q]}]`, name, name))
	}
	if notes, err := b.SetHost(json.RawMessage("{"+strings.Join(events, ",")+"}"), b.answer); err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	return b
}

// answer simulates the hooks.
func (b *bench) answer(_ context.Context, id string, input json.RawMessage, _ string) (json.RawMessage, error) {
	var in map[string]any
	if err := json.Unmarshal(input, &in); err != nil {
		b.t.Error(err)
	}
	var facts []string
	for _, key := range []string{"source", "model", "reason", "prompt", "stop_hook_active", "last_assistant_message", "error", "error_details", "trigger", "custom_instructions", "compact_summary", "tool_name", "file_path", "event"} {
		if v, ok := in[key]; ok {
			facts = append(facts, fmt.Sprintf("%s=%v", key, v))
		}
	}
	b.note(hook.Name(id), strings.Join(facts, " "))
	if b.meanwhile != nil {
		b.meanwhile(hook.Name(id))
	}
	text := b.answers[hook.Name(id)]
	if text == "" {
		text = "{}"
	}
	return json.RawMessage(text), nil
}

func specific(e hook.Name, fields string) string {
	return fmt.Sprintf(`{"hookSpecificOutput":{"hookEventName":%q,%s}}`, e, fields)
}

func prompt(text string) session.Prompt {
	return session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}}
}

// TestStartAndEnd checks that SessionStart fires before the first prompt, and that SessionEnd
// fires once, if the session started.
func TestStartAndEnd(t *testing.T) {
	b := newBench(t, Config{Source: "resume", Exit: "other"}, map[hook.Name]string{
		hook.SessionStart: specific(hook.SessionStart, `"additionalContext":"mind the style guide","initialUserMessage":"begin"`),
	})
	heard := b.PromptHook(t.Context(), prompt("one"))
	if text := msg.PlainText(heard.Context); heard.Blocked != "" || !strings.Contains(text, "mind the style guide") || !strings.HasSuffix(text, "begin") {
		t.Errorf("heard %q, blocked %q", text, heard.Blocked)
	}
	if heard = b.PromptHook(t.Context(), prompt("two")); len(heard.Context) > 0 {
		t.Errorf("the second prompt: %q", msg.PlainText(heard.Context))
	}
	b.Close()
	want := []string{"SessionStart source=resume model=id-of-sonnet", "UserPromptSubmit prompt=one", "UserPromptSubmit prompt=two", "SessionEnd reason=other"}
	if diff := cmp.Diff(want, b.takeFired()); diff != "" {
		t.Error(diff)
	}

	silent := newBench(t, Config{Source: "startup", Exit: "other"}, nil)
	silent.Close()
	if got := silent.takeFired(); len(got) > 0 {
		t.Errorf("an empty session: %q", got)
	}
}

func TestPromptHook(t *testing.T) {
	for _, tt := range []struct{ name, answer, blocked, context string }{
		{"pass", "", "", ""},
		{"context", specific(hook.UserPromptSubmit, `"additionalContext":"it is Friday"`), "", "it is Friday"},
		{"block", `{"decision":"block","reason":"not today"}`, " blocked the prompt: not today", ""},
		{"stop", `{"continue":false,"stopReason":"enough"}`, "enough", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Config{}, map[hook.Name]string{hook.UserPromptSubmit: tt.answer})
			defer b.Close()
			heard := b.PromptHook(t.Context(), prompt("x"))
			if !strings.HasSuffix(heard.Blocked, tt.blocked) || tt.blocked == "" && heard.Blocked != "" || !strings.Contains(msg.PlainText(heard.Context), tt.context) {
				t.Errorf("blocked %q, context %q", heard.Blocked, msg.PlainText(heard.Context))
			}
		})
	}
}

func TestStop(t *testing.T) {
	for _, tt := range []struct{ name, answer, block, prevent string }{
		{"stop", "", "", ""},
		{"work on", `{"decision":"block","reason":"run the tests"}`, "run the tests", ""},
		{"end the turn", `{"continue":false,"stopReason":"enough"}`, "", "enough"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Config{}, map[hook.Name]string{hook.Stop: tt.answer})
			defer b.Close()
			v, err := b.Stop(t.Context(), agent.StopInput{Active: true, Last: msg.Message{Parts: []msg.Part{&msg.Text{Text: "done"}}}})
			if err != nil || v.Block != tt.block || v.Prevent != tt.prevent {
				t.Errorf("%+v, %v", v, err)
			}
			if diff := cmp.Diff([]string{"Stop stop_hook_active=true last_assistant_message=done"}, b.takeFired()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEnded checks that only a provider error fires the failure event.
func TestEnded(t *testing.T) {
	b := newBench(t, Config{}, nil)
	defer b.Close()
	for _, e := range []agent.Ended{
		{Reason: agent.Completed}, {Reason: agent.AbortedStreaming, Err: errors.New("x")}, {Reason: agent.ModelError},
		{Reason: agent.ModelError, Err: fmt.Errorf("asking: %w", &model.Error{Kind: model.Overloaded, Err: errors.New("try later")})},
		{Reason: agent.ModelError, Err: errors.New("no such model")},
	} {
		b.Ended(t.Context(), e)
	}
	got := b.takeFired()
	if len(got) != 2 || !strings.HasPrefix(got[0], "StopFailure error=overloaded error_details=asking: ") || got[1] != "StopFailure error=unknown error_details=no such model" {
		t.Errorf("%q", got)
	}
}

// TestCompaction checks that hooks can prevent a compaction or add instructions, and that
// SessionStart fires after it.
func TestCompaction(t *testing.T) {
	b := newBench(t, Config{Source: "startup"}, map[hook.Name]string{
		hook.SessionStart: specific(hook.SessionStart, `"additionalContext":"mind the style guide"`),
	})
	defer b.Close()
	c := b.Compaction()
	if keep, block := c.Before(t.Context(), compact.Manual, "the plan"); keep != "" || block != "" {
		t.Errorf("keep %q, block %q", keep, block)
	}
	if after := msg.PlainText(c.After(t.Context(), compact.Auto, "what happened")); !strings.Contains(after, "mind the style guide") {
		t.Errorf("after: %q", after)
	}
	want := []string{"PreCompact trigger=manual custom_instructions=the plan", "PostCompact trigger=auto compact_summary=what happened", "SessionStart source=compact model=id-of-sonnet"}
	if diff := cmp.Diff(want, b.takeFired()); diff != "" {
		t.Error(diff)
	}
	b.answers[hook.PreCompact] = `{"decision":"block","reason":"not yet"}`
	if _, block := c.Before(t.Context(), compact.Auto, ""); !strings.HasSuffix(block, ": not yet") {
		t.Errorf("block %q", block)
	}
	b.answers[hook.PreCompact] = `{"continue":false,"stopReason":"enough"}`
	if _, block := c.Before(t.Context(), compact.Auto, ""); block != "enough" {
		t.Errorf("stop %q", block)
	}
	if got := plainReminders([]msg.Part{msg.Reminder("keep a"), msg.Reminder("keep b")}); !strings.Contains(got, "keep a") || !strings.Contains(got, "keep b") || strings.Contains(got, "<") {
		t.Errorf("reminders: %q", got)
	}
}

func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         permission.Answer
		answered     bool
		problem      string
	}{
		{"none", "", permission.Answer{}, false, ""},
		{"allow", `{"behavior":"allow","updatedInput":{"a":1}}`, permission.Answer{Behavior: permission.Allow, Input: json.RawMessage(`{"a":1}`)}, true, ""},
		{"allow for good", `{"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`,
			permission.Answer{Behavior: permission.Allow, Updates: []permission.Update{{Type: permission.SetMode, Mode: permission.AcceptEdits, Destination: scope.Session}}}, true, ""},
		{"deny", `{"behavior":"deny","message":"no","interrupt":true}`, permission.Answer{Behavior: permission.Deny, Message: "no", Interrupt: true}, true, ""},
		{"updates that cannot be read", `{"behavior":"allow","updatedPermissions":[7]}`, permission.Answer{}, false, "updatedPermissions: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := map[hook.Name]string{}
			if tt.answer != "" {
				answers[hook.PermissionRequest] = specific(hook.PermissionRequest, `"decision":`+tt.answer)
			}
			b := newBench(t, Config{}, answers)
			defer b.Close()
			got, answered, err := b.Answer(t.Context(), &tool.Use{ToolUse: msg.ToolUse{ID: "1", Name: "Do", Input: json.RawMessage(`{}`)}}, nil)
			if problem := fmt.Sprint(err); answered != tt.answered || (err != nil) != (tt.problem != "") || !strings.Contains(problem, tt.problem) && err != nil {
				t.Errorf("answered %v, %v", answered, err)
			}
			got.By = ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A verdict is a gate with a fixed decision or error.
type verdict struct {
	tool.Decision
	err error
}

func (v verdict) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Decision = v.Decision
	return v.err
}

// TestDenials checks that hooks run for denials and for no other decision of a gate.
func TestDenials(t *testing.T) {
	b := newBench(t, Config{}, nil)
	defer b.Close()
	failed := errors.New("failed")
	for _, v := range []verdict{{tool.Allow, nil}, {tool.Deny, failed}, {tool.Deny, nil}} {
		u := &tool.Use{ToolUse: msg.ToolUse{ID: "1", Name: "Do", Input: json.RawMessage(`{}`)}}
		if err := b.Denials(v).Before(t.Context(), u); err != v.err || u.Verdict.Decision != v.Decision {
			t.Errorf("%+v: %v, %v", v, u.Verdict.Decision, err)
		}
	}
	if diff := cmp.Diff([]string{"PermissionDenied reason= tool_name=Do"}, b.takeFired()); diff != "" {
		t.Error(diff)
	}
}

// TestNews checks that notifications reach the session after Attach, and the observer after
// Show.
func TestNews(t *testing.T) {
	b := newBench(t, Config{}, nil)
	defer b.Close()
	b.Notify(session.Notify{Text: "a task ended", Wake: true})
	if diff := cmp.Diff([]session.Op{session.Notify{Text: "a task ended", Wake: true}}, b.notified); diff != "" {
		t.Error(diff)
	}
	early := New(Config{Say: func(string) {}})
	early.Notify(session.Notify{Text: "too early"})
	early.Close()

	b.PromptHook(t.Context(), prompt("unseen"))
	var seen observer
	b.Show(&seen)
	b.PromptHook(t.Context(), prompt("seen"))
	if seen.started != 1 || seen.done != 1 {
		t.Errorf("%+v", &seen)
	}
}

type observer struct{ started, done int }

func (o *observer) HookStarted(hook.Run)                { o.started++ }
func (o *observer) HookProgress(hook.Run, hook.Streams) {}
func (o *observer) HookDone(hook.Run, hook.Report)      { o.done++ }

// TestProblems checks that the user sees configuration errors, at the start and on reload.
func TestProblems(t *testing.T) {
	wrong := []hook.Source{{Name: "user", Scope: scope.User, Trusted: true, JSON: json.RawMessage(`{"Nope":[]}`)}}
	b := newBench(t, Config{Runner: hook.Config{Sources: wrong}}, nil)
	defer b.Close()
	b.Reload(wrong)
	if len(b.said) != 2 || !strings.Contains(b.said[0], "Nope") || b.said[0] != b.said[1] {
		t.Errorf("said %q", b.said)
	}
}

// TestEnvFile checks that the environment file is writable after the session starts and removed
// when it ends.
func TestEnvFile(t *testing.T) {
	file := envfile.New(filepath.Join(t.TempDir(), "session-env", "id.sh"), nil, nil)
	b := newBench(t, Config{EnvFile: file}, nil)
	b.PromptHook(t.Context(), prompt("x"))
	if err := os.WriteFile(file.Path(), []byte("export A=b\n"), 0o600); err != nil {
		t.Error(err)
	}
	b.Close()
	if _, err := os.Stat(file.Path()); err == nil {
		t.Error("the file outlives the session")
	}
	if !slices.Contains(b.takeFired(), "SessionEnd reason=") {
		t.Error("the session has not ended")
	}
}
