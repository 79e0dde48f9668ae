package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestParse checks that every field is parsed in the forms people use, and that an invalid
// field is reported by name and ignored.
//
// Proves SKILL-10.
func TestParse(t *testing.T) {
	tests := []struct {
		name, head string
		want       Head
		problems   string // invalid fields
	}{
		{"nothing", "", Head{}, ""},
		{"name", "name: Code Review", Head{Title: "Code Review"}, ""},
		{"name is a list", "name: [a, b]", Head{}, "name"},
		{"name is a number", "name: 12", Head{Title: "12"}, ""},
		{"description", "description: use it: often", Head{Description: "use it: often"}, ""},
		{"description in lines", "description: >\n  one\n  two", Head{Description: "one two"}, ""},
		{"description is a map", "description: {a: b}", Head{}, "description"},
		{"description in brackets", "description: [beta] sorts things", Head{Description: "[beta] sorts things"}, ""},
		{"when", "when_to_use: before a commit", Head{When: "before a commit"}, ""},
		{"when with dashes", "when-to-use: before a commit", Head{When: "before a commit"}, ""},
		{"when, twice", "when_to_use: a\nwhen-to-use: b", Head{When: "a"}, "when_to_use"},
		{"when is a list", "when_to_use: [a]", Head{}, "when_to_use"},
		{"rules with commas", "allowed-tools: Bash(git add *), Read,Bash(echo \\(a, b\\))", Head{Allowed: []string{"Bash(git add *)", "Read", `Bash(echo \(a, b\))`}}, ""},
		{"rules with blanks", "allowed-tools: Bash(git:*) Read", Head{Allowed: []string{"Bash(git:*)", "Read"}}, ""},
		{"rules in a list", "allowed-tools:\n  - Bash(npm run *)\n  - 'Read'\n  - Grep, Glob", Head{Allowed: []string{"Bash(npm run *)", "Read", "Grep", "Glob"}}, ""},
		{"rules in brackets", "allowed-tools: [Bash(git *), Read]", Head{Allowed: []string{"Bash(git *)", "Read"}}, ""},
		{"rules with an underscore", "allowed_tools: Read", Head{Allowed: []string{"Read"}}, ""},
		{"no rules", "allowed-tools:", Head{}, ""},
		{"an empty list of rules", "allowed-tools: []", Head{}, ""},
		{"hint", "argument-hint: <file> <line>", Head{Hint: "<file> <line>"}, ""},
		{"hint in brackets", "argument-hint: [file] [line]", Head{Hint: "[file] [line]"}, ""},
		{"hint in brackets, and more", "argument-hint: [file] or all", Head{Hint: "[file] or all"}, ""},
		{"hint is a map", "argument-hint: {a: b}", Head{}, "argument-hint"},
		{"hint is a list of maps", "argument-hint: [{a: b}]", Head{}, "argument-hint"},
		{"arguments", "arguments: [from, to_line]", Head{Arguments: []string{"from", "to_line"}}, ""},
		{"arguments with blanks", "arguments: from to-line", Head{Arguments: []string{"from", "to-line"}}, ""},
		{"arguments that are not names", "arguments: [a b, 'c$(d)']", Head{}, "arguments"},
		{"arguments are a map", "arguments: {a: b}", Head{}, "arguments"},
		{"model", "model: inherit", Head{Model: "inherit"}, ""},
		{"model is a list", "model: [a]", Head{}, "model"},
		{"effort", "effort: max", Head{Effort: "max"}, ""},
		{"effort is a number", "effort: 12000", Head{Effort: "12000"}, ""},
		{"effort is a map", "effort: {a: b}", Head{}, "effort"},
		{"inline", "context: inline", Head{}, ""},
		{"fork", "context: fork\nagent: Explore", Head{Fork: true, As: "Explore"}, ""},
		{"another context", "context: thread", Head{}, "context"},
		{"agent is a list", "agent: [a]", Head{}, "agent"},
		{"hidden", "user-invocable: false", Head{Hidden: true}, ""},
		{"not hidden", "user-invocable: true", Head{}, ""},
		{"perhaps hidden", "user-invocable: 0", Head{}, "user-invocable"},
		{"manual", "disable-model-invocation: True", Head{Manual: true}, ""},
		{"manual is a list", "disable-model-invocation: [true]", Head{}, "disable-model-invocation"},
		{"version", "version: 1.10", Head{Version: "1.10"}, ""},
		{"version is a map", "version: {a: b}", Head{}, "version"},
		{"paths", "paths: \"src/**/*.{ts,tsx}, *.go\"", Head{Paths: []string{"src/**/*.{ts,tsx}", "*.go"}}, ""},
		{"paths without quotes", "paths: *.go", Head{Paths: []string{"*.go"}}, ""},
		{"paths in a list", "paths:\n- a/**\n- '!a/b/**'", Head{Paths: []string{"a/**", "!a/b/**"}}, ""},
		{"paths that are wrong", "paths: ['[z-a]', '*.go']", Head{Paths: []string{"[z-a]", "*.go"}}, "paths"},
		{"paths are a map", "paths: {a: b}", Head{}, "paths"},
		{"shell", "shell: PowerShell", Head{Shell: "powershell"}, ""},
		{"shell in a list", "shell: [bash]", Head{Shell: "bash"}, ""},
		{"another shell", "shell: fish", Head{}, "shell"},
		{"two shells", "shell: [bash, powershell]", Head{}, "shell"},
		{"hooks", "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: true\n          timeout: 5\n          once: true",
			Head{Hooks: json.RawMessage(`{"PreToolUse":[{"hooks":[{"command":"true","once":true,"timeout":5,"type":"command"}],"matcher":"Bash"}]}`)}, ""},
		{"no hooks", "hooks:", Head{}, ""},
		{"fields of others", "license: MIT\nmetadata:\n  author: x\nbackground: true\ndisallowed-tools: Bash\nfuture: [x]", Head{}, ""},
		{"anchors", "name: &n x\ndescription: *n", Head{Title: "x", Description: "x"}, ""},
		{"a null", "name: null\nmodel: ~", Head{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{
				"---\n" + tt.head + "\n---\n", "\ufeff---\r\n" + strings.ReplaceAll(tt.head, "\n", "\r\n") + "\r\n---  \r\n",
			} {
				h, body, problems, err := Parse("f", []byte(text))
				if diff := cmp.Diff(tt.want, h); diff != "" || body != "" || err != nil {
					t.Errorf("%q: %v\n%s", text, err, diff)
				}
				var fields []string
				for _, p := range problems {
					if fields = append(fields, p.Field); p.File != "f" || p.Text == "" {
						t.Errorf("problem %+v", p)
					}
				}
				if strings.Join(fields, " ") != tt.problems {
					t.Errorf("problems: %v", problems)
				}
			}
		})
	}
}

