package permission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/scope"
)

// Proves PERM-06.
func TestParseRule(t *testing.T) {
	tests := []struct {
		text          string
		tool, content string
		round         string // the canonical form; empty means text
		err           string // part of it
	}{
		{text: "Bash", tool: "Bash"},
		{text: " Bash ", tool: "Bash", round: "Bash"},
		{text: "Bash()", tool: "Bash", round: "Bash"},
		{text: "Bash(*)", tool: "Bash", round: "Bash"},
		{text: "Bash(git status)", tool: "Bash", content: "git status"},
		{text: "Bash (git status)", tool: "Bash", content: "git status", round: "Bash(git status)"},
		{text: "Bash(git commit:*)", tool: "Bash", content: "git commit:*"},
		{text: `Bash(echo \(x\))`, tool: "Bash", content: "echo (x)"},
		{text: `Bash(echo (x))`, tool: "Bash", content: "echo (x)", round: `Bash(echo \(x\))`},
		{text: `Bash(a\\b)`, tool: "Bash", content: `a\b`},
		{text: `Bash(a\*)`, tool: "Bash", content: `a\*`, round: `Bash(a\\*)`},
		{text: "Read(~/.ssh/**)", tool: "Read", content: "~/.ssh/**"},
		{text: "Read(//etc/passwd)", tool: "Read", content: "//etc/passwd"},
		{text: "mcp__db", tool: "mcp__db"},
		{text: "mcp__db__*", tool: "mcp__db", round: "mcp__db"},
		{text: "mcp__db__query", tool: "mcp__db__query"},
		{text: "mcp__a__b__*", tool: "mcp__a__b__*"},
		{text: "Agent(explore)", tool: "Agent", content: "explore"},
		{text: "Skill(review:*)", tool: "Skill", content: "review:*"},
		{text: "WebFetch(domain:example.org)", tool: "WebFetch", content: "domain:example.org"},
		{text: "WebFetch(domain:*.example.org)", tool: "WebFetch", content: "domain:*.example.org"},
		{text: "WebFetch(https://example.org/a)", tool: "WebFetch", content: "https://example.org/a"},

		{text: "", err: "does not name a tool"},
		{text: "(x)", err: "does not name a tool"},
		{text: "a b", err: "is not 1 to 64"},
		{text: "Bash(rm", tool: "Bash", err: "not balanced"},
		{text: "Bash(rm))", tool: "Bash", err: "follows the closing"},
		{text: "Bash(rm) x", tool: "Bash", err: "follows the closing"},
		{text: "Bash(:*)", tool: "Bash", content: ":*", err: "nothing before"},
		{text: "Read([a)", tool: "Read", content: "[a", err: "pattern"},
		{text: "Read(!x)", tool: "Read", content: "!x", err: "begins with !"},
		{text: "Read(a/*/../b)", tool: "Read", content: "a/*/../b", err: ".. after a wildcard"},
		{text: "WebFetch(example.org)", tool: "WebFetch", content: "example.org", err: "write domain:"},
		{text: "WebFetch(domain:)", tool: "WebFetch", content: "domain:", err: "is no host"},
		{text: "mcp__db__query(x)", tool: "mcp__db__query", content: "x", err: "take no content"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			r, err := ParseRule(tt.text)
			if r.Tool != tt.tool || r.Content != tt.content {
				t.Errorf("tool %q content %q, want %q and %q", r.Tool, r.Content, tt.tool, tt.content)
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := tt.round
			if want == "" {
				want = tt.text
			}
			if r.String() != want {
				t.Errorf("written as %q, want %q", r.String(), want)
			}
		})
	}
}

func TestRuleRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.StringMatching(`[a-z \\()*:"'$./-]{1,20}`).Draw(t, "content")
		content = strings.TrimSpace(content)
		text := RuleValue{Tool: "Skill", Content: content}.String()
		r, err := ParseRule(text)
		if content == "" || content == "*" {
			if r.Content != "" {
				t.Fatalf("%q: content %q", text, r.Content)
			}
			return
		}
		if err != nil || r.Content != content {
			t.Fatalf("%q: content %q, %v, want %q", text, r.Content, err, content)
		}
	})
}

func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{"Bash", "Bash(a:*)", "Read(//a/**)", "mcp__a__*", `X(\()`, "WebFetch(domain:a.b)", "Edit(~/[a-z]/{b,c})"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			if r.broken == nil {
				t.Fatal("a rule with an error does not know it")
			}
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again.Tool != r.Tool || again.Content != r.Content {
			t.Fatalf("%q is written as %q and read as %q %q, %v", text, r.String(), again.Tool, again.Content, err)
		}
	})
}

