package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/tool"
)

// Proves HOOK-20, HOOK-21.
func TestDecode(t *testing.T) {
	specific := func(n Name, fields string) string {
		return `{"hookSpecificOutput":{"hookEventName":"` + string(n) + `",` + fields + `}}`
	}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := []struct {
		event Name
		text  string
		want  output
	}{
		{Stop, `{}`, output{}},
		{Stop, ` {"continue":true,"other":7,"reason":null} `, output{}},
		{Stop, `{"continue":false,"stopReason":"enough","suppressOutput":true,"systemMessage":"hm"}`,
			output{stop: true, stopReason: "enough", suppress: true, message: "hm"}},
		{Stop, `{"decision":"block","reason":"not done"}`, output{decision: "block", reason: "not done"}},
		{PreToolUse, specific(PreToolUse, `"permissionDecision":"deny","permissionDecisionReason":"no","additionalContext":"c"`),
			output{permission: tool.Deny, permissionReason: "no", context: "c"}},
		{PreToolUse, specific(PreToolUse, `"permissionDecision":"allow","updatedInput":{"command":"ls"}`), output{permission: tool.Allow, input: raw(`{"command":"ls"}`)}},
		{PreToolUse, specific(PreToolUse, `"permissionDecision":"ask"`), output{permission: tool.Ask}},
		{PermissionRequest, specific(PermissionRequest, `"decision":{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[{"type":"setMode"}]}`),
			output{answer: &Answer{Decision: tool.Allow, UpdatedInput: raw(`{"a":1}`), UpdatedPermissions: raw(`[{"type":"setMode"}]`)}}},
		{PermissionRequest, specific(PermissionRequest, `"decision":{"behavior":"deny","message":"no","interrupt":true}`),
			output{answer: &Answer{Decision: tool.Deny, Message: "no", Interrupt: true}}},
		{PermissionDenied, specific(PermissionDenied, `"retry":true`), output{retry: true}},
		{PostToolUse, specific(PostToolUse, `"additionalContext":"c","updatedToolOutput":"new"`), output{context: "c", result: raw(`"new"`)}},
		{PostToolUse, specific(PostToolUse, `"updatedMCPToolOutput":[1]`), output{result: raw(`[1]`)}},
		{PostToolUseFailure, specific(PostToolUseFailure, `"additionalContext":"c"`), output{context: "c"}},
		{UserPromptSubmit, specific(UserPromptSubmit, `"additionalContext":"c"`), output{context: "c"}},
		{SubagentStart, specific(SubagentStart, `"additionalContext":"c"`), output{context: "c"}},
		{Setup, specific(Setup, `"additionalContext":"c"`), output{context: "c"}},
		{Notification, specific(Notification, `"additionalContext":"c"`), output{context: "c"}},
		{SessionStart, specific(SessionStart, `"additionalContext":"c","initialUserMessage":"go"`), output{context: "c", initial: "go"}},
		{WorktreeCreate, specific(WorktreeCreate, `"worktreePath":"/w/x"`), output{worktree: "/w/x"}},
		{Stop, specific(Stop, `"additionalContext":7`), output{}}, // unknown field for this event
		{Elicitation, specific(Elicitation, `"action":"accept","content":{"name":"x"}`), output{action: "accept", content: raw(`{"name":"x"}`)}},
		{ElicitationResult, specific(ElicitationResult, `"action":"decline"`), output{action: "decline"}},
	}
	for _, tt := range tests {
		k, _ := kindOf(tt.event)
		got, err := decode(k, []byte(tt.text))
		if err != nil {
			t.Errorf("%s: %s: %v", tt.event, tt.text, err)
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(output{})); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.event, tt.text, diff)
		}
	}
}

// Proves HOOK-20.
func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{`, "its output is not valid JSON: unexpected end of JSON input"},
		{`{} {}`, "its output is not valid JSON: invalid character '{' after top-level value"},
		{`{"continue":"no"}`, `continue: expected true or false, found "no"`},
		{`{"decision":"deny"}`, `decision: expected one of ["approve" "block"], found "deny"`},
		{`{"reason":["x"]}`, `reason: expected a string, found ["x"]`},
		{`{"hookSpecificOutput":"x"}`, `hookSpecificOutput: expected an object, found "x"`},
		{`{"hookSpecificOutput":{}}`, `hookSpecificOutput.hookEventName: expected "PreToolUse", found nothing`},
		{`{"hookSpecificOutput":{"hookEventName":"Stop"}}`, `hookSpecificOutput.hookEventName: expected "PreToolUse", found "Stop"`},
		{`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"maybe"}}`, `hookSpecificOutput.permissionDecision: expected one of ["allow" "deny" "ask"], found "maybe"`},
		{`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":[1]}}`, `hookSpecificOutput.updatedInput: expected an object, found [1]`},
	}
	k, _ := kindOf(PreToolUse)
	for _, tt := range tests {
		_, err := decode(k, []byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
			continue
		}
		if strings.Contains(err.Error(), "does not fit") && !strings.Contains(err.Error(), `permissionDecision?: "allow"|"deny"|"ask"`) {
			t.Errorf("%s: the error does not say what is expected: %v", tt.text, err)
		}
	}
	k, _ = kindOf(PermissionRequest)
	for _, decision := range []string{`{}`, `{"behavior":"ask"}`, `"allow"`, `{"behavior":"allow","updatedPermissions":{}}`} {
		if _, err := decode(k, []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`+decision+`}}`)); err == nil {
			t.Errorf("the decision %s was taken", decision)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(7, []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{}}}`))
	f.Add(10, []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`))
	f.Add(0, []byte(`{"continue":false,"async":true,"asyncTimeout":1e300}`))
	f.Fuzz(func(t *testing.T, event int, data []byte) {
		k := kinds[(event%len(kinds)+len(kinds))%len(kinds)]
		out, err := decode(k, data)
		if err != nil && !cmp.Equal(out, output{}, cmp.AllowUnexported(output{})) {
			t.Errorf("a verdict beside the error %v: %+v", err, out)
		}
		if err == nil && !json.Valid(data) {
			t.Errorf("taken for JSON: %q", data)
		}
		if wait, ok := asyncLine(data); ok && (wait <= 0 || !json.Valid(data)) {
			t.Errorf("asyncLine(%q) = %v", data, wait)
		}
	})
}
