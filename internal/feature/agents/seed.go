package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adze/internal/agent"
	"adze/internal/feature/agents/builtin"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/session/store"
	agenttool "adze/internal/tools/agent"
)

// errNoAnswer reports that the answer a fork continues from no longer exists.
var errNoAnswer = errors.New("the conversation that the fork continued was compacted or cleared: launch another agent and give it the context it needs")

// Seed returns a fork's initial conversation: everything up to the answer with the launching
// call, and for each call of that answer a placeholder result. All forks of an answer start
// with the same bytes. A memory keeper starts with the given entries.
func Seed(ctx context.Context, s *session.Session, b *Spec, l texts.Language) (*store.Contents, error) {
	if b.MemoryTask != nil {
		return &store.Contents{Entries: b.MemoryTask.From}, nil
	}
	entries, err := awaitAnswer(ctx, s, b)
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

// upToAnswer returns the entries up to the answer with a call, or nil if it is missing.
func upToAnswer(entries []msg.Entry, use string) []msg.Entry {
	for i, e := range slices.Backward(entries) {
		if slices.ContainsFunc(e.Message.Uses(), func(u *msg.ToolUse) bool { return u.ID == use }) {
			return entries[: i+1 : i+1]
		}
	}
	return nil
}

// awaitAnswer returns the conversation up to the answer with the call that launches a fork. The
// answer may still be streaming, because calls start before it is complete. For a fork that is
// continued, the answer exists already or never will.
func awaitAnswer(ctx context.Context, s *session.Session, b *Spec) ([]msg.Entry, error) {
	after := s.Last()
	if entries := upToAnswer(s.Conversation(), b.Use); entries != nil || b.Resumed {
		return entries, missing(entries)
	}
	for e := range s.Entries(ctx, after, session.Latest) {
		if answered(e.Event) {
			entries := upToAnswer(s.Conversation(), b.Use)
			return entries, missing(entries)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, errNoAnswer
}

// answered reports whether an event means that the pending answer has been added to the
// conversation, or never will be.
func answered(ev session.Event) bool {
	switch ev := ev.(type) {
	case session.Finished:
		return ev.Local == nil
	case session.Loop:
		switch ev := ev.Event.(type) {
		case agent.Appended:
			return ev.Entry.Message.Role == msg.Assistant
		case agent.Withdrawn, agent.Compacted:
			return true
		}
	}
	return false
}

// missing returns the error for an empty conversation.
func missing(entries []msg.Entry) error {
	if entries == nil {
		return errNoAnswer
	}
	return nil
}

// DeniedBy returns the rule that denies agents of a type, or "".
func DeniedBy(g *permission.Gate, kind string) string {
	if r, ok := g.Standing().DeniesFor([]string{agenttool.Name, "Task"}, kind); ok {
		return fmt.Sprintf("the rule %s from %s", r, r.Where())
	}
	return ""
}

// TokensOf returns the total number of tokens in a usage.
func TokensOf(u msg.Usage) int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }
