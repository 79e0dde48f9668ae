package rules

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/session"
)

// A policy is a changeable set of rules.
type policy struct{ rules []rule.Rule }

func (p *policy) apply(_ context.Context, updates []permission.Update) error {
	for _, u := range updates {
		for _, v := range u.Rules {
			r := rule.Rule{Tool: v.Tool, Content: v.Content, Behavior: u.Behavior, Scope: u.Destination}
			if u.Type == permission.AddRules {
				p.rules = append(p.rules, r)
				continue
			}
			p.rules = slices.DeleteFunc(p.rules, func(o rule.Rule) bool { return ruleID(o) == ruleID(r) && o.Behavior == r.Behavior })
		}
	}
	return nil
}

func newRegistry(t *testing.T) (*commands.Registry, *policy) {
	t.Helper()
	s := session.Open(t.Context(), session.Config{ID: "id", Models: session.Models{Main: "m"}})
	t.Cleanup(s.Close)
	p := &policy{}
	return commands.New(commands.Config{Session: s, Terminal: true, Permission: commands.Permission{
		Mode:   func() string { return "default" },
		Policy: func() *permission.Policy { return permission.Compile(permission.Config{Rules: p.rules}) },
		Dirs:   func() []string { return nil },
		Apply:  p.apply,
	}}), p
}

// Proves PERM-10, PERM-48.
func TestPermissionsPage(t *testing.T) {
	r, p := newRegistry(t)
	want := commands.Say("The permission mode is default.", "No permission rules.")
	if diff := cmp.Diff(want, permissionsPage(r)); diff != "" {
		t.Error(diff)
	}
	p.rules = []rule.Rule{
		{Tool: "Bash", Behavior: rule.Deny, Scope: scope.User, File: "/home/settings.json", Line: 3},
		{Tool: "Bash", Content: "ls", Behavior: rule.Allow, Scope: scope.Session},
	}
	r.Permission.Dirs = func() []string { return []string{"/other"} }
	r.Files.Short = func(path string) string { return strings.Replace(path, "/home/", "~/", 1) }
	got := permissionsPage(r)
	texts := map[string]bool{}
	for _, b := range got.Blocks {
		switch b := b.(type) {
		case commands.Table:
			for _, row := range b.Rows {
				texts[row[0]+" "+row[1]+" "+row[2]] = true
			}
		case commands.Notice:
			texts[string(b)] = true
		case commands.Items:
			texts[b[0]] = true
		}
	}
	for _, want := range []string{"deny Bash ~/settings.json:3", "allow Bash(ls) this session", "allow Bash(ls) never takes effect: deny Bash comes first", "/other"} {
		if !texts[want] {
			t.Errorf("%q is not in %v", want, got)
		}
	}
}

// TestRulesList checks that rules are listed by behavior, and added and removed in place; a
// rule that cannot be removed stays, with a reason.
//
// Proves PERM-48.
func TestRulesList(t *testing.T) {
	r, p := newRegistry(t)
	p.rules = []rule.Rule{
		{Tool: "Bash", Behavior: rule.Deny, Scope: scope.User, File: "/home/settings.json", Line: 3},
		{Tool: "Bash", Content: "ls", Behavior: rule.Allow, Scope: scope.Session},
		{Tool: "Read", Behavior: rule.Allow, Scope: scope.Managed},
	}
	answer, err := runPermissions(t.Context(), r, "")
	if err != nil {
		t.Fatal(err)
	}
	list := answer.(commands.List)
	var names []string
	for _, v := range list.Views {
		names = append(names, v.Name)
	}
	if diff := cmp.Diff([]string{"allow", "ask", "deny", "denied"}, names); diff != "" {
		t.Error(diff)
	}
	allow := list.Views[0]
	if len(allow.Choices) != 2 || allow.Choices[1].Title != "Bash(ls)" || allow.Choices[1].Cells[1] != "never takes effect: deny Bash comes first" {
		t.Errorf("%+v", allow.Choices)
	}
	add, remove := allow.Actions[0], allow.Actions[1]
	if _, err := add.Run(t.Context(), commands.Choice{}, "Edit(src/**) session"); err != nil {
		t.Error(err)
	}
	if _, err := add.Run(t.Context(), commands.Choice{}, "Edit("); err == nil {
		t.Error("a rule that does not parse is added")
	}
	if _, err := remove.Run(t.Context(), allow.Choices[1], ""); err != nil {
		t.Error(err)
	}
	if _, err := remove.Run(t.Context(), allow.Choices[0], ""); err == nil || !strings.Contains(err.Error(), "cannot be removed here") {
		t.Error(err)
	}
	now, err := allow.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, c := range now {
		titles = append(titles, c.Title)
	}
	if diff := cmp.Diff([]string{"Edit(src/**)", "Read"}, slices.Sorted(slices.Values(titles))); diff != "" {
		t.Error(diff)
	}
	if again, err := list.Views[3].Actions[0].Run(t.Context(), commands.Choice{ID: `Bash {"command":"x"}`}, ""); err != nil || !strings.Contains(again.(commands.Prompt).Text, `Bash {"command":"x"}`) {
		t.Error(again, err)
	}
}
