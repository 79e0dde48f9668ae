package wire

import (
	"context"

	"adze/internal/feature/agents"
	"adze/internal/feature/teams"
	"adze/internal/permission"
	"adze/internal/settings"
)

// openTeam makes the conversation a team member. Sub-agents and conversations without a model
// are never members.
func (c *Conversation) openTeam() (err error) {
	s := c.spec.Team
	if s.Mate != nil {
		c.team = teams.Membership{Mate: s.Mate}
		return nil
	}
	if c.ws.Project.Home == "" || c.ws.values().Size.Reduced() || c.spec.Calls != FromModel || !c.spec.worker.main() {
		return nil
	}
	program := c.ws.Program
	if c.spec.Entry == Host {
		program = "" // host hooks don't reach other processes
	}
	c.team, err = teams.Open(teams.Place{
		Home: c.ws.Project.Home, Dir: c.ws.Dir, SessionID: c.record.ID, Program: program, Flags: c.ws.Flags,
		Environ: func() []string { return c.ws.Project.Dirs.Environ(c.ws.inherited()) }, Getenv: c.ws.Getenv, Settings: func() settings.Loop { return c.ws.values().Loop },
		Session: c.session, Gate: c.Gate, Fire: c.Hooks.Fire, Agents: c.agents,
		Start:    c.startMate,
		Language: c.ws.language, Say: c.ws.Say, Log: c.debug,
	}, s)
	return err
}

// startMate opens a teammate's conversation in this process, like a sub-agent's.
func (c *Conversation) startMate(ctx context.Context, s teams.Start) (*teams.Started, error) {
	d, err := c.agents.Definition(s.Member.Agent)
	if err != nil {
		return nil, err
	}
	mate, err := c.launch(ctx, agents.Spec{
		ID: s.Member.Name + "-" + s.Team, Title: s.Member.Name, Definition: d, Model: s.Member.Model, Mode: permission.Mode(s.Member.Mode), Dir: s.Member.Dir, Asks: func() bool { return true },
	}, teams.Spec{Team: s.Team, Name: s.Member.Name, Mate: s.Carrier})
	if err != nil {
		return nil, err
	}
	return &teams.Started{
		Session: mate.Session, Close: mate.Close,
		Idle: func(ctx context.Context) string { return teams.AskIdle(ctx, mate.Hooks.Fire, s.Team, s.Member.Name) },
	}, nil
}
