package skills

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/domain/skill"
	"adze/internal/permission/compat"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/tool"
	skilltool "adze/internal/tools/skill"
)

// maxWishes is the maximum number of rules described.
const maxWishes = 20

// describeRules describes, in plain language, the permissions a skill requests, one per line, broadest
// first. rules are the rules in Allowed, with variables expanded.
func describeRules(h skill.Head, rules []rule.Rule) (lines []string) {
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b rule.Rule) int { return breadth(&b) - breadth(&a) })
	for i, r := range rules {
		if i == maxWishes {
			lines = append(lines, fmt.Sprintf("- %d more", len(rules)-i))
			break
		}
		lines = append(lines, "- "+describeRule(r))
	}
	for _, e := range skill.Hooks(h.Hooks) {
		lines = append(lines, fmt.Sprintf("- run its own hook at %s: %s", tool.OneLine(strings.TrimSpace(e.Event+" "+e.Matcher), 100), tool.OneLine(trust.Hook(e.Event, e.Matcher, e.Handler).Text, 300)))
	}
	return lines
}

// breadth ranks how much a rule allows: any command, a program that can run any, a whole tool, or
// part of a tool.
func breadth(r *rule.Rule) int {
	switch {
	case r.Broad() && whole(r):
		return 3
	case r.Broad():
		return 2
	case whole(r):
		return 1
	}
	return 0
}

// whole reports whether a rule allows everything its tool does.
func whole(r *rule.Rule) bool {
	switch r.Content {
	case "", "*", "**":
		return true
	case "//", "//**":
		return compat.KindOf(r.Tool).Paths()
	}
	return false
}

// describeRule describes a rule.
func describeRule(r rule.Rule) string {
	all, content := whole(&r), tool.OneLine(r.Content, 200)
	switch kind := compat.KindOf(r.Tool); {
	case kind == compat.Shell || kind == compat.Foreign:
		switch {
		case all:
			return "run any command"
		case r.Broad():
			return "run commands that can run any other: " + content
		}
		return "run commands: " + content
	case kind == compat.Writes:
		if all {
			return "change any file that adze can change (" + r.Tool + ")"
		}
		return "change files: " + location(content)
	case kind == compat.Reads:
		if all {
			return "read and search files (" + r.Tool + ")"
		}
		return "read files: " + location(content)
	case kind == compat.Host || r.Tool == "WebSearch":
		if all {
			return "use the web (" + r.Tool + ")"
		}
		return "use the web: " + content
	}
	if server, ok := strings.CutPrefix(r.Tool, "mcp__"); ok && !strings.Contains(server, "__") {
		return "use all tools of the MCP server " + tool.OneLine(server, 100)
	}
	if all {
		return "use the tool " + tool.OneLine(r.Tool, 100)
	}
	return "use the tool " + tool.OneLine(r.String(), 200)
}

// location converts a rule's path pattern to ordinary path syntax: in rules, /x is relative to
// the working directory, and //x is absolute.
func location(pattern string) string {
	if absolute, ok := strings.CutPrefix(pattern, "//"); ok {
		return "/" + absolute
	}
	if strings.HasPrefix(pattern, "/") {
		return "." + pattern
	}
	return pattern
}

// rules returns the rules for a skill's calls. Third-party skills grant nothing, and no skill
// grants other skills.
func (c *Config) rules(k *skill.Skill) (rules []rule.Rule, err error) {
	if !k.Origin.Own() {
		return nil, nil
	}
	v := c.vars(k)
	for _, text := range k.Allowed {
		r, err := rule.Parse(v.Fill(text))
		if err != nil {
			return nil, fmt.Errorf("allowed-tools of the skill %s: %q: %w", k.Name, text, err)
		}
		if r.Tool == skilltool.Name {
			continue // other skills need their own consent
		}
		r.Scope, r.File = scope.Command, k.File
		rules = append(rules, r)
	}
	return rules, nil
}

func (c *Config) vars(k *skill.Skill) skill.Vars {
	v := c.Vars(k)
	v.SkillDir = k.Dir
	return v
}

// describeRule returns the permissions a skill requests.
func (c *Config) wish(k *skill.Skill) skilltool.Permissions {
	if !k.Origin.Own() {
		return skilltool.Permissions{Free: true} // only its text is used
	}
	rules, err := c.rules(k)
	if err != nil {
		return skilltool.Permissions{Broken: fmt.Errorf("%w; the skill is disabled", err)}
	}
	h := k.Head
	if len(rules) == 0 {
		h.Allowed = nil // none of them are relevant
	}
	w := skilltool.Permissions{Free: k.Origin.Kind == skill.Bundled || skill.Safe(h) || c.vouched(k), Personal: len(c.unapproved(k)) > 0}
	w.Free = w.Free && !w.Personal
	w.Text = strings.Join(describeRules(k.Head, rules), "\n")
	return w
}

// vouched reports whether a skill comes from a marketplace trusted by the user or the policy.
func (c *Config) vouched(k *skill.Skill) bool {
	_, market, ok := strings.Cut(k.Origin.By, "@")
	return ok && k.Origin.Kind == skill.Plugin && market != "" && c.Markets != nil && slices.Contains(c.Markets(), market)
}

// unapproved returns a project skill's hooks that the user has not approved.
func (c *Config) unapproved(k *skill.Skill) (items []trust.Item) {
	if k.Origin.Kind != skill.Project {
		return nil
	}
	for _, h := range skill.Hooks(k.Hooks) {
		if it := trust.Hook(h.Event, h.Matcher, h.Handler); c.Approved == nil || !c.Approved(it) {
			items = append(items, it)
		}
	}
	return items
}