func TestSplitRules(t *testing.T) {
	got := SplitRules(` Bash(git *, x), Read,Edit(a b)  mcp__x  Bash(echo \)), `)
	want := []string{"Bash(git *, x)", "Read", "Edit(a b)", "mcp__x", `Bash(echo \))`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves PERM-07.
func TestServerRules(t *testing.T) {
	tools := []string{"mcp__db__query", "mcp__db__drop__all", "mcp__dbx__query", "Bash"}
	tests := []struct {
		rule string
		want []string
	}{
		{"mcp__db", tools[:2]},
		{"mcp__db__*", tools[:2]},
		{"mcp__db__query", tools[:1]},
		{"mcp__db__drop", nil},
		{"mcp__db__drop__*", tools[1:2]},
		{"query", nil},
		{"Bash", tools[3:]},
		{"Bash(*)", tools[3:]},
		{"bash", nil},
		{"Bas", nil},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			p := Compile(Config{Rules: parseRules(scope.User, "deny "+tt.rule)})
			var got []string
			for _, name := range tools {
				if _, ok := p.DeniesTool(name); ok {
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	rules := parseRules(scope.User, "allow Bash(x", "deny Bash(rm", "ask Edit([)", "deny a b", "deny WebFetch(https://x.org/y)", "deny Read(~/x)")
	rules[1].File, rules[1].Line = "settings.json", 7
	p := Compile(Config{Rules: rules, Dir: "/p"})
	var got []string
	for _, err := range p.Problems() {
		got = append(got, err.Error())
	}
	want := []string{
		`allow rule "Bash(x" in the user settings: its parentheses are not balanced; write \( for one that is meant literally; it allows nothing`,
		`deny rule "Bash(rm" in settings.json:7: its parentheses are not balanced; write \( for one that is meant literally; until it is corrected, every call of Bash is denied`,
		`ask rule "Edit([)" in the user settings: pattern "[", position 1: the [ is not closed; write \[ to match it; until it is corrected, every call of Edit is asked about`,
		`deny rule "a b" in the user settings: tool name "a b" is not 1 to 64 letters, digits, '_' or '-'; until it is corrected, every call that may change something is asked about`,
		`deny rule "WebFetch(https://x.org/y)" in the user settings: a rule speaks of a host, not of a page; it counts as domain:x.org`,
		`deny rule "Read(~/x)" in the user settings: the home directory is unknown, so ~ means nothing; until it is corrected, every call of Read is denied`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves PERM-10.
func TestShadowed(t *testing.T) {
	p := Compile(Config{Dir: "/p", Rules: parseRules(scope.User,
		"deny Bash(git push:*)", "allow Bash(git push origin)", "allow Bash(git pull)", "ask Bash(git push)", "ask Edit",
		"allow Edit(src/**)", "deny Read(secret/**)", "allow Read(secret/key)", "allow Read(secrets)",
		"deny mcp__db", "allow mcp__db__query", "allow mcp__dbx__query", "ask WebFetch(domain:a.b)", "allow WebFetch(domain:a.b)",
		"allow Bash(git pushy)")})
	got := map[string]string{}
	for i, by := range p.Shadowed() {
		r := p.Rules()[i]
		got[string(r.Behavior)+" "+r.String()] = string(by.Behavior) + " " + by.String()
	}
	want := map[string]string{
		"allow Bash(git push origin)": "deny Bash(git push:*)",
		"ask Bash(git push)":          "deny Bash(git push:*)",
		"allow Edit(src/**)":          "ask Edit",
		"allow Read(secret/key)":      "deny Read(secret/**)",
		"allow mcp__db__query":        "deny mcp__db",
		"allow WebFetch(domain:a.b)":  "ask WebFetch(domain:a.b)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestModes(t *testing.T) {
	for _, m := range Modes() {
		if got, err := ParseMode(string(m)); err != nil || got != m {
			t.Errorf("%s: %v, %v", m, got, err)
		}
	}
	if m, err := ParseMode("manual"); err != nil || m != Default {
		t.Errorf("manual: %v, %v", m, err)
	}
	for _, name := range []string{"", "Plan", "lenient"} {
		if _, err := ParseMode(name); err == nil || !strings.Contains(err.Error(), "default, acceptEdits, plan, auto, dontAsk, bypassPermissions") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
