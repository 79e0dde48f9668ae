//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostsFailClosed checks that a session never runs without a hook that the host relies on:
// an invalid initialize gets an error, and prompts are refused until a valid one. Unknown
// fields are accepted and reported.
//
// Proves X-137, HOOK-05.
func TestHostsFailClosed(t *testing.T) {
	t.Parallel()
	const (
		hooks = `"hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["cb"]}]}`
		// sdk has the form that the published SDK sends.
		sdk = `"hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["cb"],"timeout":60}]},"sdkMcpServers":[],"systemPrompt":"","promptSuggestions":false`
	)
	request := func(fields string) string {
		return `{"type":"control_request","request_id":"r","request":{"subtype":"initialize",` + fields + `}}`
	}
	tests := []struct {
		name, line string
		taken      bool
		says       string // expected in the output or on stderr
	}{
		{"as it should be", request(hooks), true, ""},
		{"again with --bare", "--bare " + request(hooks), true, ""},
		{"while hooks are switched off", "--settings={\"disableAllHooks\":true} " + request(hooks), false, "would never run, because hooks are disabled"},
		{"as an adapter starts it", "--replay-user-messages " + request(hooks), true, ""},
		{"as the SDK sends it", request(sdk), true, "promptSuggestions"},
		{"a text as system prompt", request(hooks + `,"systemPrompt":"x"`), true, ""},
		{"a list as system prompt", request(hooks + `,"systemPrompt":["x","y"]`), true, ""},
		{"no system prompt", request(hooks + `,"systemPrompt":null`), true, ""},
		{"an unknown event", request(`"hooks":{"PostModelSwitch":[{"hookCallbackIds":["x"]}],"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["cb"]}]}`), true, "hooks.PostModelSwitch: unknown event"},
		{"an unknown event of a strange type", request(`"hooks":{"Later":7,"PreToolUse":[{"hookCallbackIds":["cb"]}]}`), true, "hooks.Later"},
		{"an unknown field", request(hooks + `,"shiny":{"new":true}`), true, "not known, without effect: shiny"},
		{"an unknown field of a hook", request(`"hooks":{"PreToolUse":[{"hookCallbackIds":["cb"],"shiny":1}]}`), true, "shiny is not known"},
		{"servers and agents", request(hooks + `,"sdkMcpServers":["s"],"agents":{"a":{"description":"d","prompt":"p"}},"plugins":[{}]`), true, `{"name":"a","description":"d"}`},
		{"an agent without a description", request(hooks + `,"agents":{"a":{}}`), false, "invalid_agents"},

		{"system prompt of a wrong type", request(hooks + `,"systemPrompt":7`), false, "systemPrompt"},
		{"system prompt of objects", request(hooks + `,"systemPrompt":[{"text":"x"}]`), false, "systemPrompt"},
		{"appended prompt of a wrong type", request(hooks + `,"appendSystemPrompt":["x"]`), false, "appendSystemPrompt"},
		{"title of a wrong type", request(hooks + `,"title":7`), false, "title"},
		{"invalid schema", request(hooks + `,"jsonSchema":{"type":"array"}`), false, "invalid_schema"},
		{"servers of a wrong type", request(hooks + `,"sdkMcpServers":{"s":{}}`), false, "sdkMcpServers"},
		{"agents of a wrong type", request(hooks + `,"agents":["a"]`), false, "agents"},
		{"plugins of a wrong type", request(hooks + `,"plugins":{}`), false, "plugins"},
		{"hooks as a list", request(`"hooks":[{"event":"PreToolUse"}]`), false, "hooks"},
		{"hooks as a text", request(`"hooks":"PreToolUse"`), false, "hooks"},
		{"hooks as a number", request(`"hooks":1`), false, "hooks"},
		{"an event that is not a list", request(`"hooks":{"PreToolUse":{"hookCallbackIds":["cb"]}}`), false, "invalid_hooks"},
		{"an event that is null", request(`"hooks":{"PreToolUse":null}`), false, "invalid_hooks"},
		{"a group that is a text", request(`"hooks":{"PreToolUse":["cb"]}`), false, "invalid_hooks"},
		{"no callbacks", request(`"hooks":{"PreToolUse":[{"matcher":"Bash"}]}`), false, "invalid_hooks"},
		{"callbacks that are null", request(`"hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":null}]}`), false, "invalid_hooks"},
		{"callbacks as a text", request(`"hooks":{"PreToolUse":[{"hookCallbackIds":"cb"}]}`), false, "invalid_hooks"},
		{"callbacks as numbers", request(`"hooks":{"PreToolUse":[{"hookCallbackIds":[1]}]}`), false, "invalid_hooks"},
		{"a matcher of a wrong type", request(`"hooks":{"PreToolUse":[{"matcher":["Bash"],"hookCallbackIds":["cb"]}]}`), false, "invalid_hooks"},
		{"an invalid matcher", request(`"hooks":{"PreToolUse":[{"matcher":"((","hookCallbackIds":["cb"]}]}`), false, "invalid_hooks"},
		{"a timeout of a wrong type", request(`"hooks":{"PreToolUse":[{"hookCallbackIds":["cb"],"timeout":"60"}]}`), false, "invalid_hooks"},
		{"other letters", request(`"Hooks":{"PreToolUse":[{"hookCallbackIds":["cb"]}]}`), false, "write hooks"},
		{"other letters in a hook", request(`"hooks":{"PreToolUse":[{"HookCallbackIds":["cb"]}]}`), false, "invalid_hooks"},
		{"hooks twice", request(hooks + `,"hooks":{}`), false, "hooks is there twice"},
		{"an event twice", request(`"hooks":{"PreToolUse":[{"hookCallbackIds":["cb"]}],"PreToolUse":[]}`), false, "PreToolUse is there twice"},
		{"a request that is a text", `{"type":"control_request","request_id":"r","request":"initialize"}`, false, "invalid request"},
		{"a request that is a list", `{"type":"control_request","request_id":"r","request":["initialize",{` + hooks + `}]}`, false, "invalid request"},
		{"a subtype in a list", `{"type":"control_request","request_id":"r","request":{"subtype":["initialize"],` + hooks + `}}`, false, "invalid request"},
		{"an id that is a number", `{"type":"control_request","request_id":7,"request":{"subtype":"initialize",` + hooks + `}}`, false, `"request_id":"7"`},
		{"cut off", `{"type":"control_request","request_id":"r","request":{"subtype":"initialize",` + hooks, false, `"request_id":"r"`},
		{"a byte order mark", "\ufeff" + request(hooks), false, "cannot be read"},
		{"a type in other letters", `{"type":"Control_Request","request_id":"r","request":{"subtype":"initialize",` + hooks + `}}`, false, "cannot be read"},
		{"no type", `{"request_id":"control_request","request":{"subtype":"initialize",` + hooks + `}}`, false, "cannot be read"},
		{"too long", request(hooks + `,"appendSystemPrompt":"` + strings.Repeat("x", 10<<20) + `"`), false, "longer than 10 MB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			const prompt = `{"type":"user","message":{"role":"user","content":"go"}}`
			// The host denies every hook callback, at any time.
			var args []string
			if strings.HasPrefix(tt.line, "--") {
				flag, line, _ := strings.Cut(tt.line, " ")
				tt.line, args = line, []string{flag, ""}
			}
			in := tt.line + "\n" + prompt + "\n"
			out, said := hostRun(t, dir, in, "cb", args...)
			made := exists(filepath.Join(dir, "made.txt"))
			asked := strings.Contains(out, `"callback_id":"cb"`)
			refused := strings.Contains(out, "initialize was refused, so that no prompt is run until one succeeds")
			if made {
				t.Error("the command ran without the hook")
			}
			if asked != tt.taken || refused == tt.taken || !strings.Contains(out+said, tt.says) {
				t.Errorf("asked: %t, refused: %t\n%s\n%s", asked, refused, out, said)
			}
			if answer := `"subtype":"error"`; strings.Contains(out, answer) == tt.taken {
				t.Errorf("the answer is\n%s", out)
			}
			if tt.taken || args != nil {
				return
			}
			// Prompts work after a successful initialize.
			out, said = hostRun(t, dir, in+prompt+"\n"+request(hooks)+"\n"+prompt+"\n", "cb")
			if n := strings.Count(out, "initialize was refused"); n != 2 || !strings.Contains(out, `"callback_id":"cb"`) || exists(filepath.Join(dir, "made.txt")) {
				t.Errorf("%d prompts were refused\n%s\n%s", n, out, said)
			}
		})
	}
}

