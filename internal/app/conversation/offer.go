package conversation

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/permission"
	"adze/internal/platform/text/rank"
	"adze/internal/tool"
)

// An Offer describes the available tools.
type Offer struct {
	Tools []tool.Tool
	// Simple lists the tools of simple or coordinator mode, if active. Always is offered in any
	// case.
	Simple []string
	Always string
	// Agent reports whether the conversation's agent gets a tool; may be nil.
	Agent func(name string) bool
	// HasServers reports whether servers, whose tools are deferred, are configured.
	HasServers func() bool
}

// Denied returns a predicate for tools that are not offered: denied by a rule, not chosen, or
// not part of simple mode. The structured output tool is offered whenever there is a schema.
// Chosen names that match no tool are reported to the user.
func Denied(say func(string), a AccessSpec, gate *permission.Gate, o Offer) func(name string) bool {
	var names []string
	for _, list := range a.Tools {
		names = slices.AppendSeq(names, strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }))
	}
	all := !a.Chosen || slices.Contains(names, "default")
	if !all {
		reportUnknown(say, names, o.Tools)
	}
	hidden, doors := map[string]bool{}, map[string]bool{}
	for _, t := range o.Tools {
		name := t.Spec().Name
		chosen := all || slices.ContainsFunc(names, func(n string) bool { return isNamed(t, n) })
		simple := o.Simple != nil && !slices.Contains(o.Simple, name)
		hidden[name] = (!chosen || simple || !o.forAgent(name)) && name != o.Always
		doors[name] = t.Traits().Dispatcher && !simple
	}
	return func(name string) bool {
		if _, byRule := gate.Standing().DeniesTool(name); byRule {
			return true
		}
		left, builtin := hidden[name]
		if builtin || !strings.HasPrefix(name, "mcp__") {
			return left && !(doors[name] && o.HasServers())
		}
		return !offersServerTool(names, name) || !o.forAgent(name)
	}
}

func (o *Offer) forAgent(name string) bool { return o.Agent == nil || o.Agent(name) }

// reportUnknown reports names in --tools that match no tool.
func reportUnknown(say func(string), names []string, tools []tool.Tool) {
	var known []string
	for _, t := range tools {
		known = append(known, t.Spec().Name)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "mcp__") || slices.ContainsFunc(tools, func(t tool.Tool) bool { return isNamed(t, name) }) {
			continue
		}
		text := fmt.Sprintf("--tools: unknown tool %s", name)
		if near := rank.Closest(name, known, 1); len(near) > 0 {
			text += "; did you mean " + near[0] + "?"
		}
		say(text)
	}
}

// isNamed reports whether name is the name or an alias of t.
func isNamed(t tool.Tool, name string) bool {
	return slices.ContainsFunc(append([]string{t.Spec().Name}, t.Traits().Aliases...), func(n string) bool {
		return strings.EqualFold(n, name)
	})
}

// offersServerTool reports whether a server tool is offered: --tools chooses among the built-in
// tools, and among server tools if it names any.
func offersServerTool(chosen []string, name string) bool {
	named := false
	for _, n := range chosen {
		if !strings.HasPrefix(n, "mcp__") {
			continue
		}
		named = true
		if n = strings.TrimSuffix(strings.TrimSuffix(n, "*"), "__"); n == name || strings.HasPrefix(name, n+"__") {
			return true
		}
	}
	return !named
}
