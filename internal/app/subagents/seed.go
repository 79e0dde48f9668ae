package subagents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adze/internal/agentdef/builtin"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/texts"
	"adze/internal/session"
	"adze/internal/session/store"
	agenttool "adze/internal/tools/agent"
)

// errNoAnswer says that the answer that a fork goes on from is not there.
var errNoAnswer = errors.New("what the fork goes on from is no longer in the conversation")

// Seed returns what a fork begins with: all that was said up to the answer with the call that launches it, and for each
// call of that answer a result that says no more than that it is under way. All forks of an answer begin with the same.
// One that looks after memories begins with what it was given.
func Seed(ctx context.Context, s *session.Session, b *Birth, l texts.Language) (*store.Contents, error) {
	if b.Keeper != nil {
		return &store.Contents{Entries: b.Keeper.From}, nil
	}
	entries, err := awaitAnswer(ctx, s, b.Use)
	if err != nil {
		return nil, err
	}
	answer := entries[len(entries)-1]
	pending := msg.Entry{ID: answer.ID + "-fork", Parent: answer.ID, Time: answer.Time, Message: msg.Message{Role: msg.User}}
	for _, u := range answer.Message.Uses() {
		pending.Message.Parts = append(pending.Message.Parts, &msg.ToolResult{ID: u.ID, Parts: []msg.Part{&msg.Text{Text: builtin.ForkPending(l)}}})
	}
	return &store.Contents{Entries: append(slices.Clip(entries), pending)}, nil
}

// awaitAnswer returns the conversation up to the answer with a call. The answer may still be on its way.
func awaitAnswer(ctx context.Context, s *session.Session, use string) ([]msg.Entry, error) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		entries := s.Conversation()
		for i, e := range slices.Backward(entries) {
			if slices.ContainsFunc(e.Message.Uses(), func(u *msg.ToolUse) bool { return u.ID == use }) {
				return entries[: i+1 : i+1], nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil, errNoAnswer
}

// DeniedBy returns the rule that denies agents of a type, or "".
func DeniedBy(g *permission.Gate, kind string) string {
	if r, ok := g.Policy().DeniesFor([]string{agenttool.Name, "Task"}, kind); ok {
		return fmt.Sprintf("the rule %s from %s", r, r.Where())
	}
	return ""
}

// TokensOf returns how many tokens a usage comes to.
func TokensOf(u msg.Usage) int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }
