package agentdefs

import (
	"context"

	"adze/internal/agentdef"
	"adze/internal/desk"
	"adze/internal/platform/amount"
)

// Check returns what looks for what is wrong with agents.
func Check(l *agentdef.Library) func(context.Context) desk.Check {
	return func(context.Context) desk.Check {
		set := l.Refresh()
		return desk.Check{Name: "agents", Fine: amount.Of(len(set.Definitions), "agent", "agents"), Problems: set.Report()}
	}
}
