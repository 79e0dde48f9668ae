package wire

import (
	"cmp"
	"fmt"
	"strings"

	"adze/internal/domain/agentdef"
	"adze/internal/feature/agents"
	"adze/internal/feature/agents/builtin"
	"adze/internal/feature/memory"
	"adze/internal/model"
	"adze/internal/permission"
	"adze/internal/permission/mode"
	"adze/internal/platform/text/texts"
	"adze/internal/prompt"
	"adze/internal/session/store"
	"adze/internal/ui/streamjson"
)

// selectAgent applies the agent named on the command line or in the settings to a main
// conversation. Command-line model and limits take precedence; the permission mode can only become
// stricter.
func (c *base) selectAgent() error {
	s := &c.spec
	if s.Calls != FromModel || !s.worker.main() {
		return nil
	}
	d, err := agents.Main(c.ws.Project, c.ws.Agents, s.MainAgent)
	if err != nil || d == nil {
		return err
	}
	s.follow(d)
	return nil
}

// follow applies an agent definition to the conversation.
func (s *Spec) follow(d *agentdef.Definition) {
	s.Definition = d
	s.Model.Name = cmp.Or(s.Model.Name, d.Model)
	s.Model.Effort = cmp.Or(s.Model.Effort, model.Effort(d.Effort))
	s.Limits.MaxTurns = cmp.Or(s.Limits.MaxTurns, d.MaxTurns)
	s.OmitInstructions = s.OmitInstructions || d.OmitInstructions
}

// resumeAgent restores the agent of a resumed conversation, unless the command line or the
// settings name another.
func (c *base) resumeAgent() {
	s, before := &c.spec, c.record.State().Agent
	if s.Calls == FromModel && s.Definition == nil && before != "" {
		d, err := agents.Main(c.ws.Project, c.ws.Agents, before)
		if err != nil {
			c.ws.Say(fmt.Sprintf("the session used the agent %s; continuing without it: %s", before, strings.TrimPrefix(err.Error(), "--agent: ")))
			return
		}
		s.follow(d)
	}
}

// recordAgent records the conversation's agent. Coordinators are not recorded because they are
// not user-defined agents.
func (c *base) recordAgent() {
	d := c.spec.Definition
	if d != nil && !c.spec.Coordinator && d.Name != c.record.State().Agent && c.record.Log != nil {
		if err := c.record.Log.Note(store.Agent(d.Name)); err != nil {
			c.ws.Say(err.Error())
		}
	}
}

// FirstPrompt returns the first prompt of a new conversation: the agent's initial prompt
// followed by the user's text.
func (w *Workspace) FirstPrompt(s *Spec, text string) string {
	d, err := agents.Main(w.Project, w.Agents, s.MainAgent)
	if err != nil || d == nil || d.InitialPrompt == "" || s.Session.Resumes() || strings.HasPrefix(text, "/") {
		return text // ok: opening the conversation reports the error
	}
	return strings.TrimSpace(d.InitialPrompt + "\n\n" + text)
}

// listAgents returns the workspace's agents in the form sent to hosts.
func (w *Workspace) listAgents() (list []streamjson.Agent) {
	for _, d := range w.Agents.All() {
		list = append(list, streamjson.Agent{Name: d.Name, Description: d.Description, Model: d.Model})
	}
	return list
}

// limitMode restricts the permission mode to the agent's, unless the command line sets one.
func (c *base) limitMode(g *permission.Gate) error {
	d, a := c.spec.Definition, c.spec.Access
	if d == nil || d.Mode == "" || a.Mode != "" || a.Skip {
		return nil
	}
	return g.SetMode(mode.Stricter(g.Mode(), mode.Mode(d.Mode)))
}

// offeredBy returns a predicate that reports whether the conversation's agent gets a tool, or
// nil without an agent.
func offeredBy(s *Spec) func(tool string) bool {
	if s.Definition == nil {
		return nil
	}
	return s.Definition.Offers
}

// agentDefinition returns the definition of the conversation's agent; nil for a fork or if it has none.
func agentDefinition(s *Spec) *agentdef.Definition {
	if s.worker.fork {
		return nil
	}
	return cmp.Or(s.worker.Definition, s.Definition)
}

// memoryAgent returns the definition of the conversation's agent if that agent has its own
// memory, or nil.
func memoryAgent(s *Spec) *agentdef.Definition {
	d := cmp.Or(s.worker.Definition, s.Definition)
	if d == nil || d.Memory == "" {
		return nil
	}
	return d
}

// promptChoice returns the texts that make up the system prompt. Agents with their own memory
// get a section about it.
func promptChoice(s *Spec, m *memory.View, l texts.Language) prompt.Choice {
	c := prompt.Choice{Custom: s.Prompt.System, Agent: s.Prompt.Agent, Placed: s.Prompt.Agent != nil, Append: s.Team.Appended(s.Prompt.Append, l)}
	if s.Coordinator {
		text := builtin.Coordinator(l)
		c.Coordinator, c.Placed = &text, true
	}
	if d := s.Definition; d != nil && d.Prompt != "" && c.Agent == nil {
		c.Agent = &d.Prompt
	}
	if told := m.Told(); memoryAgent(s) != nil && c.Agent != nil {
		text := strings.TrimSpace(*c.Agent + "\n\n" + told.Section(l))
		c.Agent = &text
	}
	return c
}
