package skills

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/permission/rule"
	"adze/internal/platform/scope"
	"adze/internal/platform/trust"
	"adze/internal/skill"
	"adze/internal/tool"
	skilltool "adze/internal/tools/skill"
)

// maxWishes is how many rules are told in words.
const maxWishes = 20

// wishes returns in words what the head asks for beyond being read, a line for each thing. The rules are those of Allowed,
// with variables filled in.
func wishes(h skill.Head, rules []rule.Rule) (lines []string) {
	for i, r := range rules {
		if i == maxWishes {
			lines = append(lines, fmt.Sprintf("- %d more", len(rules)-i))
			break
		}
		lines = append(lines, "- "+wish(r))
	}
	for _, e := range skill.Hooks(h.Hooks) {
		lines = append(lines, fmt.Sprintf("- run its own hook at %s: %s", tool.OneLine(strings.TrimSpace(e.Event+" "+e.Matcher), 100), tool.OneLine(string(e.Handler), 300)))
	}
	return lines
}

// wish says what a rule allows.
func wish(r rule.Rule) string {
	all := r.Content == "" || r.Content == "*" || r.Content == ":*" || r.Content == "**"
	content := tool.OneLine(r.Content, 200)
	switch r.Tool {
	case "Bash", "PowerShell":
		if all {
			return "run any command"
		}
		return "run commands: " + content
	case "Edit", "Write", "NotebookEdit", "MultiEdit":
		if all {
			return "change any file that adze can change (" + r.Tool + ")"
		}
		return "change files: " + content
	case "Read", "Grep", "Glob", "LS":
		if all {
			return "read and search files (" + r.Tool + ")"
		}
		return "read files: " + content
	case "WebFetch", "WebSearch":
		if all {
			return "use the web (" + r.Tool + ")"
		}
		return "use the web: " + content
	}
	if all {
		return "use the tool " + tool.OneLine(r.Tool, 100)
	}
	return "use the tool " + tool.OneLine(r.String(), 200)
}

// rules returns what the calls of a skill may do. What others wrote grants itself nothing, and none grants other skills.
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
			continue // what other skills ask for is theirs to be asked about
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

// wish returns what a skill asks for.
func (c *Config) wish(k *skill.Skill) skilltool.Wish {
	if !k.Origin.Own() {
		return skilltool.Wish{Free: true} // nothing in it counts but the words
	}
	rules, err := c.rules(k)
	w := skilltool.Wish{Free: err == nil && (k.Origin.Kind == skill.Bundled || skill.Safe(k.Head) || c.vouched(k)), Personal: len(c.unapproved(k)) > 0}
	w.Free = w.Free && !w.Personal
	w.Text = strings.Join(wishes(k.Head, rules), "\n")
	return w
}

// vouched reports whether a skill comes from a marketplace that the user or the policy trusts.
func (c *Config) vouched(k *skill.Skill) bool {
	_, market, ok := strings.Cut(k.Origin.By, "@")
	return ok && k.Origin.Kind == skill.Plugin && market != "" && c.Markets != nil && slices.Contains(c.Markets(), market)
}

// unapproved returns the hooks of a skill of the project that the user has not approved.
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
