package wire

import (
	"context"

	"adze/internal/domain/tasklist"
	"adze/internal/feature/tasks"
	"adze/internal/hook"
	"adze/internal/setup"
)

// openTasks sets the conversation's task list. A fork uses its parent's.
func (c *Conversation) openTasks() (err error) {
	if lead := c.spec.worker.lead.tasks; lead != nil {
		c.tasks = lead.Child(c.spec.Team.Name)
		return nil
	}
	v := c.ws.values().Loop.Tasks
	c.tasks, err = tasks.New(tasks.Config{
		Home: c.ws.Project.Home, Kept: c.record.Log != nil, Shared: v.Shared,
		Names: tasklist.Names{Named: v.List, Member: c.spec.Team.Team, Team: v.Team, Session: c.record.ID}, Led: c.team.Lead.Team, Member: c.spec.Team.Name,
		Last: c.record.State().Last, Note: c.note,
		Fire: func(ctx context.Context, e hook.Event) hook.Outcome { return c.Hooks.Fire(ctx, e) },
		Say:  c.ws.Say, Language: c.ws.language,
	})
	if err != nil {
		return setup.Errorf("%v", err)
	}
	c.closers.add(c.tasks.Close)
	if c.spec.Entry == Interactive {
		c.tasks.Follow()
	}
	return nil
}
