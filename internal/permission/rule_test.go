package permission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/scope"
)

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
		`deny rule "Bash(rm" in settings.json:7: its parentheses are not balanced; write \( for one that is meant literally; until it is corrected, every Bash call is denied`,
		`ask rule "Edit([)" in the user settings: pattern "[", position 1: the [ is not closed; write \[ to match it; until it is corrected, adze asks before every Edit call`,
		`deny rule "a b" in the user settings: tool name "a b" is not 1 to 64 letters, digits, '_' or '-'; until it is corrected, adze asks before every call that may change something`,
		`deny rule "WebFetch(https://x.org/y)" in the user settings: a rule names a host, not a page; it is read as domain:x.org`,
		`deny rule "Read(~/x)" in the user settings: the home directory is unknown, so ~ can't be resolved; until it is corrected, every Read call is denied`,
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
		"allow Bash(git pushy)", "deny Edit(gen/**)", "allow Write(gen/x)", "allow NotebookEdit(gener/x)")})
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
		"allow Write(gen/x)":          "deny Edit(gen/**)",
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
