package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"adze/internal/domain/agentdef"
	"adze/internal/hook/prompted"
	"adze/internal/permission/mode"
	agenttool "adze/internal/tools/agent"
)

// Type is the agent type name of these agents in listings.
const HookType = "hook"

// Run runs an agent for a hook's inquiry and returns its answer. small is the model used if the
// hook names none. When ctx is done, the agent is stopped.
func RunHook(ctx context.Context, agents *Agents, small string, i prompted.Inquiry) (json.RawMessage, error) {
	if agents == nil {
		return nil, errors.New("no agents in this session")
	}
	out, err := agents.Launch(ctx, hookRequest(small, i), nil)
	switch {
	case err != nil:
		return nil, err
	case len(out.Output) == 0:
		return nil, errors.New("the agent ended without an answer")
	}
	return out.Output, nil
}

// request returns the request for a read-only agent: it has no tools that change anything and
// no server tools, and anything that would prompt is denied.
func hookRequest(small string, i prompted.Inquiry) Request {
	return Request{
		Input: agenttool.Input{Description: "Check for a hook", Prompt: i.Prompt},
		Wait:  true,
		Spec:  Spec{Model: cmp.Or(i.Model, small), Schema: i.Schema, ForHook: true},
		Definition: &agentdef.Definition{
			Name: HookType, Description: "Checks a condition for a hook", Prompt: i.System, MaxTurns: i.MaxTurns,
			Access:           agentdef.Access{Tools: []string{"Read", "Glob", "Grep"}, Disallowed: []string{"mcp__*"}, Mode: string(mode.DontAsk)},
			OmitInstructions: true, OneShot: true,
		},
	}
}
