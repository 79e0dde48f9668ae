package wire

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/app/skills"
	"adze/internal/platform/filehistory"
	"adze/internal/platform/task"
	"adze/internal/session"
)

// generalAgent is the type of agent that a fork runs as. There is no other yet.
const generalAgent = "general-purpose"

// fork runs a skill in a conversation of its own, which ends with its answer. It works under the permission gate, the hooks
// and the sandbox of the conversation that calls it, with its model and at its expense, and what it changes is part of the turn.
func fork(ctx context.Context, c *Conversation, f skills.Fork) (string, error) {
	if a := f.Skill.Agent; a != "" && !strings.EqualFold(a, generalAgent) {
		return "", fmt.Errorf("the skill %s wants to run as the agent %s, which does not exist; there is %s", f.Skill.Name, a, generalAgent)
	}
	spec := c.spec
	spec.Parent, spec.Agent = c, filehistory.Author{ID: task.NewID(task.Agent), Title: "/" + f.Skill.Name}
	spec.Session, spec.Entry, spec.Schema, spec.Raw = SessionSpec{Ephemeral: true}, Print, nil, false
	spec.Debug = DebugSpec{}
	spec.Access.Asks, spec.Access.AskTool = false, "" // the gate asks as it does here
	spec.Model.Earlier, spec.Model.Name = "", c.Session.Model()
	if f.Model != "" {
		spec.Model.Name = f.Model
	}
	if spec.Model.Effort = f.Effort; f.Effort == "" {
		spec.Model.Effort = c.model.Working(spec.Model.Name)
	}
	child, err := c.ws.Converse(ctx, spec)
	if err != nil {
		return "", fmt.Errorf("running the skill %s on its own: %w", f.Skill.Name, err)
	}
	defer func() {
		child.Close()
		c.Gate.SetDir(c.dir.here()) // the fork may have gone elsewhere
		c.keepFiles()
	}()
	text, err := f.Answer(ctx, child.Session)
	if err != nil {
		return "", fmt.Errorf("the skill %s did not finish: %w", f.Skill.Name, err)
	}
	return text, nil
}

// notify tells the model of the conversation something, which begins a turn if none runs.
func notify(c *Conversation, text string) {
	n := session.Notify{Text: text, Wake: true}
	if c.spec.Parent == nil {
		c.Hooks.Notify(n)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := c.Session.Submit(ctx, n); err != nil && c.debug != nil {
		c.debug.Error("a notice of a fork was lost", "err", err)
	}
}