// TestParseDisables checks that a skill with unreadable front matter or unclear permissions is
// disabled.
//
// Proves SKILL-03, SKILL-10.
func TestParseDisables(t *testing.T) {
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 10; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	tests := []struct{ name, text, field, want string }{
		{"not closed", "---\nname: x\n", "", "not closed"},
		{"not YAML", "---\nname: x\nwhat is this\n---\n", "", "line 2"},
		{"a tab", "---\nmetadata:\n\ta: b\n---\n", "", "line 2"},
		{"twice", "---\nname: x\nname: y\n---\n", "", "again"},
		{"too large", "---\nname: " + strings.Repeat("x", maxHead) + "\n---\n", "", "more than"},
		{"multiplies", "---\n" + bomb + "---\n", "", "too large"},
		{"contains itself", "---\nhooks: &a {x: *a}\n---\n", "", "repeats itself"},
		{"deep", "---\nhooks: " + strings.Repeat("[", 20000) + "\n---\n", "", ""},
		{"not text", "\xff\xfe-\x00-\x00", "", "UTF-8"},
		{"rules are a map", "---\nallowed-tools: {Bash: true}\n---\n", "allowed-tools", "expected rules"},
		{"rules in lists", "---\nallowed-tools: [[Bash]]\n---\n", "allowed-tools", "expected rules"},
		{"an open rule", "---\nallowed-tools: 'Bash(git *, Read'\n---\n", "allowed-tools", "parentheses"},
		{"no rule", "---\nallowed-tools: (x)\n---\n", "allowed-tools", "not a rule"},
		{"brackets and more", "---\nallowed-tools: [Bash(x)] Read\n---\n", "allowed-tools", "not a rule"},
		{"rules, twice", "---\nallowed-tools: Read\nallowed_tools: Bash\n---\n", "allowed-tools", "allowed_tools"},
		{"hooks are a text", "---\nhooks: x\n---\n", "hooks", "expected events"},
		{"hooks are a list", "---\nhooks: [x]\n---\n", "hooks", "expected events"},
		{"an event is a text", "---\nhooks: {Stop: x}\n---\n", "hooks", "Stop"},
		{"no groups", "---\nhooks: {Stop: [x]}\n---\n", "hooks", "Stop"},
		{"no type", "---\nhooks: {Stop: [{hooks: [{command: x}]}]}\n---\n", "hooks", "Stop"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, body, _, err := Parse("f", []byte(tt.text))
			var p Problem
			if !errors.As(err, &p) || p.File != "f" || p.Field != tt.field || !strings.Contains(p.Text, tt.want) {
				t.Errorf("error: %v", err)
			}
			if diff := cmp.Diff(Head{}, h); diff != "" || body != "" {
				t.Errorf("something is left: %q\n%s", body, diff)
			}
		})
	}
}

