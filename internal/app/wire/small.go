package wire

import (
	"context"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/domain/instruct"
	"adze/internal/msg"
	"adze/internal/permission/judge"
	"adze/internal/session"
	"adze/internal/session/remark"
	"adze/internal/session/store"
	"adze/internal/session/title"
)

// lookups returns the background lookups of each turn: memories and a session title.
func lookups(c *Conversation) func(session.Prompt, []msg.Entry) []func(context.Context) []msg.Part {
	namer := newNamer(c)
	return func(p session.Prompt, before []msg.Entry) (all []func(context.Context) []msg.Part) {
		if r := c.prompt.memory.Recaller; r != nil {
			if f := r.Prefetch(p.Parts, before); f != nil {
				all = append(all, f)
			}
		}
		if namer != nil {
			if f := namer.Prefetch(p.Parts); f != nil {
				all = append(all, f)
			}
		}
		return all
	}
}

// newNamer returns the session's namer, or nil if it is not named: a single turn is not worth a
// request.
func newNamer(c *Conversation) *title.Namer {
	log := c.record.Log
	if log == nil || c.spec.Entry == Print || c.spec.Bare || !c.ws.values().Transcript.Titles {
		return nil
	}
	return title.New(title.Config{
		Small: c.window.small, Language: c.ws.language, Log: c.debug,
		Titled: func() bool { return log.Titled() != "" },
		Keep:   func(title string) error { return log.Note(store.AutoTitle(title)) },
	})
}

// remarks returns the small model's side remarks for an interactive user. The settings are
// consulted each time.
func remarks(c *Conversation) commands.Remarks {
	if c.window.small == nil || c.spec.Entry != Interactive || c.spec.Bare || c.spec.Team.Team != "" {
		return commands.Remarks{}
	}
	m := &remark.Maker{Small: c.window.small, Language: c.ws.language, Log: c.debug}
	made := func(setting string, say func(context.Context, []msg.Entry) string) func(context.Context) string {
		return func(ctx context.Context) string {
			if !c.ws.Project.Settings().Bool(setting) {
				return ""
			}
			return say(ctx, c.Session.Conversation())
		}
	}
	return commands.Remarks{
		Away: made("awaySummaryEnabled", m.Away), Next: made("promptSuggestionEnabled", m.Next),
		After: func() time.Duration {
			return time.Duration(c.ws.Project.Settings().Float("awaySummaryMinutes") * float64(time.Minute))
		},
	}
}

// judgedKind is the kind of note that records a decision made in place of the user.
const judgedKind = "judged-call"

// openJudge lets the small model answer permission prompts if the mode or an approved plan
// allows it.
func openJudge(c *Conversation, cfg *session.Config) {
	c.judge = judge.New(judge.Config{
		Small: c.window.small, Language: c.ws.language, Said: func() []msg.Entry { return c.Session.Conversation() }, Instructions: c.prompt.instructions,
		Rules: func() judge.Rules { return c.ws.values().Permissions.Auto }, Log: c.debug,
		Decided: func(v judge.Verdict) {
			if c.record.Log == nil {
				return
			}
			c.record.Log.Note(store.Other{Kind: judgedKind, Fields: map[string]any{ // ok: the log retries with the next entry
				"toolUseID": v.UseID, "tool": v.Tool, "allowed": v.Allowed, "reason": v.Reason,
			}})
		},
	})
	c.Gate.SetJudge(c.judge)
	cfg.PromptHooks = append(cfg.PromptHooks, session.PromptHook{Name: "judge", Run: func(_ context.Context, p session.Prompt) session.HookResult {
		c.judge.Hear(p.Parts)
		return session.HookResult{}
	}})
}

// instructions returns the text of the instruction files.
func (b *promptState) instructions() string {
	if b.announcer == nil {
		return ""
	}
	var all []string
	for _, f := range b.announcer.Files() {
		if f.Kind >= instruct.Project && !b.ws.Project.Trust.Trusted() {
			continue // an untrusted project must not influence the classifier
		}
		all = append(all, f.Text)
	}
	return strings.Join(all, "\n\n")
}
