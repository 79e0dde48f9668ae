// Package checks runs the agents of hooks: one that reads and searches until it can say whether a condition is met. What it is
// asked and what follows from its answer is left to the hooks, and how agents run to package subagents.
package checks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"adze/internal/agentdef"
	"adze/internal/app/subagents"
	"adze/internal/hook/prompted"
	"adze/internal/permission/mode"
	agenttool "adze/internal/tools/agent"
)

// Type is what these agents are called where agents are listed by type.
const Type = "hook"

// Run has an agent work on an inquiry of a hook, and returns the value that it answers with. Small is the model of agents for
// which the hook names none. When ctx is done the agent is stopped.
func Run(ctx context.Context, agents *subagents.Agents, small string, i prompted.Inquiry) (json.RawMessage, error) {
	if agents == nil {
		return nil, errors.New("there are no agents in this session")
	}
	out, err := agents.Launch(ctx, request(small, i), nil)
	switch {
	case err != nil:
		return nil, err
	case len(out.Output) == 0:
		return nil, errors.New("the agent ended without an answer")
	}
	return out.Output, nil
}

// request returns the wish for an agent that can only look: it has no tool that changes anything, none of a server, and what it
// would have to ask for is refused.
func request(small string, i prompted.Inquiry) subagents.Request {
	return subagents.Request{
		Input: agenttool.Input{Description: "Check for a hook", Prompt: i.Prompt},
		Stays: true,
		Birth: subagents.Birth{Model: cmp.Or(i.Model, small), Schema: i.Schema, Check: true},
		Definition: &agentdef.Definition{
			Name: Type, Description: "Checks a condition for a hook", Prompt: i.System, MaxTurns: i.MaxTurns,
			Access:           agentdef.Access{Tools: []string{"Read", "Glob", "Grep"}, Disallowed: []string{"mcp__*"}, Mode: string(mode.DontAsk)},
			OmitInstructions: true, OneShot: true,
		},
	}
}
