package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/plugin"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
	"adze/internal/domain/style"
	"adze/internal/hook"
	"adze/internal/mcp/roster"
	"adze/internal/platform/term"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

// An Effect is a part of a plugin that runs, or that allows something to run without prompting.
// It is shown to the user before the plugin is used.
type Effect struct {
	Kind string `json:"kind"` // hook, server or allows
	Name string `json:"name"` // event, server or skill
	Text string `json:"text"` // full human-readable description
}

// String formats the effect on one line.
func (e Effect) String() string { return fmt.Sprintf("%-7s %s: %s", e.Kind, e.Name, e.Text) }

// Contents describes a plugin's contents for the user's decision.
type Contents struct {
	// Skills holds its skills and commands, Agents its agents, and Styles its output styles,
	// under the names used to invoke them.
	Skills  []*skill.Skill
	Agents  []*agentdef.Definition
	Styles  []style.Style
	Effects []Effect
	// Servers and Languages are the names of its MCP servers and language servers.
	Servers, Languages []string
	Problems           []string
}

// examine returns a plugin's contents. It reads skills, agents and output styles, and runs
// nothing.
func examine(ctx context.Context, p *plugin.Plugin, problems []plugin.Problem) *Contents {
	c := &Contents{Languages: members(p.Languages)}
	for _, x := range problems {
		c.Problems = append(c.Problems, x.Error())
	}
	lib := library.Open(library.Config{Roots: func() []library.Root { return roots(p) }})
	defer lib.Close()
	set := lib.Set(ctx)
	c.Skills = set.Skills
	for _, x := range set.Problems {
		c.Problems = append(c.Problems, x.Error())
	}
	agents := agentdef.NewLibrary(agentdef.Config{Roots: func() []agentdef.Root { return agentRoots(p) }}).Set()
	c.Agents = agents.Definitions
	c.Problems = append(c.Problems, agents.Report()...)
	styles := style.Read(styleRoots(p))
	c.Styles = styles.Styles
	for _, x := range styles.Problems {
		c.Problems = append(c.Problems, x.Error())
	}
	c.Effects = slices.Concat(hookEffects(p.Hooks, c), serverEffects(p, c), languageEffects(p, c))
	for _, s := range set.Skills {
		if len(s.Allowed) > 0 {
			c.Effects = append(c.Effects, Effect{"allows", s.Name, "without a question: " + strings.Join(s.Allowed, ", ")})
		}
		for _, e := range hookEffects(s.Hooks, c) {
			c.Effects = append(c.Effects, Effect{"hook", e.Name, e.Text + " (while the skill " + s.Name + " runs)"})
		}
	}
	return c
}

// members returns the sorted keys of a JSON object.
func members(raw json.RawMessage) []string {
	var object map[string]json.RawMessage
	json.Unmarshal(raw, &object) // ok: errors are reported where it is used
	return slices.Sorted(maps.Keys(object))
}

// hookEffects returns the hooks defined by a source and records problems in c.
func hookEffects(raw json.RawMessage, c *Contents) (list []Effect) {
	if len(raw) == 0 {
		return nil
	}
	hooks, problems := hook.Read(hook.Source{Name: "its hooks", JSON: raw})
	for _, p := range problems {
		c.Problems = append(c.Problems, p.Error())
	}
	for _, h := range hooks {
		name := string(h.Event)
		if h.Matcher != "" {
			name += "(" + h.Matcher + ")"
		}
		list = append(list, Effect{"hook", name, handlerText(h.JSON)})
	}
	return list
}

// handlerText returns a hook's command, or its full JSON if there is more to it.
func handlerText(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	var command string
	if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(fields["command"], &command) != nil {
		return string(raw)
	}
	for name := range fields {
		if !slices.Contains([]string{"type", "command", "timeout", "statusMessage"}, name) {
			return string(raw)
		}
	}
	return "runs " + command
}