// TestSecondInitialize checks that a later initialize is handled like the first: omitted fields
// keep their values, and if it is invalid, earlier hooks stay active in the running turn, and
// prompts are refused again.
//
// Proves X-137.
func TestSecondInitialize(t *testing.T) {
	t.Parallel()
	const (
		first  = `{"type":"control_request","request_id":"1","request":{"subtype":"initialize","hooks":{"PreToolUse":[{"hookCallbackIds":["cb"]}]}}}`
		prompt = `{"type":"user","message":{"role":"user","content":"go"}}`
	)
	for name, tt := range map[string]struct {
		second         string
		asked, refused bool
	}{
		"without hooks":   {`{"type":"control_request","request_id":"2","request":{"subtype":"initialize","title":"x"}}`, true, false},
		"with empty ones": {`{"type":"control_request","request_id":"2","request":{"subtype":"initialize","hooks":{}}}`, true, false},
		"with others":     {`{"type":"control_request","request_id":"2","request":{"subtype":"initialize","hooks":{"Stop":[{"hookCallbackIds":["other"]}]}}}`, false, false},
		"with wrong ones": {`{"type":"control_request","request_id":"2","request":{"subtype":"initialize","hooks":{"Stop":7}}}`, false, true},
		"after a prompt":  {prompt + "\n" + first, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out, said := hostRun(t, dir, first+"\n"+tt.second+"\n"+prompt+"\n", "cb")
			if asked, refused := strings.Contains(out, `"callback_id":"cb"`), strings.Contains(out, "initialize was refused"); asked != tt.asked || refused != tt.refused {
				t.Errorf("asked: %t, refused: %t\n%s\n%s", asked, refused, out, said)
			}
		})
	}
}

