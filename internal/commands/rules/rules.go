// Package rules implements the built-in command that shows and changes the permission rules.
package rules

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/amount"
)

// Sections returns the command in its /help section.
func Sections() []commands.Section {
	return []commands.Section{{Name: "Permissions", Commands: []commands.Command{permissionsCommand()}}}
}

// most is the maximum number of denied calls shown.
const most = 20

func permissionsCommand() commands.Command {
	return commands.Command{Name: "permissions", Aliases: []string{"allowed-tools"}, Kind: commands.Change, Args: "[allow|ask|deny|remove RULE]",
		Doc: "show the permission mode, the rules and the denied calls, or change the rules",
		Run: runPermissions, Complete: completePermissions}
}

var errPermissions = errors.New("usage: /permissions [allow|ask|deny|remove RULE [user|project|session]]; rules are private to this project by default")

// runPermissions shows or changes the rules.
func runPermissions(ctx context.Context, reg *commands.Registry, arg string) (commands.Answer, error) {
	verb, text, _ := strings.Cut(arg, " ")
	switch verb {
	case "":
		if reg.Terminal {
			return rulesList(reg), nil
		}
		return permissionsPage(reg), nil
	case "allow", "ask", "deny", "remove":
	default:
		return nil, errPermissions
	}
	to := scope.Local
	text = strings.TrimSpace(text)
	if i := strings.LastIndexByte(text, ' '); i >= 0 {
		named := map[string]scope.Scope{"user": scope.User, "project": scope.Project, "local": scope.Local, "session": scope.Session}
		if s, ok := named[text[i+1:]]; ok {
			text, to = strings.TrimSpace(text[:i]), s
		}
	}
	switch {
	case text == "":
		return nil, errPermissions
	case !reg.Terminal:
		return nil, commands.ErrTerminal
	case verb == "remove":
		return removeRule(ctx, reg, text)
	}
	r, err := rule.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("rule %q: %w", text, err)
	}
	u := permission.Update{
		Type: permission.AddRules, Behavior: permission.Behavior(verb), Destination: to,
		Rules: []permission.RuleValue{{Tool: r.Tool, Content: r.Content}},
	}
	if err := reg.Permission.Apply(ctx, []permission.Update{u}); err != nil {
		return nil, err
	}
	p := commands.Say("Added to " + to.Text() + ": " + verb + " " + r.String())
	addProblems(&p, reg.Permission.Policy(), func(o rule.Rule) bool { return o.String() == r.String() })
	return p, nil
}

// removeRule removes a rule from every scope where it can be removed.
func removeRule(ctx context.Context, reg *commands.Registry, text string) (commands.Answer, error) {
	var page commands.Page
	fixed := ""
	for _, r := range reg.Permission.Policy().Rules() {
		if r.Text() != text && r.String() != text {
			continue
		}
		if !r.Scope.Writable() && r.Scope != scope.Session {
			fixed = reg.Files.Short(r.Where())
			continue
		}
		u := permission.Update{
			Type: permission.RemoveRules, Behavior: r.Behavior, Destination: r.Scope,
			Rules: []permission.RuleValue{{Tool: r.Tool, Content: r.Content}},
		}
		if err := reg.Permission.Apply(ctx, []permission.Update{u}); err != nil {
			return nil, err
		}
		page.Add(commands.Text("Removed from " + reg.Files.Short(r.Where()) + ": " + string(r.Behavior) + " " + r.Text()))
	}
	switch {
	case len(page.Blocks) > 0:
		return page, nil
	case fixed != "":
		return nil, fmt.Errorf("%s comes from %s, and cannot be removed here", text, fixed)
	}
	return nil, fmt.Errorf("no rule %s; /permissions lists the rules", text)
}

// completePermissions offers the actions, and the rules that can be removed.
func completePermissions(reg *commands.Registry, arg string) []string {
	offers := []string{"allow ", "ask ", "deny ", "remove "}
	if strings.HasPrefix(arg, "remove ") {
		for _, r := range reg.Permission.Policy().Rules() {
			offers = append(offers, "remove "+r.Text())
		}
	}
	return offers
}

// permissionsPage lists the rules, highest precedence first, and points out ineffective ones.
func permissionsPage(reg *commands.Registry) commands.Page {
	p := commands.Say("The permission mode is " + reg.Permission.Mode() + ".")
	if judged := reg.Permission.Judged; judged != nil {
		if allowed, refused := judged(); allowed+refused > 0 {
			p.Add(commands.Text(fmt.Sprintf("In auto mode the small model has allowed %s and refused %d in this session.", amount.Of(allowed, "call", "calls"), refused)))
		}
	}
	policy := reg.Permission.Policy()
	table := commands.Table{Columns: []commands.Column{{Name: "Rule"}, {Cut: true}, {Name: "from"}}}
	for _, r := range policy.Rules() {
		table.Rows = append(table.Rows, []string{string(r.Behavior), r.Text(), reg.Files.Short(r.Where())})
	}
	if len(table.Rows) == 0 {
		p.Add(commands.Text("No permission rules."))
	} else {
		p.Add(table)
	}
	addProblems(&p, policy, func(rule.Rule) bool { return true })
	if dirs := reg.Permission.Dirs(); len(dirs) > 0 {
		p.Add(commands.Text("Additional working directories:"), commands.Items(dirs))
	}
	denials := reg.Session.Denials()
	if len(denials) == 0 {
		return p
	}
	p.Add(commands.Text(amount.Of(len(denials), "call was", "calls were") + " denied in this session:"))
	denied := commands.Table{Columns: []commands.Column{{}, {Cut: true}}, Indented: true}
	for _, x := range denials[max(0, len(denials)-most):] {
		denied.Rows = append(denied.Rows, []string{x.Tool, string(x.Input)})
	}
	p.Add(denied)
	return p
}
