package dialog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
)

// A grant holds the permission updates of a lasting yes. The user may edit its rules and choose
// its scope.
type grant struct{ updates []permission.Update }

func newGrant(q permission.Question) grant {
	return grant{slices.Clone(q.Lasting())}
}

// rules returns the update that adds rules, or nil.
func (g *grant) rules() *permission.Update {
	for i := range g.updates {
		if g.updates[i].Type == permission.AddRules {
			return &g.updates[i]
		}
	}
	return nil
}

// lasts reports whether the duration of the grant can be changed. A mode applies to the
// session.
func (g *grant) lasts() bool {
	return slices.ContainsFunc(g.updates, func(u permission.Update) bool { return u.Type != permission.SetMode })
}

// text returns the rules in rule syntax.
func (g *grant) text() string {
	var all []string
	for _, r := range g.rules().Rules {
		all = append(all, r.String())
	}
	return strings.Join(all, ", ")
}

// set replaces the rules with the ones in text. An invalid rule changes nothing.
func (g *grant) set(text string) error {
	var values []permission.RuleValue
	for _, one := range rule.Split(text) {
		r, err := rule.Parse(one)
		if err != nil {
			return fmt.Errorf("the rule %s is not valid: %w", one, err)
		}
		values = append(values, permission.RuleValue{Tool: r.Tool, Content: r.Content})
	}
	if len(values) == 0 {
		return errors.New("write a rule, such as Bash(go test:*), or go back with Esc")
	}
	g.rules().Rules = values
	return nil
}

// scopes lists the scopes a grant can be saved in, in display order.
var scopes = []scope.Scope{scope.Session, scope.Local, scope.Project, scope.User}

// cycle switches the grant to the next scope.
func (g *grant) cycle() {
	for i := range g.updates {
		if u := &g.updates[i]; u.Type != permission.SetMode {
			u.Destination = scopes[(slices.Index(scopes, u.Destination)+1)%len(scopes)]
		}
	}
}
