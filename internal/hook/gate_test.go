//go:build unix

package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/agent/exec"
	"adze/internal/msg"
	"adze/internal/tool"
)

// bed is an executor with hooks around a tool.
type bed struct {
	ex   *exec.Executor
	pool *tool.Pool
	ran  []string
}

func newBed(hooks *Runner) *bed {
	b := &bed{ex: &exec.Executor{
		Gates:  []exec.Gate{{Name: "hooks", Gate: hooks}, {Name: "permission", Gate: permissive{}}},
		Afters: []exec.After{{Name: "hooks", After: hooks}},
	}}
	b.pool, _ = tool.NewRegistry(newTool[shellInput]("Bash", shellSchema, &b.ran, "Shell")).Assemble(nil, nil)
	return b
}

func (b *bed) run(ctx context.Context, command string) exec.Outcome {
	p := b.ex.Bind(b.pool, &msg.ToolUse{ID: "toolu_1", Name: "Bash", Input: json.RawMessage(fmt.Sprintf(`{"command":%q}`, command))})
	b.ex.Admit(ctx, p)
	return b.ex.Run(ctx, p, nil)
}

// says returns a hook that prints specific output.
func says(event Name, fields string) string {
	return command(fmt.Sprintf(`echo '{"hookSpecificOutput":{"hookEventName":%q,%s}}'`, event, fields))
}

// Proves HOOK-21.
func TestPreToolUseOutput(t *testing.T) {
	tests := []struct{ name, fields, ran, text string }{
		{"new input", `"updatedInput":{"command":"safe"}`, `{"command":"safe"}`, "ok"},
		{"new input and deny", `"permissionDecision":"deny","permissionDecisionReason":"no","updatedInput":{"command":"safe"}`, "", "Not allowed: refused by PreToolUse hook"},
		{"input that does not fit", `"updatedInput":{"line":"safe"}`, "", "a PreToolUse hook rewrote the input of Bash, but the new input is invalid: invalid input for Bash: 2 problems\n- command: required"},
		{"context", `"additionalContext":"mind the gap"`, `{"command":"deploy"}`, "mind the gap"},
		{"ask", `"permissionDecision":"ask","permissionDecisionReason":"sure?"`, "", "sure?"},
		{"deny", `"permissionDecision":"deny","permissionDecisionReason":"not on Fridays"`, "", "not on Fridays"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := start(t, Config{}, on(PreToolUse, says(PreToolUse, tt.fields)))
			b := newBed(r)
			o := b.run(t.Context(), "deploy")
			if got := strings.Join(b.ran, " "); got != tt.ran {
				t.Errorf("ran %s, want %s", got, tt.ran)
			}
			text := msg.PlainText(append(o.Result.Parts, o.Context...))
			if !strings.Contains(strings.ToLower(text), strings.ToLower(tt.text)) {
				t.Errorf("the model reads %q, want %q", text, tt.text)
			}
		})
	}
}

// Proves HOOK-22.
func TestStopOfAToolHookEndsTheTurn(t *testing.T) {
	for _, event := range []Name{PreToolUse, PostToolUse} {
		r, _ := start(t, Config{}, on(event, command(`echo '{"continue":false,"stopReason":"enough"}'`)))
		b := newBed(r)
		o := b.run(t.Context(), "deploy")
		if o.Stop != "enough" {
			t.Errorf("%s: stop %q", event, o.Stop)
		}
		if ran := len(b.ran) > 0; ran != (event == PostToolUse) {
			t.Errorf("%s: the call ran: %v", event, ran)
		}
	}
}

