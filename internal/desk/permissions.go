package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/amount"
	"adze/internal/platform/scope"
)

func permissionsCommand() Command {
	return Command{Name: "permissions", Aliases: []string{"allowed-tools"}, Kind: Change, Args: "[allow|ask|deny|remove RULE]",
		Doc: "show the permission mode, the rules and the denied calls, or change the rules",
		Run: runPermissions, Complete: completePermissions}
}

var errPermissions = errors.New("usage: /permissions, /permissions allow RULE, ask RULE, deny RULE or remove RULE; after a RULE, user, project or session says where it is kept, otherwise it is private to this project")

// runPermissions shows or changes the rules.
func runPermissions(ctx context.Context, d *Desk, arg string) (Answer, error) {
	verb, text, _ := strings.Cut(arg, " ")
	switch verb {
	case "":
		return permissionsPage(d), nil
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
	case !d.Terminal:
		return nil, ErrTerminal
	case verb == "remove":
		return removeRule(ctx, d, text)
	}
	r, err := rule.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("rule %q: %w", text, err)
	}
	u := permission.Update{
		Type: permission.AddRules, Behavior: permission.Behavior(verb), Destination: to,
		Rules: []permission.RuleValue{{Tool: r.Tool, Content: r.Content}},
	}
	if err := d.Permission.Apply(ctx, []permission.Update{u}); err != nil {
		return nil, err
	}
	p := Say("Added to " + to.Text() + ": " + verb + " " + r.String())
	addProblems(&p, d.Permission.Policy(), func(o rule.Rule) bool { return o.String() == r.String() })
	return p, nil
}

func anyRule(rule.Rule) bool { return true }

// removeRule removes a rule from wherever it can be removed.
func removeRule(ctx context.Context, d *Desk, text string) (Answer, error) {
	var page Page
	fixed := ""
	for _, r := range d.Permission.Policy().Rules() {
		if r.Text() != text && r.String() != text {
			continue
		}
		if !r.Scope.Writable() && r.Scope != scope.Session {
			fixed = r.Where()
			continue
		}
		u := permission.Update{
			Type: permission.RemoveRules, Behavior: r.Behavior, Destination: r.Scope,
			Rules: []permission.RuleValue{{Tool: r.Tool, Content: r.Content}},
		}
		if err := d.Permission.Apply(ctx, []permission.Update{u}); err != nil {
			return nil, err
		}
		page.Add(Text("Removed from " + r.Where() + ": " + string(r.Behavior) + " " + r.Text()))
	}
	switch {
	case len(page.Blocks) > 0:
		return page, nil
	case fixed != "":
		return nil, fmt.Errorf("%s comes from %s, and cannot be removed here", text, fixed)
	}
	return nil, fmt.Errorf("there is no rule %s; /permissions lists the rules", text)
}

// completePermissions offers what can be done, and the rules that can be removed.
func completePermissions(d *Desk, arg string) []string {
	offers := []string{"allow ", "ask ", "deny ", "remove "}
	if strings.HasPrefix(arg, "remove ") {
		for _, r := range d.Permission.Policy().Rules() {
			offers = append(offers, "remove "+r.Text())
		}
	}
	return offers
}

// addProblems points out the rules that never take effect, of those that are of interest.
func addProblems(p *Page, policy *permission.Policy, of func(rule.Rule) bool) {
	shadows := policy.Shadowed()
	for i, r := range policy.Rules() {
		if !of(r) {
			continue
		}
		if by, ok := shadows[i]; ok {
			p.Add(Notice(string(r.Behavior) + " " + r.Text() + " never takes effect: " + string(by.Behavior) + " " + by.Text() + " comes first"))
		}
		if err := cmp.Or(r.Broken(), r.Flaw()); err != nil {
			p.Add(Notice(string(r.Behavior) + " " + r.Text() + " needs correction: " + err.Error()))
		}
	}
}

// permissionsPage lists the rules, highest precedence first, and points out those that never take effect.
func permissionsPage(d *Desk) Page {
	p := Say("The permission mode is " + d.Permission.Mode() + ".")
	if judged := d.Permission.Judged; judged != nil {
		if allowed, refused := judged(); allowed+refused > 0 {
			p.Add(Text(fmt.Sprintf("In auto mode the small model has allowed %s and refused %d in this session.", amount.Of(allowed, "call", "calls"), refused)))
		}
	}
	policy := d.Permission.Policy()
	table := Table{Columns: []Column{{Name: "Rule"}, {Cut: true}, {Name: "from"}}}
	for _, r := range policy.Rules() {
		table.Rows = append(table.Rows, []string{string(r.Behavior), r.Text(), r.Where()})
	}
	if len(table.Rows) == 0 {
		p.Add(Text("There are no permission rules."))
	} else {
		p.Add(table)
	}
	addProblems(&p, policy, anyRule)
	if dirs := d.Permission.Dirs(); len(dirs) > 0 {
		p.Add(Text("Additional working directories:"), Items(dirs))
	}
	denials := d.Session.Denials()
	if len(denials) == 0 {
		return p
	}
	p.Add(Text(amount.Of(len(denials), "call was", "calls were") + " denied in this session:"))
	denied := Table{Columns: []Column{{}, {Cut: true}}, Indented: true}
	for _, x := range denials[max(0, len(denials)-most):] {
		denied.Rows = append(denied.Rows, []string{x.Tool, string(x.Input)})
	}
	p.Add(denied)
	return p
}