// serverEffects returns the MCP servers and records their names and problems in c.
func serverEffects(p *plugin.Plugin, c *Contents) (list []Effect) {
	c.Servers = members(p.Servers)
	var raws map[string]json.RawMessage
	json.Unmarshal(p.Servers, &raws) // ok: see above
	src := roster.Source{Scope: roster.Plugin, Getenv: func(name string) string { return "${" + name + "}" },
		Option: func(name string) (string, bool) { return "${user_config." + name + "}", true }}
	for _, name := range c.Servers {
		e := src.Entry(serverName(p.ID, name), raws[name])
		if e.Problem != nil {
			c.Problems = append(c.Problems, fmt.Sprintf("the server %s: %v", roster.Shown(name), e.Problem))
		}
		text := strings.TrimSpace(e.Command + " " + strings.Join(e.Args, " "))
		if e.Remote() {
			text = "connects to " + e.URL
		} else {
			text = "runs " + text
		}
		for _, variable := range slices.Sorted(maps.Keys(e.Env)) {
			text += fmt.Sprintf(" [%s=%s]", variable, e.Env[variable])
		}
		for _, header := range slices.Sorted(maps.Keys(e.Headers)) {
			text += fmt.Sprintf(" [%s: %s]", header, e.Headers[header])
		}
		if e.HeadersHelper != "" {
			text += " [headers by running " + e.HeadersHelper + "]"
		}
		list = append(list, Effect{"server", name, text})
	}
	return list
}

// maxListed limits how many entries of each kind are listed. Effects are always listed in full.
const maxListed = 40

// Lines describes the contents to the user: effects in full, the rest by name.
func (c *Contents) Lines() (lines []string) {
	for _, e := range c.Effects {
		lines = append(lines, plainLine(e.String()))
	}
	add := func(kind, name, description string) {
		lines = append(lines, plainLine(fmt.Sprintf("%-7s %s: %s", kind, name, tool.OneLine(description, 100))))
	}
	more := func(n int, one, many string) {
		if n -= maxListed; n > 0 {
			lines = append(lines, "        and "+amount.Of(n, one, many))
		}
	}
	for _, s := range c.Skills[:min(len(c.Skills), maxListed)] {
		kind := "skill"
		if s.Origin.Command {
			kind = "command"
		}
		add(kind, "/"+s.Name, s.Description)
	}
	more(len(c.Skills), "more skill", "more skills")
	for _, d := range c.Agents[:min(len(c.Agents), maxListed)] {
		add("agent", d.Name, d.Description)
	}
	more(len(c.Agents), "more agent", "more agents")
	for _, s := range c.Styles[:min(len(c.Styles), maxListed)] {
		add("style", s.Name, s.Description)
	}
	more(len(c.Styles), "more output style", "more output styles")
	return lines
}

// plainLine returns plugin text as one unambiguous line. Characters that a terminal would
// interpret or hide are escaped.
func plainLine(text string) string { return term.SpellLine(text) }

// A Change is the difference between the approved effects and a plugin's current ones.
type Change struct{ Added, Removed []Effect }

// compare returns the difference between two lists of effects.
func compare(before, after []Effect) Change {
	missing := func(list []Effect) func(Effect) bool {
		return func(e Effect) bool { return slices.Contains(list, e) }
	}
	c := Change{Added: slices.DeleteFunc(slices.Clone(after), missing(before)), Removed: slices.DeleteFunc(slices.Clone(before), missing(after))}
	order := func(a, b Effect) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) }
	slices.SortStableFunc(c.Added, order)
	slices.SortStableFunc(c.Removed, order)
	return c
}

// Lines formats the difference, with + for additions and - for removals.
func (c Change) Lines() (lines []string) {
	for _, e := range c.Added {
		lines = append(lines, plainLine("+ "+e.String()))
	}
	for _, e := range c.Removed {
		lines = append(lines, plainLine("- "+e.String()))
	}
	return lines
}
