package cli

import (
	"context"
	"errors"

	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/feature/teams"
	"adze/internal/setup"
)

// teamFlags returns the flags with which a team's lead starts a teammate.
func teamFlags(t *teams.Spec) []flag {
	return []flag{
		{Name: "team-name", Value: "TEAM", Doc: "run as a teammate of this team, with --agent-name; leads start teammates with it", Set: flags.SetText(&t.Team)},
		{Name: "agent-name", Value: "NAME", Doc: "the name of the teammate", Set: flags.SetText(&t.Name)},
	}
}

// joinTeam makes the conversation a teammate's if the flags request it. The returned context
// ends with the teammate.
func (o *runOptions) joinTeam(ctx context.Context) (context.Context, error) {
	t := &o.spec.Team
	switch {
	case t.Team == "" && t.Name == "":
		return ctx, nil
	case t.Team == "" || t.Name == "":
		return ctx, setup.Errorf("--team-name and --agent-name need each other")
	case o.spec.Entry != wire.Interactive:
		return ctx, setup.Errorf("a teammate needs a terminal; the lead of a team starts it in a pane")
	}
	ctx, leave := context.WithCancelCause(ctx)
	t.Left = func() { leave(errLeft) }
	return ctx, nil
}

// errLeft reports that a teammate has shut down as requested.
var errLeft = errors.New("the teammate has left its team")
