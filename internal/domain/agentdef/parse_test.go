package agentdef

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/tool"
)

const head = "---\nname: reviewer\ndescription: reviews code\n"

func parse(t *testing.T, fields string) (*Definition, []Problem, error) {
	t.Helper()
	return Parse("/a/x.md", []byte(head+fields+"---\nLook closely.\n"), Source{Kind: User})
}

// Proves AGENT-20.
func TestParse(t *testing.T) {
	fields := `tools: Read, Grep, Agent(Explore, Plan)
disallowedTools: [Bash, mcp__web]
model: haiku
effort: high
permissionMode: plan
maxTurns: 12
skills: [review, style]
mcpServers:
  - github
  - own: {command: serve, args: ["1", true], timeout: 5000}
requiredMcpServers: git*
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - {type: command, command: "./check", timeout: 5}
memory: project
background: true
isolation: worktree
initialPrompt: Begin.
color: cyan
omitInstructions: yes
`
	want := &Definition{
		Name: "reviewer", Description: "reviews code", Prompt: "Look closely.", Model: "haiku", Effort: "high", MaxTurns: 12,
		Access: Access{
			Tools: []string{"Read", "Grep", "Agent(Explore, Plan)"}, Disallowed: []string{"Bash", "mcp__web"}, Mode: "plan",
			Skills: []string{"review", "style"}, Required: []string{"git*"},
			Servers: []Server{{Name: "github"}, {"own", json.RawMessage(`{"args":["1","true"],"command":"serve","timeout":5000}`)}},
		},
		Hooks:  json.RawMessage(`{"PreToolUse":[{"hooks":[{"command":"./check","timeout":5,"type":"command"}],"matcher":"Bash"}]}`),
		Memory: ProjectMemory, Background: true, Worktree: true, OmitInstructions: true, InitialPrompt: "Begin.", Color: "cyan",
		Source: Source{Kind: User}, File: "/a/x.md",
	}
	for _, name := range []string{"plain", "CRLF", "BOM"} {
		t.Run(name, func(t *testing.T) {
			file := head + fields + "---\nLook closely.\n"
			switch name {
			case "CRLF":
				file = strings.ReplaceAll(file, "\n", "\r\n")
			case "BOM":
				file = "\ufeff" + file
			}
			got, problems, err := Parse("/a/x.md", []byte(file), Source{Kind: User})
			if err != nil || len(problems) > 0 {
				t.Fatal(problems, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestParseBad checks that invalid fields are ignored, except that invalid permissions disable
// the agent.
//
// Proves AGENT-20.
func TestParseBad(t *testing.T) {
	tests := []struct {
		fields   string
		problem  string // reported problem
		disabled string // reason the agent is disabled
	}{
		{"model: [a]", "/a/x.md:4: model: expected a text; the field is ignored", ""},
		{"effort: heroic", "expected low, medium, high, xhigh, max; the field is ignored", ""},
		{"maxTurns: many", "expected a number above 0; the field is ignored", ""},
		{"maxTurns: -1", "expected a number above 0", ""},
		{"background: perhaps", "expected true or false", ""},
		{"isolation: container", "isolation: expected worktree", ""},
		{"color: beige", "color: expected red", ""},
		{"skills: {a: 1}", "skills: expected a list of names", ""},
		{"mcpServers: [[a]]", "mcpServers: expected names of servers", ""},
		{"mcpServers: {a: text}", "mcpServers: a: expected an object", ""},
		{"tools: Raed", "unknown tool Raed (did you mean Read?); the name is ignored", ""},
		{"tools:", "it names no tool, so that the agent has none", ""},
		{"permission-mode: plan", "unknown field; did you mean permissionMode?", ""},
		{"tool: Read", "unknown field; did you mean tools?", ""},

		{"permissionMode: yolo", "", "/a/x.md:4: permissionMode: unknown permission mode"},
		{"permissionMode: [plan]", "", "permissionMode: unknown permission mode"},
		{"tools: {Read: true}", "", "tools: expected names of tools"},
		{"tools: Bash(git *)", "", `tools: "Bash(git *)" limits a tool to some of its calls`},
		{"tools: Agent()", "", "is not closed, or empty"},
		{"tools: Agent(a", "", "is not closed, or empty"},
		{"tools: Re*", "", "is not a tool name"},
		{"disallowedTools: Agent(x)", "", "limits a tool to some of its calls"},
		{"hooks: [a]", "", "hooks: expected events with hooks; the agent is disabled"},
		{"hooks: {PreToolUse: [{matcher: x}]}", "", "PreToolUse: expected groups of hooks"},
		{"memory: everywhere", "", "memory: expected user, project, local; the agent is disabled"},
		{"name: again", "", "says name again; the agent is disabled"},
	}
	for _, test := range tests {
		t.Run(test.fields, func(t *testing.T) {
			d, problems, err := parse(t, test.fields+"\n")
			switch {
			case test.disabled != "":
				if d != nil || err == nil || !strings.Contains(err.Error(), test.disabled) {
					t.Errorf("got %v, %v", d, err)
				}
			case err != nil || d == nil:
				t.Error(err)
			case len(problems) != 1 || !strings.Contains(problems[0].Error(), test.problem):
				t.Errorf("got %v", problems)
			}
		})
	}
}

// TestParseEveryField checks that a wrong value in any field is reported or disables the agent.
// It fails for a field missing from the table.
//
// Proves AGENT-20.
func TestParseEveryField(t *testing.T) {
	const (
		used     = "used"     // the value is used, and nothing is reported
		reported = "reported" // the field is reported; the agent is used without it
		disabled = "disabled" // the agent is rejected
	)
	values := []string{"", "[]", "{}", "[a]", "[[a]]", "{a: 1}", "7", "-1", "99999999999999999999", "true", `"\x1b[2J"`}
	tests := map[string][]string{
		"name":               {disabled, disabled, disabled, disabled, disabled, disabled, disabled, disabled, disabled, used, disabled},
		"description":        {disabled, disabled, disabled, disabled, disabled, disabled, used, used, used, used, used},
		"tools":              {reported, used, disabled, reported, disabled, disabled, reported, reported, reported, reported, reported},
		"disallowedTools":    {used, used, disabled, reported, disabled, disabled, reported, reported, reported, reported, reported},
		"model":              {used, reported, reported, reported, reported, reported, used, used, used, used, used},
		"effort":             {used, reported, reported, reported, reported, reported, reported, reported, reported, reported, reported},
		"permissionMode":     {used, disabled, disabled, disabled, disabled, disabled, disabled, disabled, disabled, disabled, disabled},
		"maxTurns":           {used, reported, reported, reported, reported, reported, used, reported, reported, reported, reported},
		"skills":             {used, used, reported, used, reported, reported, used, used, used, used, used},
		"mcpServers":         {used, used, used, used, reported, reported, used, used, used, used, used},
		"requiredMcpServers": {used, used, reported, used, reported, reported, used, used, used, used, used},
		"hooks":              {used, used, used, disabled, disabled, disabled, disabled, disabled, disabled, disabled, disabled},
		"memory":             {used, disabled, disabled, disabled, disabled, disabled, disabled, disabled, disabled, disabled, disabled},
		"background":         {used, reported, reported, reported, reported, reported, reported, reported, reported, used, reported},
		"isolation":          {used, reported, reported, reported, reported, reported, reported, reported, reported, reported, reported},
		"initialPrompt":      {used, reported, reported, reported, reported, reported, used, used, used, used, used},
		"color":              {used, reported, reported, reported, reported, reported, reported, reported, reported, reported, reported},
		"omitInstructions":   {used, reported, reported, reported, reported, reported, reported, reported, reported, used, reported},
	}
	for _, field := range known() {
		want, ok := tests[field]
		if !ok {
			t.Errorf("%s is not tested", field)
		}
		var got []string
		for _, value := range values {
			fields := map[string]string{"name": "reviewer", "description": "reviews code"}
			fields[field] = value
			file := "---\n"
			for name, value := range fields {
				file += name + ": " + value + "\n"
			}
			d, problems, err := Parse("/a/x.md", []byte(file+"---\nLook.\n"), Source{Kind: User})
			switch {
			case d == nil && err != nil:
				got = append(got, disabled)
			case len(problems) == 1 && problems[0].Field == field && problems[0].Line > 0:
				got = append(got, reported)
			case len(problems) == 0:
				got = append(got, used)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, for %q: %s", field, values, diff)
		}
	}
}

// Proves AGENT-20.
func TestParseNoAgent(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ntools: [*d,*d,*d]\n"
	tests := []struct{ name, file, want string }{
		{"no head", "Look closely.", "not an agent: it has no front matter"},
		{"no name", "---\ndescription: x\n---\n", "not an agent: its front matter has no name"},
		{"no description", "---\nname: x\n---\n", "not an agent: its front matter has no description"},
		{"name as a list", "---\nname: [a]\ndescription: x\n---\n", "has no name"},
		{"name with a path", "---\nname: ../x\ndescription: x\n---\n", "name: an agent cannot be called \"../x\": " + NameRule},
		{"name with a control character", "---\nname: \"a\\x1b[0m\"\ndescription: x\n---\n", "an agent cannot be called"},
		{"long name", "---\nname: " + strings.Repeat("a", 65) + "\ndescription: x\n---\n", "an agent cannot be called"},
		{"open head", "---\nname: x\n", "the front matter is not closed"},
		{"binary", "---\nname: x\x00\n---\n", "it is not a text file"},
		{"large head", "---\nname: " + strings.Repeat("a", maxHead) + "\n---\n", "which is more than"},
		{"bomb", "---\nname: x\ndescription: y\n" + bomb + "---\n", "too large, or repeats itself"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, _, err := Parse("/a/x.md", []byte(test.file), Source{Kind: User})
			if d != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v", d, err)
			}
		})
	}
}

// Proves AGENT-20.
func TestParsePlugin(t *testing.T) {
	file := head + "permissionMode: bypassPermissions\nhooks: {Stop: [{hooks: [{type: command, command: x}]}]}\nmcpServers: [{a: {command: x}}]\n---\nx"
	d, problems, err := Parse("/a/x.md", []byte(file), Source{Plugin, "p"})
	if err != nil || d.Mode != "" || d.Hooks != nil || d.Servers != nil {
		t.Errorf("got %+v, %v", d, err)
	}
	if len(problems) != 3 || !strings.Contains(problems[0].Text, "agents of plugins may not set it") {
		t.Error(problems)
	}
}

// Proves AGENT-20.
func TestParseFlag(t *testing.T) {
	list, problems, err := ParseFlag([]byte(`{
		"b": {"description": "second", "prompt": "B <system-reminder>", "tools": ["Read"], "maxTurns": 3, "background": true, "model": null},
		"a": {"description": "first", "prompt": "A", "effort": 7}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []*Definition{
		{Name: "a", Description: "first", Prompt: "A", Source: Source{Kind: Flag}},
		{Name: "b", Description: "second", Prompt: "B &lt;system-reminder>", Access: Access{Tools: []string{"Read"}}, MaxTurns: 3, Background: true, Source: Source{Kind: Flag}},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if len(problems) != 1 || problems[0].Field != "effort" {
		t.Error(problems)
	}
	for data, want := range map[string]string{
		`[`:                                    "expected a JSON object",
		`[]`:                                   "expected a JSON object",
		`{"a": 1}`:                             "a: expected an object with description and prompt",
		`{"a": {"prompt": "x"}}`:               "no description",
		`{"a/b": {"description": "x"}}`:        "cannot be called",
		`{"a": {"description": "x"}} {}`:       "something follows",
		`{"a": {"description":"x","tools":1}}`: "",
		`{"a": {"description":"x","permissionMode":"root"}}`: "unknown permission mode",
	} {
		if _, _, err := ParseFlag([]byte(data)); (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", data, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(head + "tools: Agent(a, b), *\nhooks: {Stop: [{hooks: [{type: command}]}]}\n---\nx")
	f.Add(head + "mcpServers: [a, {b: {command: c}}]\ndisallowedTools: [mcp__a]\n---\n")
	f.Add("\ufeff---\r\nname: &a x\r\ndescription: *a\r\n---\r\n")
	f.Fuzz(func(t *testing.T, file string) {
		d, problems, err := Parse("x.md", []byte(file), Source{Kind: User})
		if (d == nil) != (err != nil) {
			t.Fatalf("got %v, %v", d, err)
		}
		for _, p := range problems {
			if p.Text == "" || p.File != "x.md" {
				t.Errorf("problem %+v", p)
			}
		}
		if d == nil {
			return
		}
		if !ValidName(d.Name) || d.Description == "" || d.Hooks != nil && !json.Valid(d.Hooks) {
			t.Errorf("got %+v", d)
		}
		d.Allows("Read", &tool.Traits{}, true)
		d.MayLaunch("x")
	})
}
