package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/app/skills"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// generalAgent is the type of agent that a fork runs as. There is no other yet.
const generalAgent = "general-purpose"

// maxFork is how much of what a fork says in the end comes back, in characters.
const maxFork = 40_000

// fork runs a skill in a conversation of its own, which ends with its answer. It works under the permission gate, the hooks
// and the sandbox of this conversation, with its model and at its expense, and what it changes is part of the turn.
func (c *Conversation) fork(ctx context.Context, f skills.Fork) (string, error) {
	if a := f.Skill.Agent; a != "" && !strings.EqualFold(a, generalAgent) {
		return "", fmt.Errorf("the skill %s wants to run as the agent %s, which does not exist; there is %s", f.Skill.Name, a, generalAgent)
	}
	spec := c.spec
	spec.parent = c
	spec.Session, spec.Entry, spec.Schema, spec.Raw = SessionSpec{Ephemeral: true}, Print, nil, false
	spec.Debug = DebugSpec{}
	spec.Access.Asks, spec.Access.AskTool = false, "" // the gate asks as it does here
	spec.Model.Earlier, spec.Model.Name = "", c.Session.Model()
	if f.Model != "" {
		spec.Model.Name = f.Model
	}
	if spec.Model.Effort = f.Effort; f.Effort == "" {
		spec.Model.Effort = c.model.working(spec.Model.Name)
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
	text, err := child.turn(ctx, f)
	if err != nil {
		return "", fmt.Errorf("the skill %s did not finish: %w", f.Skill.Name, err)
	}
	return text, nil
}

// turn has the model work on the prompt of a fork, and returns what it says in the end.
func (c *Conversation) turn(ctx context.Context, f skills.Fork) (string, error) {
	s := c.Session
	defer context.AfterFunc(ctx, func() {
		s.Submit(context.WithoutCancel(ctx), session.Interrupt{Queued: true, Cause: tool.AbortReason(ctx)}) // ok: it cannot fail
	})()
	if err := s.Submit(ctx, session.Prompt{Parts: []msg.Part{&msg.Text{Text: f.Prompt}}, Quoted: true}); err != nil {
		return "", err
	}
	ended, err := watch(s, func(title string) {
		if f.Report != nil {
			f.Report(tool.Progress{Display: tool.Plain{Text: f.Skill.Name + ": " + title}})
		}
	})
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case ended.Reason != agent.Completed:
		return "", errors.Join(fmt.Errorf("its turn ended with %s", ended.Reason), err)
	}
	return cutEnd(lastWords(s.Conversation())), nil
}

// watch reports the calls of a turn until it ends, and returns how it ended and the error that ended it, if any.
func watch(s *session.Session, called func(title string)) (ended agent.Ended, failed error) {
	for e := range s.Entries(context.Background(), 0, session.Latest) { // they end with the session
		switch ev := e.Event.(type) {
		case session.Loop:
			switch ev := ev.Event.(type) {
			case agent.ToolStarted:
				called(ev.Title)
			case agent.Failed:
				failed = ev.Err
			}
		case session.Finished:
			return ev.Ended, failed
		}
	}
	return agent.Ended{Reason: agent.AbortedStreaming}, failed
}

// lastWords returns the text of the last answer.
func lastWords(entries []msg.Entry) string {
	for i := len(entries) - 1; i >= 0; i-- {
		if m := entries[i].Message; m.Role == msg.Assistant {
			if text := strings.TrimSpace(m.Text()); text != "" {
				return text
			}
		}
	}
	return "The skill ended without an answer."
}

// cutEnd returns as much of a text as comes back from a fork.
func cutEnd(text string) string {
	if r := []rune(text); len(r) > maxFork {
		return string(r[:maxFork]) + fmt.Sprintf("\n[Cut: the answer has %d characters.]", len(r))
	}
	return text
}

// notify tells the model of the conversation something, which begins a turn if none runs.
func (c *Conversation) notify(text string) {
	n := session.Notify{Text: text, Wake: true}
	if c.spec.parent == nil {
		c.Hooks.Notify(n)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := c.Session.Submit(ctx, n); err != nil && c.debug != nil {
		c.debug.Error("a notice of a fork was lost", "err", err)
	}
}
