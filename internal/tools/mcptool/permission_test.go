package mcptool

import (
	"encoding/json"
	"testing"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/permission"
	"adze/internal/permission/rule"
)

// TestPermission checks that a server's hints grant nothing, in any mode.
//
// Proves MCP-33, MCP-34, PERM-06, TOOL-21.
func TestPermission(t *testing.T) {
	hints := map[string]mcp.Tool{
		"nothing":     {},
		"read-only":   {ReadOnly: yes, OpenWorld: no, Destructive: no},
		"destructive": {Destructive: yes},
		"contradicts": {ReadOnly: yes, Destructive: yes},
	}
	const allow, ask, deny = permission.Allow, permission.Ask, permission.Deny
	// The decision without rules. In plan mode, a tool that claims to be read-only needs
	// confirmation instead of being denied.
	modes := []struct {
		mode           permission.Mode
		plain, claimed permission.Behavior
	}{
		{permission.Default, ask, ask},
		{permission.AcceptEdits, ask, ask},
		{permission.Plan, deny, ask},
		{permission.Auto, ask, ask},
		{permission.DontAsk, deny, deny},
		{permission.Bypass, allow, allow},
	}
	rules := []struct {
		rule    string
		does    permission.Behavior
		applies bool
	}{
		{"", "", false},
		{"mcp__db__query", allow, true}, {"mcp__db", allow, true}, {"mcp__db__*", allow, true},
		{"mcp__db__quer", allow, false}, {"mcp__d", allow, false}, {"mcp__other", allow, false}, {"Bash", allow, false}, {"mcp__db__query__*", allow, false},
		{"mcp__db__query", deny, true}, {"mcp__db", deny, true}, {"mcp__db__*", deny, true}, {"mcp__web", deny, false},
		{"mcp__db", ask, true}, {"mcp__db__query", ask, true},
	}
	for name, about := range hints {
		about.Name = "query"
		tl := NewSet(Config{}).Tools([]mcp.OfferedTool{{Server: &roster.Entry{Name: "db"}, Tool: about}})[0]
		call, err := tl.Bind(json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		claimed := about.ReadOnly != nil
		for _, m := range modes {
			for _, r := range rules {
				cfg := permission.Config{Mode: m.mode, Dir: "/work"}
				if r.rule != "" {
					parsed, err := rule.Parse(r.rule)
					if err != nil {
						t.Fatal(err)
					}
					parsed.Behavior = r.does
					cfg.Rules = []rule.Rule{parsed}
				}
				want := m.plain
				if claimed {
					want = m.claimed
				}
				refused := m.mode == permission.Plan && !claimed
				switch {
				case !r.applies:
				case r.does == deny:
					want = deny
				case r.does == allow && m.mode != permission.Plan: // a rule does not make the claim true in plan mode
					want = allow
				case r.does == ask && !refused && m.mode != permission.DontAsk:
					want = ask
				}
				p := permission.Compile(cfg)
				d := permission.Decide(p, permission.FactsOf(p, tl, call))
				if d.Behavior != want {
					t.Errorf("%s in mode %s with %s %q: %s, want %s", name, m.mode, r.does, r.rule, d.Behavior, want)
				}
				if d.Behavior == ask && !r.applies && m.mode != permission.Plan && (len(d.Suggestions) != 1 || d.Suggestions[0].Rules[0].String() != "mcp__db__query") {
					t.Errorf("%s in mode %s: always would mean %v", name, m.mode, d.Suggestions)
				}
				if judged := m.mode == permission.Auto && d.Behavior == ask && !r.applies; d.Judged != judged {
					t.Errorf("%s in mode %s with %s %q: judged %v", name, m.mode, r.does, r.rule, d.Judged)
				}
			}
		}
	}
	if len(modes) != len(permission.Modes()) {
		t.Error("a mode is missing")
	}
}
