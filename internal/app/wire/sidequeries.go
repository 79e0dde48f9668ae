package wire

import (
	"context"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/app/models"
	"adze/internal/commands"
	"adze/internal/feature"
	"adze/internal/model/cost"
	"adze/internal/model/fit"
	"adze/internal/msg"
	"adze/internal/permission/judge"
	"adze/internal/session"
	"adze/internal/session/remark"
	"adze/internal/session/store"
	"adze/internal/session/title"
)

// openSideQueries creates the provider and the parts that query it outside the conversation's
// turns.
func (c *Conversation) openSideQueries() {
	b := c.model.Backend
	if b == nil {
		return
	}
	c.provider = withoutMemories(c.prompt.memory, fit.New(b.Provider, fit.Config{
		Table: c.ws.Models.Table, FirstParty: b.Router.FirstParty, Note: c.ws.Say, Describe: c.prompt.describe,
		CacheKey: models.CacheKey(c.record.ID, c.ws.values().Prompt.NoCache),
	}))
	c.small = &sidequery.SmallModel{Asker: c.asker(), Models: c.model.Small, Say: c.ws.Say}
	c.describer = &sidequery.Describer{Small: c.small, Language: c.ws.language, Log: c.debug}
	c.enableRecall()
	c.openJudge()
}

// asker returns an Asker for small side queries of the session. It asks for the ledger each time,
// because a sub-agent gets its own when the session is opened.
func (c *Conversation) asker() sidequery.Asker {
	return sidequery.Asker{Provider: c.provider, Book: func(purpose, id string, u msg.Usage, took time.Duration) {
		c.record.Ledger().BookAside(purpose, id, u, cost.Times{API: took})
	}}
}

// titlePart names the session unless it has a title. A single turn is not worth a request.
func (c *Conversation) titlePart() (p feature.Part) {
	log := c.record.Log
	if c.small == nil || log == nil || c.spec.Entry == Print || c.spec.Bare || !c.ws.values().Transcript.Titles {
		return p
	}
	namer := title.New(title.Config{
		Small: c.small, Language: c.ws.language, Log: c.debug,
		Titled: func() bool { return log.Titled() != "" },
		Keep:   func(title string) error { return log.Note(store.AutoTitle(title)) },
	})
	return feature.Part{Name: "title", Prefetch: func(p session.Prompt, _ []msg.Entry) func(context.Context) []msg.Part {
		return namer.Prefetch(p.Parts)
	}}
}

// remarks returns the small model's side remarks for an interactive user. The settings are
// consulted each time.
func (c *Conversation) remarks() commands.Remarks {
	if c.small == nil || c.spec.Entry != Interactive || c.spec.Bare || c.spec.Team.Team != "" {
		return commands.Remarks{}
	}
	m := &remark.Maker{Small: c.small, Language: c.ws.language, Log: c.debug}
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
func (c *Conversation) openJudge() {
	c.judge = judge.New(judge.Config{
		Small: c.small, Language: c.ws.language, Said: func() []msg.Entry { return c.Session.Conversation() }, Instructions: c.prompt.instructions,
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
}

// judgePart tells the judge what the user wants.
func (c *Conversation) judgePart() (p feature.Part) {
	if c.judge == nil {
		return p
	}
	return feature.Part{Name: "judge", PromptHook: func(_ context.Context, p session.Prompt) session.HookResult {
		c.judge.Hear(p.Parts)
		return session.HookResult{}
	}}
}
