package wire

import (
	"adze/internal/feature/agents"
	"adze/internal/feature/agents/builtin"
	"adze/internal/feature/teams"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
)

// openCoordinator returns the coordinator mode, or nil if the conversation is not in it.
func (c *base) openCoordinator() *agents.Coordinator {
	m := agents.OpenCoordinator(agents.CoordinatorConfig{
		Settings: c.ws.agentSettings(), Resumed: c.record.Earlier != nil, Last: c.record.State().Last, Note: c.note,
		Say: c.ws.Say, Simple: c.ws.values().Size.Reduced(), Language: c.ws.language,
	})
	c.spec.Coordinator = m != nil
	return m
}

// workerTools returns a function that describes a coordinator's workers, given the session's
// tools.
func (c *Conversation) workerTools(tools []tool.Tool) func() builtin.WorkerInfo {
	spec := c.spec
	spec.Coordinator, spec.Definition, spec.Access.Chosen, spec.Access.Tools = false, nil, false, nil
	w := &worker{Spec: agents.Spec{Definition: c.coordinator.Worker(), Background: true}}
	denied, all, dynamic := w.denied(tools, teams.Spec{}, c.ws.deniedTools(&spec, c.Gate, tools)), tool.NewRegistry(tools...), c.Servers.Dynamic()
	if dynamic == nil {
		dynamic = func() []tool.Tool { return nil }
	}
	return func() builtin.WorkerInfo {
		pool, _ := all.Assemble(dynamic(), denied) // ok: tool errors are reported where they are used
		return agents.DescribeTools(pool.Specs(), c.scratch.Path())
	}
}

// newContract returns the session's contract, which requires a verdict on larger changes.
func (c *Conversation) newContract() *agents.Contract {
	if c.spec.Calls != FromModel {
		return nil
	}
	return &agents.Contract{
		Holds: func() bool {
			_, _, can := c.Session.Pool().Lookup(agenttool.Name)
			return can && c.ws.agentSettings().Verify && !c.spec.Coordinator && agents.DeniedBy(c.Gate, builtin.Verification) == ""
		},
		Busy:      func() bool { return agents.AtWork(c.agents.Working()) },
		Unrelated: agents.Within(func() []string { return append(c.ws.Project.All(), c.scratch.Made()) }),
		Language:  c.ws.language,
	}
}
