package hook

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// everyEvent returns an event of each kind that is fired, in table order.
func everyEvent(t testing.TB) []Event {
	use := shell(t, "go test ./... && echo <done>")
	return []Event{
		OnSessionStart("startup", "replay"),
		OnSessionEnd("other"),
		OnUserPromptSubmit("fix the\ntests"),
		OnStop(false, "Done."),
		OnStopFailure("rate_limit", "try again in 5 s"),
		OnPreToolUse(use),
		OnPostToolUse(use, &tool.Result{Structured: map[string]any{"stdout": "ok"}}),
		OnPostToolUseFailure(use, "exit code 1", false),
		OnPermissionRequest(use, json.RawMessage(`[{"type":"addRules"}]`)),
		OnPermissionDenied(use, "a rule denies it"),
		OnPreCompact("manual", "keep the plan"),
		OnPostCompact("auto", "We fixed it."),
		OnNotification("elicitation_dialog", "docs", "Which branch?"),
		OnElicitation(ElicitRequest{Server: "docs", Message: "Which branch?", Schema: json.RawMessage(`{"type":"object"}`)}),
		OnElicitation(ElicitRequest{Server: "docs", Message: "Sign in.", URL: "https://example.com/x?a=b&c", ID: "e-1"}),
		OnElicitationResult(ElicitRequest{Server: "docs"}, "accept", map[string]any{"branch": "main"}),
		OnElicitationResult(ElicitRequest{Server: "docs", URL: "https://example.com", ID: "e-1"}, "decline", nil),
		OnConfigChange(scope.Project, "/w/.adze/settings.json"),
		OnCwdChanged("/w", "/w/sub"),
		OnFileChanged("/w/.envrc", "change"),
		OnInstructionsLoaded("/w/AGENTS.md", "Project", "session_start", []string{"**/*.go"}),
		OnWorktreeCreate("agent-0a1b2c3d"),
		OnWorktreeRemove("/w/.adze/worktrees/agent-0a1b2c3d"),
	}
}

var common = Common{Session: "s-1", Transcript: "/t/s-1.jsonl", Dir: "/w", Mode: "default"}

// Proves HOOK-02.
func TestInputs(t *testing.T) {
	var all strings.Builder
	for _, e := range everyEvent(t) {
		line := e.input(common, func(err error) { t.Error(err) })
		if !json.Valid(line) || strings.Contains(string(line), "\n") {
			t.Errorf("%s is not one line of JSON", e.Name)
		}
		all.Write(append(line, '\n'))
	}
	golden(t, "inputs.golden", all.String())
}

// Proves HOOK-02.
func TestInputThatJSONCannotExpress(t *testing.T) {
	for _, value := range []any{math.NaN(), make(chan int), panics{}} {
		var problems []error
		e := OnPostToolUse(shell(t, "ls"), &tool.Result{Structured: value})
		line := e.input(common, func(err error) { problems = append(problems, err) })
		if !strings.HasSuffix(string(line), `"tool_use_id":"toolu_1","tool_response":null}`) || len(problems) != 1 {
			t.Errorf("%T: %s, %v", value, line, problems)
		}
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("boom") }

func TestInputIsCut(t *testing.T) {
	long := strings.Repeat("ä", maxInput)
	for _, e := range []Event{
		OnPostToolUse(shell(t, "ls"), &tool.Result{Structured: map[string]string{"stdout": long}}),
		OnPostToolUseFailure(shell(t, "ls"), long, false),
	} {
		line := e.input(common, func(err error) { t.Error(err) })
		if len(line) > maxInput || !json.Valid(line) || !strings.Contains(string(line), "[cut: ") || !strings.Contains(string(line), "toolu_1") {
			t.Errorf("%s: %d bytes, ending in %s", e.Name, len(line), line[len(line)-80:])
		}
	}
}

func TestMatchFields(t *testing.T) {
	for _, e := range everyEvent(t) {
		k, ok := kindOf(e.Name)
		if !ok {
			t.Fatalf("%s is not in the table", e.Name)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(e.input(common, func(error) {}), &fields); err != nil {
			t.Fatal(err)
		}
		field := k.matches
		if field == "" {
			if e.value != "" {
				t.Errorf("%s is matched by %q", e.Name, e.value)
			}
			continue
		}
		var value string
		if err := json.Unmarshal(fields[field], &value); err != nil || value == "" {
			t.Errorf("%s: field %s: %q, %v", e.Name, field, value, err)
		}
		if want := value[strings.LastIndex(value, "/")+1:]; e.value != want {
			t.Errorf("%s is matched by %q, want %q", e.Name, e.value, want)
		}
	}
	if names := Names(); len(names) != 27 || !slices.Contains(names, Notification) {
		t.Errorf("%d events: %v", len(names), names)
	}
}
