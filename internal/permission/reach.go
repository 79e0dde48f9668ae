package permission

import (
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/permission/compat"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
)

// AllowsHosts reports whether a rule allows any host.
func (p *Policy) AllowsHosts() bool { return p.rules.Allow.Hosts.Any() != nil }

// Host returns the decision of the host rules about a URL, a host, or a host with a port:
// Allow, Deny, or Ask if no rule applies.
func (p *Policy) Host(target string) Behavior {
	host := rule.HostOf(target)
	if host == "" {
		host = rule.CleanHost(target)
	}
	switch {
	case p.rules.Deny.Hosts.Match(host) != nil:
		return Deny
	case p.rules.Ask.Hosts.Match(host) != nil:
		return Ask
	case p.rules.Allow.Hosts.Match(host) != nil:
		return Allow
	}
	return Ask
}

// Reach asks whether a sandboxed command may reach a host that no rule covers. If prompts are
// not possible, it may not.
func (g *Gate) Reach(ctx context.Context, host string) bool {
	switch g.Mode() {
	case DontAsk:
		return false
	case Bypass:
		return true
	}
	input, err := json.Marshal(map[string]string{"url": "https://" + host + "/"})
	if err != nil {
		return false
	}
	rule := []RuleValue{{Tool: compat.Fetch, Content: "domain:" + host}}
	a, err := g.ask(ctx, Question{
		ID: "sandbox:" + host, Tool: compat.Fetch, DisplayName: "Network", Input: input, Dir: g.Policy().Config().Dir,
		Title:       "Let the sandboxed command connect to " + host,
		Reason:      Reason{Kind: SandboxHost, What: host},
		Suggestions: []Update{{Type: AddRules, Behavior: Allow, Destination: scope.Local, Rules: rule}},
	})
	if err != nil || a.Behavior != Allow {
		return false
	}
	if err := g.Apply(ctx, a.Updates); err != nil {
		g.say(fmt.Sprintf("saving the permission failed: %v", err))
	}
	return g.Policy().Host(host) != Deny
}
