package hook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parsed holds the fields of a hook that a test checks.
type parsed struct {
	Event, Matcher, Label string
	Type                  Type
	Words                 []string
	Timeout               time.Duration
	OnFailure             failure
	If                    string
}

func parseAll(src Source) ([]parsed, []string) {
	specs, problems := parse(&src)
	var got []parsed
	for _, s := range specs {
		got = append(got, parsed{string(s.event), s.matcher.text, s.label(), s.typ, s.words, s.timeout, s.onFailure, s.cond.text})
	}
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	return got, texts
}

// Proves HOOK-03.
func TestParse(t *testing.T) {
	a := parsed{Event: "Stop", Label: "a", Type: TypeCommand}
	tests := []struct {
		name, json string
		want       []parsed
		problems   []string
	}{
		{"nothing", `{}`, nil, nil},
		{"whole", `{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"guard","if":"Bash(git push*)","timeout":60,"onFailure":"continue"}]}]}`,
			[]parsed{{"PreToolUse", "Bash", "guard", TypeCommand, nil, time.Minute, failContinues, "Bash(git push*)"}}, nil},
		{"several", `{"Stop":[{"hooks":[{"type":"command","command":"a"},{"type":"prompt","prompt":"p","timeout":0.5}]},{"hooks":[{"type":"http","url":"https://x"}]}],"PreToolUse":[{"hooks":[{"type":"agent","prompt":"q"}]}]}`,
			[]parsed{{Event: "PreToolUse", Label: "q", Type: TypeAgent}, a, {Event: "Stop", Label: "p", Type: TypePrompt, Timeout: time.Second / 2}, {Event: "Stop", Label: "https://x", Type: TypeHTTP}}, nil},
		{"list of words", `{"Stop":[{"hooks":[{"type":"command","command":["fmt","a b","$x"]}]}]}`,
			[]parsed{{Event: "Stop", Label: "fmt a b $x", Type: TypeCommand, Words: []string{"fmt", "a b", "$x"}}}, nil},
		{"arguments", `{"Stop":[{"hooks":[{"type":"command","command":"fmt","args":["-w","a b"]}]}]}`,
			[]parsed{{Event: "Stop", Label: "fmt -w a b", Type: TypeCommand, Words: []string{"fmt", "-w", "a b"}}}, nil},
		{"object matcher", `{"PreToolUse":[{"matcher":{"tool_name":"Write"},"hooks":[{"type":"command","command":"a"}]}]}`,
			[]parsed{{Event: "PreToolUse", Matcher: "Write", Label: "a", Type: TypeCommand}}, nil},
		{"tool of a server", `{"Stop":[{"hooks":[{"type":"mcp_tool","server":"s","tool":"t","input":{"a":"${cwd}"}},{"type":"mcp_tool","tool":"t"},{"type":"mcp_tool","server":"s"},{"type":"mcp_tool","server":"s","tool":"t","input":[1]}]}]}`,
			[]parsed{{Event: "Stop", Label: "s t", Type: TypeTool}},
			[]string{"f.json: hooks.Stop[0].hooks[1]: a hook of type mcp_tool needs a server; the hook is left out",
				"f.json: hooks.Stop[0].hooks[2]: a hook of type mcp_tool needs a tool; the hook is left out",
				"f.json: hooks.Stop[0].hooks[3].input: expected an object, found [1]; the hook is left out"}},

		{"no object", `[1]`, nil, []string{`f.json: hooks: expected an object, found [1]; it is left out`}},
		{"null", `null`, nil, []string{`f.json: hooks: expected an object, found null; it is left out`}},
		{"no JSON", `{"Stop":`, nil, []string{`f.json: hooks: expected an object, found {"Stop":; it is left out`}},
		{"unknown event", `{"PretoolUse":[],"Stop":[{"hooks":[{"type":"command","command":"a"}]}],"Q":1}`, []parsed{a},
			[]string{"f.json: hooks.PretoolUse: unknown event; did you mean PreToolUse?", "f.json: hooks.Q: unknown event"}},
		{"no list", `{"Stop":{"hooks":[]}}`, nil, []string{`f.json: hooks.Stop: expected a list, found {"hooks":[]}; it is left out`}},
		{"no group", `{"Stop":[3,{"hooks":[{"type":"command","command":"a"}]}]}`, []parsed{a}, []string{"f.json: hooks.Stop[0]: expected an object, found 3; it is left out"}},
		{"no hooks", `{"Stop":[{}]}`, nil, []string{"f.json: hooks.Stop[0].hooks: expected a list, found nothing; it is left out"}},
		{"no entry", `{"Stop":[{"hooks":["x",{"type":"command","command":"a"}]}]}`, []parsed{a},
			[]string{`f.json: hooks.Stop[0].hooks[0]: expected an object, found "x"; the hook is left out`}},
		{"wrong field", `{"Stop":[{"hooks":[{"type":"command","command":"x","async":"yes"},{"type":"command","command":"a"}]}]}`, []parsed{a},
			[]string{"f.json: hooks.Stop[0].hooks[0].async: unexpected string; the hook is left out"}},
		{"unknown type", `{"Stop":[{"hooks":[{"type":"callback"},{"type":"command","command":"a"},{}]}]}`, []parsed{a},
			[]string{
				`f.json: hooks.Stop[0].hooks[0].type: unknown hook type "callback" (want command, prompt, agent, http or mcp_tool); the hook is left out`,
				`f.json: hooks.Stop[0].hooks[2].type: unknown hook type "" (want command, prompt, agent, http or mcp_tool); the hook is left out`,
			}},
		{"nothing to run", `{"Stop":[{"hooks":[{"type":"command"},{"type":"command","command":" "},{"type":"command","command":[]},{"type":"prompt"},{"type":"http"}]}]}`, nil,
			[]string{
				"f.json: hooks.Stop[0].hooks[0]: a hook of type command needs a command: a text, or a list of words; the hook is left out",
				"f.json: hooks.Stop[0].hooks[1]: a hook of type command needs a command: a text, or a list of words; the hook is left out",
				"f.json: hooks.Stop[0].hooks[2]: a hook of type command needs a command: a text, or a list of words; the hook is left out",
				"f.json: hooks.Stop[0].hooks[3]: a hook of type prompt needs a prompt; the hook is left out",
				"f.json: hooks.Stop[0].hooks[4]: a hook of type http needs a url; the hook is left out",
			}},
		{"timeouts", `{"Stop":[{"hooks":[{"type":"command","command":"a","timeout":0},{"type":"command","command":"a","timeout":"5"},{"type":"command","command":"a","timeout":-1},{"type":"command","command":"a","timeout":1e99}]}]}`,
			[]parsed{a, a, a, a},
			[]string{
				"f.json: hooks.Stop[0].hooks[0].timeout: expected a number of seconds above 0, found 0; the default is used",
				`f.json: hooks.Stop[0].hooks[1].timeout: expected a number of seconds above 0, found "5"; the default is used`,
				"f.json: hooks.Stop[0].hooks[2].timeout: expected a number of seconds above 0, found -1; the default is used",
				"f.json: hooks.Stop[0].hooks[3].timeout: expected a number of seconds above 0, found 1e99; the default is used",
			}},
		{"onFailure", `{"PreToolUse":[{"hooks":[{"type":"command","command":"a","onFailure":"ask"},{"type":"command","command":"a","onFailure":3}]}]}`,
			[]parsed{{Event: "PreToolUse", Label: "a", Type: TypeCommand, OnFailure: failBlocks}, {Event: "PreToolUse", Label: "a", Type: TypeCommand, OnFailure: failBlocks}},
			[]string{
				`f.json: hooks.PreToolUse[0].hooks[0].onFailure: expected "continue" or "block", found "ask"; "block" is used`,
				`f.json: hooks.PreToolUse[0].hooks[1].onFailure: expected "continue" or "block", found 3; "block" is used`,
			}},
		{"condition elsewhere", `{"Stop":[{"hooks":[{"type":"command","command":"a","if":"Bash"}]}]}`, []parsed{a},
			[]string{"f.json: hooks.Stop[0].hooks[0].if: Stop is not about a call, so it cannot have a condition; the hook runs without it"}},
		{"broken condition", `{"PreToolUse":[{"hooks":[{"type":"command","command":"a","if":"Bash(x"}]}]}`,
			[]parsed{{Event: "PreToolUse", Label: "a", Type: TypeCommand, If: "Bash(x"}},
			[]string{`f.json: hooks.PreToolUse[0].hooks[0].if: the condition "Bash(x" is not a rule such as Bash(git push*); the hook always runs`}},
		{"broken matcher", `{"PreToolUse":[{"matcher":"(","hooks":[]},{"matcher":{"source":"x"},"hooks":[]},{"matcher":7,"hooks":[]}]}`, nil,
			[]string{
				"f.json: hooks.PreToolUse[0].matcher: the matcher \"(\" is neither a list of names nor a regular expression: error parsing regexp: missing closing ): `(`; the hooks never run",
				`f.json: hooks.PreToolUse[1].matcher: expected a text, or an object with the one field "tool_name"; the hooks never run`,
				`f.json: hooks.PreToolUse[2].matcher: expected an object, found 7; it is left out`,
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := Source{Name: "user settings", File: "f.json", JSON: json.RawMessage(tt.json)}
			got, problems := parseAll(src)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("hooks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.problems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":["a"],"if":"Bash(x)","timeout":1}]}]}`))
	f.Add([]byte(`{"hooks":{"Stop":[{"matcher":{"a":1},"hooks":[null,{"type":"http","url":"x","headers":{"a":"b"}}]}]}}`))
	f.Add([]byte(`{"Stop":[{"matcher":"(","hooks":[{}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		specs, problems := parse(&Source{Name: "s", JSON: data})
		for _, s := range specs {
			if s.label() == "" || s.source == nil || s.timeout < 0 {
				t.Errorf("half a hook: %+v", s)
			}
			s.key()
		}
		for _, p := range problems {
			if p.Error() == "" {
				t.Error("a problem without words")
			}
		}
		p := &parser{src: &Source{Name: "host"}}
		p.host(data)
	})
}

// TestMatchersOfNoTool checks that a matcher that no tool can match is reported with a
// suggestion, and that others are not.
func TestMatchersOfNoTool(t *testing.T) {
	tests := []struct{ matcher, cond, want string }{
		{"Bash", "", ""},
		{"*", "", ""},
		{"", "", ""},
		{"Edit|Write|MultiEdit", "", ""},
		{"Shell", "Bash(git push*)", ""},
		{"mcp__db__.*", "", ""},
		{"mcp__db", "mcp__db__*", ""},
		{".*", "", ""},
		{"^(Read|Edit)$", "", ""},
		{"Notebook.*|Task.*", "", ""},
		{"bash", "", "unknown tool bash (did you mean Bash?)"},
		{"Bash|Wirte", "", "unknown tool Wirte (did you mean Write?)"},
		{"Edit, write", "", "did you mean Write?"},
		{"^bash$", "", "no tool is called ^bash$"},
		{"Edit.*|Nothing.*", "", "no tool is called Nothing.*"},
		{"Bash(git *)", "", `write "Bash" as the matcher, and "if": "Bash(git *)" in the hook`},
		{"Bash", "bash(git push*)", "did you mean Bash?); the hook never runs"},
	}
	for _, tt := range tests {
		data, err := json.Marshal(map[string]any{"PreToolUse": []any{map[string]any{
			"matcher": tt.matcher, "hooks": []any{map[string]any{"type": "command", "command": "guard", "if": tt.cond}},
		}}, "SessionStart": []any{map[string]any{"matcher": "startup", "hooks": []any{}}}})
		if err != nil {
			t.Fatal(err)
		}
		problems := Check([]Source{{File: "f.json", JSON: data}})
		switch {
		case tt.want == "" && len(problems) > 0:
			t.Errorf("%s: %v", tt.matcher, problems)
		case tt.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].Error(), tt.want)):
			t.Errorf("%s: %v, want %s", tt.matcher, problems, tt.want)
		}
	}
}
