package hook

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
)

// TestToolHooks checks that a server tool's result counts like a command's output, and that an
// unreachable server counts like a broken hook.
//
// Proves HOOK-05, HOOK-14.
func TestToolHooks(t *testing.T) {
	const hook = `{"type":"mcp_tool","server":"guard","tool":"check","input":{"command":"${tool_input.command}","about":"run in ${cwd}: ${tool_input}","n":1}}`
	const input = `{"about":"run in /w: {\"command\":\"deploy\"}","command":"deploy","n":1}`
	use := shell(t, "deploy")
	for _, tt := range []struct {
		name, entry, input, text string
		err                      error
		want                     string
	}{
		{"nothing said", hook, input, "", nil, ""},
		{"denies", hook, input, `{"decision":"block","reason":"no"}`, nil, "denied"},
		{"says something", hook, input, "all right", nil, ""},
		{"garbage", hook, input, `{"decision":`, nil, "said asked"},
		{"not connected", hook, input, "", errors.New("guard is not connected"), "said asked"},
		{"not connected, lenient", `{"type":"mcp_tool","server":"guard","tool":"check","onFailure":"continue"}`, `{}`, "", errors.New("gone"), "said"},
		{"not connected, strict", `{"type":"mcp_tool","server":"guard","tool":"check","onFailure":"block"}`, `{}`, "", errors.New("gone"), "denied"},
		{"what the event lacks", `{"type":"mcp_tool","server":"guard","tool":"check","input":{"a":"${tool_input.file}"}}`, "", "", nil, "said asked"},
	} {
		var called string
		r, _ := start(t, Config{Dir: "/w", CallTool: func(_ context.Context, server, tool string, input json.RawMessage) (string, error) {
			if server != "guard" || tool != "check" {
				t.Errorf("%s: called %s %s", tt.name, server, tool)
			}
			called = string(input)
			return tt.text, tt.err
		}}, on(PreToolUse, tt.entry))
		out := r.Fire(t.Context(), OnPreToolUse(use))
		if got := summary(out); got != tt.want || called != tt.input {
			t.Errorf("%s: %q, want %q, input %s: %+v", tt.name, got, tt.want, called, out)
		}
	}
	r, _ := start(t, Config{}, on(PreToolUse, hook))
	if got := summary(r.Fire(t.Context(), OnPreToolUse(use))); got != "said asked" {
		t.Errorf("without servers: %q", got)
	}
}

func TestFillIn(t *testing.T) {
	const event = `{"a":{"b":[1,2],"big":12345678901234567890},"s":"x\"y"}`
	for _, tt := range []struct{ input, want string }{
		{``, `{}`},
		{`{"v":"${a.b}"}`, `{"v":[1,2]}`},
		{`{"v":["${a.big}"]}`, `{"v":[12345678901234567890]}`},
		{`{"v":"<${s}> ${a.b}"}`, `{"v":"<x\"y> [1,2]"}`},
		{`{"v":"$s {s} ${"}`, `{"v":"$s {s} ${"}`},
		{`{"v":"${a.c}"}`, ""},
		{`{"v":"${a.b.c}"}`, ""},
		{`{"v":"${}"}`, ""},
	} {
		got, err := fillIn(json.RawMessage(tt.input), json.RawMessage(event))
		if string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %s, %v", tt.input, got, err)
		}
	}
}
