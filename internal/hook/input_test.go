package hook

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"adze/internal/platform/scope"
	"adze/internal/tool"
)

// everyEvent returns one event of each kind, in the order of the table.
func everyEvent(t testing.TB) []Event {
	use := shell(t, "go test ./... && echo <done>")
	agent := Agent{ID: "agent-7", Type: "reviewer"}
	task := Task{ID: "t1", Subject: "Tidy", Description: "Tidy up", Teammate: "Ada", Team: "core"}
	ask := Request{Server: "db", ID: "e1", Message: "Which table?", Mode: "form", Schema: json.RawMessage(`{"type":"object"}`)}
	return []Event{
		OnSessionStart("startup", "replay", "main"),
		OnSessionEnd("other"),
		OnSetup("init"),
		OnUserPromptSubmit("fix the\ntests"),
		OnStop(false, "Done."),
		OnStopFailure("rate_limit", "try again in 5 s"),
		OnNotification("permission_prompt", "adze", "adze needs your permission"),
		OnPreToolUse(use),
		OnPostToolUse(use, &tool.Result{Structured: map[string]any{"stdout": "ok"}}),
		OnPostToolUseFailure(use, "exit code 1", false),
		OnPermissionRequest(use, json.RawMessage(`[{"type":"addRules"}]`)),
		OnPermissionDenied(use, "a rule denies it"),
		OnSubagentStart(agent),
		OnSubagentStop(agent, true, "Looks good.", "/t/agent-7.jsonl"),
		OnPreCompact("manual", "keep the plan"),
		OnPostCompact("auto", "We fixed it."),
		OnTeammateIdle("Ada", "core"),
		OnTaskCreated(task),
		OnTaskCompleted(task),
		OnElicitation(ask),
		OnElicitationResult(ask, "accept", json.RawMessage(`{"table":"users"}`)),
		OnConfigChange(scope.Project, "/w/.adze/settings.json"),
		OnCwdChanged("/w", "/w/sub"),
		OnFileChanged("/w/.envrc", "change"),
		OnInstructionsLoaded("/w/AGENTS.md", "Project", "session_start", []string{"**/*.go"}),
		OnWorktreeCreate("feature"),
		OnWorktreeRemove("/w/trees/feature"),
	}
}

var common = Common{Session: "s-1", Transcript: "/t/s-1.jsonl", Dir: "/w", Mode: "default"}

// Proves HOOK-02.
func TestInputs(t *testing.T) {
	var all strings.Builder
	for i, e := range everyEvent(t) {
		if e.Name != kinds[i].name {
			t.Errorf("event %d is %s, want %s", i, e.Name, kinds[i].name)
		}
		line := e.input(common, func(err error) { t.Error(err) })
		if !json.Valid(line) || strings.Contains(string(line), "\n") {
			t.Errorf("%s is not one line of JSON", e.Name)
		}
		all.Write(append(line, '\n'))
	}
	inside := OnPreToolUse(shell(t, "ls")).From(Agent{ID: "agent-7", Type: "reviewer"})
	all.Write(append(inside.input(common, func(err error) { t.Error(err) }), '\n'))
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

// matchValues is what each event is matched by, as the specification lists it.
func TestMatchFields(t *testing.T) {
	for i, e := range everyEvent(t) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(e.input(common, func(error) {}), &fields); err != nil {
			t.Fatal(err)
		}
		field := kinds[i].matches
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
