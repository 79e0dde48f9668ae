package skills

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// maxFork is how much of what a fork says in the end comes back, in characters.
const maxFork = 40_000

// Answer has the model of a session work on the prompt, and returns what it says in the end.
func (f Fork) Answer(ctx context.Context, s *session.Session) (string, error) {
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
