package wire

import (
	"adze/internal/feature/agents"
	"adze/internal/feature/agents/builtin"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
)

// openCoordinator returns the coordinator mode, or nil if the conversation is not in it. Only a
// main conversation can be.
func openCoordinator(c *Conversation) *agents.Coordinator {
	if c.spec.Worker != nil {
		return nil
	}
	m := agents.OpenCoordinator(agents.CoordinatorConfig{
		Settings: agentSettings(c.ws), Resumed: c.record.Earlier != nil, Last: c.record.State().Last, Note: noteOf(c),
		Say: c.ws.Say, Simple: c.ws.values().Size.Reduced(), Language: c.ws.language,
	})
	c.spec.Coordinator = m != nil
	return m
}

// workersOf returns a function that describes a coordinator's workers, given the session's
// tools.
func workersOf(c *Conversation, tools []tool.Tool) func() builtin.WorkerInfo {
	spec := c.spec
	spec.Coordinator, spec.Definition, spec.Access.Chosen, spec.Access.Tools = false, nil, false, nil
	w := &Worker{Spec: agents.Spec{Definition: c.coordinator.Worker(), Background: true}}
	denied, all, dynamic := w.denied(tools, deniedTools(c.ws, &spec, c.Gate, tools)), tool.NewRegistry(tools...), c.Servers.Dynamic()
	if dynamic == nil {
		dynamic = func() []tool.Tool { return nil }
	}
	return func() builtin.WorkerInfo {
		pool, _ := all.Assemble(dynamic(), denied) // ok: tool errors are reported where they are used
		return agents.DescribeTools(pool.Specs(), c.scratch.Path())
	}
}

// newContract returns the session's contract, which requires a verdict on larger changes.
func newContract(c *Conversation) *agents.Contract {
	if w := c.spec.Worker; w != nil {
		return w.Lead.contract
	}
	if c.spec.Calls != FromModel {
		return nil
	}
	return &agents.Contract{
		Holds: func() bool {
			_, _, can := c.Session.Pool().Lookup(agenttool.Name)
			return can && agentSettings(c.ws).Verify && !c.spec.Coordinator && agents.DeniedBy(c.Gate, builtin.Verification) == ""
		},
		Busy:      func() bool { return agents.AtWork(c.agents.Working()) },
		Unrelated: agents.Within(func() []string { return []string{c.scratch.Made(), c.ws.Project.Home} }),
		Language:  c.ws.language,
	}
}
