package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/agentdef"
	"adze/internal/hook"
	"adze/internal/mcp/roster"
	"adze/internal/platform/amount"
	"adze/internal/platform/term"
	"adze/internal/plugin"
	"adze/internal/skill"
	"adze/internal/skill/library"
	"adze/internal/style"
	"adze/internal/tool"
)

// An Effect is something of a plugin that runs, or that allows something to run without a question. It is shown to the
// user before the plugin is used.
type Effect struct {
	Kind string `json:"kind"` // hook, server or allows
	Name string `json:"name"` // an event, a server or a skill
	Text string `json:"text"` // all of it, in words
}

// String returns the effect as one line.
func (e Effect) String() string { return fmt.Sprintf("%-7s %s: %s", e.Kind, e.Name, e.Text) }

// Contents are what a plugin brings, for the user to judge.
type Contents struct {
	// Skills are its skills and commands, Agents its agents and Styles its output styles, by the names that they are called
	// by.
	Skills  []*skill.Skill
	Agents  []*agentdef.Definition
	Styles  []style.Style
	Effects []Effect
	// Servers are the names of the MCP servers, and Languages those of the language servers.
	Servers, Languages []string
	Problems           []string
}

// examine returns what a plugin brings. It reads its skills, agents and output styles, and runs nothing.
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
	c.Effects = append(hookEffects(p.Hooks, c), serverEffects(p, c)...)
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

// members returns the names of the members of an object.
func members(raw json.RawMessage) []string {
	var object map[string]json.RawMessage
	json.Unmarshal(raw, &object) // ok: what is wrong with it is said where it is used
	return slices.Sorted(maps.Keys(object))
}

// hookEffects returns the hooks that a source defines, and notes what is wrong with them.
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

// handlerText returns what a hook does: its command, or all of it if there is more to it than that.
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

// serverEffects returns the MCP servers, and notes their names and problems.
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

// maxListed bounds the entries of each kind that are listed with what a plugin brings. Effects are always listed, all of
// them.
const maxListed = 40

// Lines describe to the user what a plugin brings: what runs in full, and the rest by name.
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
	if len(c.Languages) > 0 {
		lines = append(lines, plainLine(fmt.Sprintf("%-7s %s (not used yet: language servers)", "lsp", strings.Join(c.Languages, ", "))))
	}
	return lines
}

// plainLine returns text of a plugin as one line that cannot be mistaken for several. Characters that a terminal would obey
// or hide are written as escapes.
func plainLine(text string) string { return term.SpellLine(text) }

// A Change is what differs between what the user approved and what a plugin has now.
type Change struct{ Added, Removed []Effect }

// compare returns what differs between two lists of effects.
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

// Lines describe the difference, with + before what is new and - before what is gone.
func (c Change) Lines() (lines []string) {
	for _, e := range c.Added {
		lines = append(lines, plainLine("+ "+e.String()))
	}
	for _, e := range c.Removed {
		lines = append(lines, plainLine("- "+e.String()))
	}
	return lines
}