// Proves HOOK-21.
func TestPostToolUseOutput(t *testing.T) {
	tests := []struct{ name, fields, want string }{
		{"text", `"updatedToolOutput":"redacted"`, "redacted"},
		{"blocks", `"updatedMCPToolOutput":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "ab"},
		{"other", `"updatedToolOutput":{"n":1}`, `{"n":1}`},
		{"other list", `"updatedToolOutput":[{"type":"image"}]`, `[{"type":"image"}]`},
		{"unchanged", `"additionalContext":"c"`, "ok"},
	}
	for _, tt := range tests {
		r, _ := start(t, Config{}, on(PostToolUse, says(PostToolUse, tt.fields)))
		o := newBed(r).run(t.Context(), "deploy")
		if got := strings.ReplaceAll(msg.PlainText(o.Result.Parts), "\n", ""); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if told := len(o.Context) > 0; told != (tt.name == "unchanged") {
			t.Errorf("%s: context %v", tt.name, o.Context)
		}
	}
	r, _ := start(t, Config{}, on(PostToolUse, command("echo not gofmted >&2; exit 2")))
	if o := newBed(r).run(t.Context(), "deploy"); !strings.Contains(msg.PlainText(o.Context), "not gofmted") || o.Result.IsError {
		t.Errorf("the model received %q", msg.PlainText(o.Context))
	}
}

func TestPostToolUseFailure(t *testing.T) {
	dir := t.TempDir()
	r, _ := start(t, Config{Dir: dir}, on(PostToolUseFailure, command("cat >>seen")), on(PostToolUse, command("touch wrong")))
	use := shell(t, "deploy")
	res := tool.Text("exit code 3")
	res.IsError = true
	if err := r.After(t.Context(), use, &res); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.After(ctx, use, &res); err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(dir, "seen")
	eventually(t, "the hook was not told of the interruption", func() bool {
		data, err := os.ReadFile(seen)
		return err == nil && strings.Count(string(data), "\n") == 2
	})
	data, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(data), `"error":"exit code 3","is_interrupt":false}`) || !strings.Contains(string(data), `"is_interrupt":true}`) {
		t.Errorf("%s, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "wrong")); err == nil {
		t.Error("a failure counted as success")
	}
}

// Proves HOOK-21, HOOK-14.
func TestPermissionRequest(t *testing.T) {
	allow := `"decision":{"behavior":"allow","updatedInput":{"command":"ls"},"updatedPermissions":[{"type":"setMode"}]}`
	tests := []struct {
		name  string
		hooks []string
		want  Answer
	}{
		{"nobody", nil, Answer{}},
		{"silent", []string{command("true")}, Answer{}},
		{"allow", []string{says(PermissionRequest, allow)},
			Answer{Decision: tool.Allow, UpdatedInput: json.RawMessage(`{"command":"ls"}`), UpdatedPermissions: json.RawMessage(`[{"type":"setMode"}]`)}},
		{"deny", []string{says(PermissionRequest, `"decision":{"behavior":"deny","message":"no","interrupt":true}`)}, Answer{Decision: tool.Deny, Message: "no", Interrupt: true}},
		{"deny beats allow", []string{says(PermissionRequest, `"decision":{"behavior":"deny","message":"no"}`), says(PermissionRequest, allow)}, Answer{Decision: tool.Deny, Message: "no"}},
		{"code 2", []string{command("echo never >&2; exit 2"), says(PermissionRequest, allow)}, Answer{Decision: tool.Deny, Message: "never"}},
		{"broken beats allow", []string{says(PermissionRequest, allow), command("/no/such/hook 2>/dev/null")},
			Answer{Decision: tool.Ask, Message: "The hook gave no verdict: exit code 127: the command was not found"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var settings []json.RawMessage
			if tt.hooks != nil {
				settings = append(settings, on(PermissionRequest, tt.hooks...))
			}
			r, _ := start(t, Config{}, settings...)
			got := r.PermissionRequest(t.Context(), shell(t, "deploy"), nil)
			if (got.By == "") != (tt.want.Decision == tool.Undecided) {
				t.Errorf("by %q", got.By)
			}
			got.By = ""
			// An answer replaced by a stricter one must leave no trace.
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Proves HOOK-21.
func TestOtherOutputs(t *testing.T) {
	dir := t.TempDir()
	fire := func(e Event, hooks ...string) Outcome {
		r, _ := start(t, Config{Dir: dir}, on(e.Name, hooks...))
		return r.Fire(t.Context(), e)
	}
	use := shell(t, "deploy")
	r, _ := start(t, Config{}, on(PermissionDenied, says(PermissionDenied, `"retry":true`)))
	if !r.PermissionDenied(t.Context(), use) || !strings.Contains(msg.PlainText(use.Verdict.Context), "allows you to retry") {
		t.Errorf("retry: %v", use.Verdict.Context)
	}
	out := fire(OnSessionStart("startup", ""), says(SessionStart, `"initialUserMessage":"begin"`))
	if out.InitialMessage != "begin" {
		t.Errorf("SessionStart: %+v", out)
	}
	for _, tt := range []struct {
		hooks []string
		want  string
	}{
		{[]string{says(WorktreeCreate, `"worktreePath":"/w/x"`)}, "/w/x"},
		{[]string{command(`echo /w/y; echo note >&2`)}, "/w/y"},
		{[]string{command(`echo /w/y; exit 1`)}, ""},
		{[]string{command(`true`)}, ""},
	} {
		if out := fire(OnWorktreeCreate("x"), tt.hooks...); out.Worktree != tt.want {
			t.Errorf("%q: %+v", tt.hooks, out)
		}
	}
	asked := OnElicitation(ElicitRequest{Server: "docs"})
	for _, tt := range []struct {
		hooks  []string
		action string
	}{
		{[]string{says(Elicitation, `"action":"accept","content":{"a":1}`)}, "accept"},
		{[]string{says(Elicitation, `"action":"decline"`), says(Elicitation, `"action":"accept"`)}, "decline"},
		{[]string{says(Elicitation, `"action":"cancel"`), says(Elicitation, `"action":"accept"`)}, "cancel"},
		{[]string{command("true")}, ""},
		{[]string{command("exit 2")}, ""},
	} {
		out := fire(asked, tt.hooks...)
		if out.Action != tt.action || out.Blocked != (tt.hooks[0] == command("exit 2")) || (tt.action == "accept") != (out.Content != nil) {
			t.Errorf("%s: %+v", tt.hooks, out)
		}
	}
	for _, e := range []Event{OnUserPromptSubmit("x"), OnPostToolUseFailure(use, "x", false)} {
		if out := fire(e, says(e.Name, `"additionalContext":"c"`)); len(out.Context) != 1 {
			t.Errorf("%s: context %v", e.Name, out.Context)
		}
	}
}