// hostRun runs the program under a host that sends lines and denies every call in its hook. The
// model tries to create a file. It returns the program's output.
func hostRun(t *testing.T, dir, lines, callback string, args ...string) (out, said string) {
	t.Helper()
	write(t, filepath.Join(dir, "model.replay"), "forever\nwhen text \"made\"\nsay Done.\n---\nforever\nuse Bash {\"command\":\"touch made.txt\"}")
	bin, err := exec.LookPath("adze") // TestMain puts it into the PATH
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, append([]string{
		"--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions", "--max-turns", "2",
		"--model", "replay:" + filepath.Join(dir, "model.replay")}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "ADZE_HOME="+t.TempDir(), "ADZE_NO_FSYNC=1", "IS_SANDBOX=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	results := strings.Count(lines, `"type":"user"`)
	silent := results == 0
	go func() {
		for line := range strings.Lines(lines) {
			stdin.Write([]byte(line)) // ok: the program reports missing input
		}
		if silent {
			stdin.Close() // ok: as above
		}
	}()
	var all strings.Builder
	dec := json.NewDecoder(stdout)
	for {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
		all.Write(raw)
		all.WriteByte('\n')
		var m struct {
			Type      string `json:"type"`
			RequestID string `json:"request_id"`
			Request   struct {
				Callback string `json:"callback_id"`
			} `json:"request"`
		}
		json.Unmarshal(raw, &m) // ok: other lines have other fields
		switch {
		case m.Type == "control_request":
			answer := `{}`
			if m.Request.Callback == callback {
				answer = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
			}
			stdin.Write([]byte(`{"type":"control_response","response":{"subtype":"success","request_id":"` + m.RequestID + `","response":` + answer + "}}\n")) // ok: as above
		case m.Type == "result":
			if results--; results == 0 {
				stdin.Close() // ok: as above
			}
		}
	}
	cmd.Wait() // ok: a refused prompt makes the exit code 1
	return all.String(), errs.String()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
