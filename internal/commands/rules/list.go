package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// rulesList lists the rules by behavior, and the denied calls, to be changed in place.
// Line-based front ends get a page with all of them.
func rulesList(r *commands.Registry) commands.List {
	list := commands.List{Page: permissionsPage(r), Title: "Permissions"}
	for _, b := range []permission.Behavior{permission.Allow, permission.Ask, permission.Deny} {
		list.Views = append(list.Views, commands.View{
			Name: string(b), Choices: ruleChoices(r, b), Empty: "No rules of this kind.",
			Load: func(context.Context) ([]commands.Choice, error) { return ruleChoices(r, b), nil },
			Actions: []commands.Action{
				{Key: "alt+a", Name: "adds", Ask: "Rule to " + string(b) + ":", Alone: true,
					Run: func(ctx context.Context, _ commands.Choice, text string) (commands.Answer, error) {
						return runPermissions(ctx, r, string(b)+" "+text)
					}},
				{Key: "ctrl+x", Name: "removes", Confirm: func(c commands.Choice) string { return "Remove " + string(b) + " " + c.Title + "?" },
					Run: func(ctx context.Context, c commands.Choice, _ string) (commands.Answer, error) {
						return removeChosen(ctx, r, b, c)
					}},
			},
		})
	}
	list.Views = append(list.Views, commands.View{
		Name: "denied", Choices: denialChoices(r), Empty: "No call was denied in this session.",
		Load: func(context.Context) ([]commands.Choice, error) { return denialChoices(r), nil },
		Actions: []commands.Action{{Key: "enter", Name: "has the model try again", Run: func(_ context.Context, c commands.Choice, _ string) (commands.Answer, error) {
			return commands.Prompt{Text: "Try this call again, which was denied: " + c.ID}, nil
		}}},
	})
	return list
}

// ruleChoices returns the rules with one behavior.
func ruleChoices(reg *commands.Registry, b permission.Behavior) []commands.Choice {
	policy := reg.Permission.Policy()
	shadows := policy.Shadowed()
	choices := []commands.Choice{}
	for i, r := range policy.Rules() {
		if r.Behavior != b {
			continue
		}
		problem := ""
		if by, ok := shadows[i]; ok {
			problem = "never takes effect: " + string(by.Behavior) + " " + by.Text() + " comes first"
		}
		if err := cmp.Or(r.Broken(), r.Flaw()); err != nil {
			problem = "needs correction: " + err.Error()
		}
		choices = append(choices, commands.Choice{ID: ruleID(r), Title: r.Text(), Cells: []string{reg.Files.Short(r.Where()), problem}})
	}
	return choices
}

// ruleID distinguishes a rule from the same one in another scope.
func ruleID(r rule.Rule) string { return fmt.Sprint(r.Scope, " ", r.Text()) }

// removeChosen removes one rule.
func removeChosen(ctx context.Context, reg *commands.Registry, b permission.Behavior, c commands.Choice) (commands.Answer, error) {
	rules := reg.Permission.Policy().Rules()
	i := slices.IndexFunc(rules, func(r rule.Rule) bool { return r.Behavior == b && ruleID(r) == c.ID })
	if i < 0 {
		return nil, fmt.Errorf("%s is gone already", c.Title)
	}
	r := rules[i]
	if !r.Scope.Writable() && r.Scope != scope.Session {
		return nil, fmt.Errorf("it comes from %s, and cannot be removed here", reg.Files.Short(r.Where()))
	}
	u := permission.Update{
		Type: permission.RemoveRules, Behavior: b, Destination: r.Scope,
		Rules: []permission.RuleValue{{Tool: r.Tool, Content: r.Content}},
	}
	if err := reg.Permission.Apply(ctx, []permission.Update{u}); err != nil {
		return nil, err
	}
	return commands.Say("Removed from " + reg.Files.Short(r.Where()) + ": " + string(b) + " " + r.Text()), nil
}

// denialChoices returns the denied calls, the last one first.
func denialChoices(r *commands.Registry) []commands.Choice {
	choices := []commands.Choice{}
	for _, x := range slices.Backward(r.Session.Denials()) {
		call := x.Tool + " " + string(x.Input)
		choices = append(choices, commands.Choice{ID: tool.OneLine(call, maxCall), Title: strings.TrimSpace(tool.OneLine(call, 200))})
	}
	return choices
}

// maxCall limits how much of a call is repeated.
const maxCall = 4000