// TestDescriptionFallback checks that the prompt's first paragraph is the default description.
//
// Proves SKILL-10.
func TestDescriptionFallback(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no head", "Do this\nand that.\n\nThen rest.", "Do this and that."},
		{"a heading", "---\nname: x\n---\n\n# Title\n\nDo this.\n", "Do this."},
		{"a heading above the line", "# Title\nDo this.", "Do this."},
		{"nothing but a heading", "## Title\n", "Title"},
		{"nothing", "", ""},
		{"an empty one", "---\ndescription: ''\n---\nDo this.", "Do this."},
		{"a wrong one", "---\ndescription: [a]\n---\nDo this.", "Do this."},
		{"a long one", strings.Repeat("é", maxText), strings.Repeat("é", maxText/2) + "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if h, _, _, err := Parse("f", []byte(tt.text)); h.Description != tt.want || err != nil {
				t.Errorf("%q, %v", h.Description, err)
			}
		})
	}
}

// Proves SKILL-31.
func TestMatches(t *testing.T) {
	tests := []struct {
		paths     string
		yes, no   string
		malformed bool
	}{
		{paths: "*.test.ts", yes: "a.test.ts src/b.test.ts", no: "a.ts test.ts"},
		{paths: "src/**/*.{ts,tsx}", yes: "src/a.ts src/x/y/b.tsx", no: "a.ts lib/src/a.ts src/a.js"},
		{paths: "docs", yes: "docs docs/a.md x/docs/b", no: "docs.md"},
		{paths: "/docs/", yes: "docs/a.md", no: "x/docs/a.md"},
		{paths: "src/**, !src/gen/**", yes: "src/a", no: "src/gen/a src/gen/b/c"},
		{paths: "**", yes: "a a/b/c", no: "../a /a"},
		{paths: "[a-c].go", yes: "a.go x/c.go", no: "d.go"},
		{paths: "'*.go, [z-a]'", no: "a.go", malformed: true},
		{paths: "'[a'", no: "a [a", malformed: true},
		{paths: "''", no: "a"},
	}
	for _, tt := range tests {
		t.Run(tt.paths, func(t *testing.T) {
			h, _, problems, err := Parse("f", []byte("---\npaths: "+tt.paths+"\n---\n"))
			if err != nil || (len(problems) == 1) != tt.malformed {
				t.Errorf("%v, %v", problems, err)
			}
			s := Skill{Head: h}
			for _, path := range strings.Fields(tt.yes) {
				if !s.Matches(path) {
					t.Errorf("%s does not match", path)
				}
			}
			for _, path := range strings.Fields(tt.no) {
				if s.Matches(path) {
					t.Errorf("%s matches", path)
				}
			}
		})
	}
}

// FuzzParse checks that the result of parsing any file is bounded and valid, and that rules are
// never invented.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"---\nname: x\nallowed-tools: Bash(git *), Read\n---\nDo it.", "\ufeff---\r\nhooks:\r\n  Stop:\r\n    - hooks: [{type: command, command: x}]\r\n---\r\n",
		"---\na: &a [*a]\n---\n", "---\nargument-hint: [a] b\npaths: *.go\n---\n# x\n\ny", "---\nallowed-tools: [Bash(\n---", "text",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, body, problems, err := Parse("f", data)
		again, _, _, _ := Parse("f", data)
		if diff := cmp.Diff(h, again); diff != "" {
			t.Errorf("not the same twice: %s", diff)
		}
		for _, p := range problems {
			if p.Text == "" || p.Field == "" {
				t.Errorf("problem %+v", p)
			}
		}
		if err != nil && (body != "" || !cmp.Equal(h, Head{})) {
			t.Error("a skill that is disabled says something")
		}
		for _, s := range append(append([]string{h.Title, h.Description, h.When, h.Hint, h.Version, h.Model, h.As, body}, h.Allowed...), h.Paths...) {
			if !utf8.ValidString(s) {
				t.Errorf("%q is not UTF-8", s)
			}
		}
		for _, text := range h.Allowed {
			if name, _, _ := strings.Cut(text, "("); !strings.Contains(string(data), name) {
				t.Errorf("rule %q is not in the file", text)
			}
		}
		if len(h.Description) > maxText+3 || len(h.Title) > maxShort+3 || h.Hooks != nil && !json.Valid(h.Hooks) {
			t.Error("not bounded")
		}
		(&Skill{Head: h}).Matches("a/b.go")
	})
}
