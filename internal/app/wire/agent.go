package wire

import (
	"cmp"
	"fmt"
	"strings"

	"adze/internal/agentdef"
	"adze/internal/agentdef/builtin"
	"adze/internal/app/agentdefs"
	"adze/internal/app/memories"
	"adze/internal/brief"
	"adze/internal/model"
	"adze/internal/permission/mode"
	"adze/internal/platform/texts"
	"adze/internal/session/store"
	"adze/internal/ui/streamjson"
)

// useAgent makes the conversation that of the agent which the command line or the settings name. What the command line
// says of the model and of limits comes first; a permission mode can only become stricter.
func useAgent(c *Conversation) error {
	s := &c.spec
	if s.Worker != nil {
		if !s.Worker.fork() {
			s.Definition = nil // it has one of its own
		}
		return nil
	}
	if s.Calls != FromModel {
		return nil
	}
	d, err := agentdefs.Main(c.ws.Project, c.ws.Agents, s.MainAgent)
	if err != nil || d == nil {
		return err
	}
	s.follow(d)
	return nil
}

// follow makes the conversation that of an agent.
func (s *Spec) follow(d *agentdef.Definition) {
	s.Definition = d
	s.Model.Name = cmp.Or(s.Model.Name, d.Model)
	s.Model.Effort = cmp.Or(s.Model.Effort, model.Effort(d.Effort))
	s.Limits.MaxTurns = cmp.Or(s.Limits.MaxTurns, d.MaxTurns)
	s.OmitInstructions = s.OmitInstructions || d.OmitInstructions
}

// resumeAgent lets a conversation that is resumed be that of the agent that it was of, unless the command line or the
// settings name another.
func resumeAgent(c *Conversation) {
	s, before := &c.spec, c.record.State().Agent
	if s.Worker == nil && s.Calls == FromModel && s.Definition == nil && before != "" {
		d, err := agentdefs.Main(c.ws.Project, c.ws.Agents, before)
		if err != nil {
			c.ws.Say(fmt.Sprintf("the session was that of the agent %s, and goes on without it: %s", before, strings.TrimPrefix(err.Error(), "--agent: ")))
			return
		}
		s.follow(d)
	}
}

// keepAgent notes whose conversation it is. A coordinator is no agent of the user's.
func keepAgent(c *Conversation) {
	d := c.spec.Definition
	if c.spec.Worker == nil && d != nil && !c.spec.Coordinator && d.Name != c.record.State().Agent && c.record.Log != nil {
		if err := c.record.Log.Note(store.Agent(d.Name)); err != nil {
			c.ws.Say(err.Error())
		}
	}
}

// FirstPrompt returns what a new conversation begins with: what the user says, after what its agent begins with.
func FirstPrompt(w *Workspace, s *Spec, text string) string {
	d, err := agentdefs.Main(w.Project, w.Agents, s.MainAgent)
	if err != nil || d == nil || d.InitialPrompt == "" || s.Session.Resumes() || strings.HasPrefix(text, "/") {
		return text // ok: what is wrong is said when the conversation is opened
	}
	return strings.TrimSpace(d.InitialPrompt + "\n\n" + text)
}

// agentsOf returns the agents of a workspace as hosts are told of them.
func agentsOf(w *Workspace) (list []streamjson.Agent) {
	for _, d := range w.Agents.All() {
		list = append(list, streamjson.Agent{Name: d.Name, Description: d.Description, Model: d.Model})
	}
	return list
}

// limitMode makes the permission mode as strict as the agent of the conversation wants it, unless the command line has
// one.
func limitMode(c *Conversation) error {
	d, a := c.spec.Definition, c.spec.Access
	if d == nil || d.Mode == "" || a.Mode != "" || a.Skip {
		return nil
	}
	return c.Gate.SetMode(mode.Stricter(c.Gate.Mode(), mode.Mode(d.Mode)))
}

// offeredBy reports whether the agent of a conversation gets a tool; nil if there is no agent.
func offeredBy(s *Spec) func(tool string) bool {
	if s.Definition == nil {
		return nil
	}
	return s.Definition.Offers
}

// holder returns the definition of the agent that a conversation is of; nil if there is none, or for a fork.
func holder(s *Spec) *agentdef.Definition {
	if s.Worker != nil {
		return s.Worker.Birth.Definition
	}
	return s.Definition
}

// remembering returns the definition of the agent that holds a conversation if it has a memory of its own, or nil.
func remembering(s *Spec) *agentdef.Definition {
	d := s.Definition
	if s.Worker != nil && !s.Worker.fork() {
		d = s.Worker.Birth.Definition
	}
	if d == nil || d.Memory == "" {
		return nil
	}
	return d
}

// promptChoice returns which texts make up the system prompt. Agents with a memory of their own are told of it.
func promptChoice(s *Spec, m *memories.View, l texts.Language) brief.Choice {
	c := brief.Choice{Custom: s.Prompt.System, Agent: s.Prompt.Agent, Placed: s.Prompt.Agent != nil, Append: s.Team.Appended(s.Prompt.Append, l)}
	if s.Coordinator {
		text := builtin.Coordinator(l)
		c.Coordinator, c.Placed = &text, true
	}
	if d := s.Definition; d != nil && d.Prompt != "" && c.Agent == nil {
		c.Agent = &d.Prompt
	}
	if told := m.Told(); remembering(s) != nil && c.Agent != nil {
		text := strings.TrimSpace(*c.Agent + "\n\n" + told.Section(l))
		c.Agent = &text
	}
	return c
}
