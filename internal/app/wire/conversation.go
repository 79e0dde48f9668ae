package wire

import (
	"context"
	"log/slog"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/aside"
	"adze/internal/agent/exec"
	"adze/internal/brief"
	"adze/internal/confine"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/model/fit"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/session/lifecycle"
	"adze/internal/tool"
)

// A Conversation is a session with all its parts. Any number of them can be open over one workspace, each
// with its own model, mode, file state and transcript.
type Conversation struct {
	Session *session.Session
	Gate    *permission.Gate

	ws        *Workspace
	spec      Spec
	debug     *slog.Logger // may be nil
	record    *transcript
	model     *modelChoice
	sandbox   *confine.Confinement
	hooks     *lifecycle.Hooks
	dir       *workdir
	shell     *shellState
	files     *fileRecords
	memory    *memoryView
	prompt    *brief.Prompt
	announcer *brief.Announcer // nil in the simple mode
	toolTexts *brief.ToolTexts
	watch     brief.Watch // over the provider's cache
	window    *windowParts
	output    output
	closers   closers
}

// Converse opens a conversation. Nothing is written before its first message.
func (w *Workspace) Converse(ctx context.Context, spec Spec) (_ *Conversation, err error) {
	c := &Conversation{ws: w, spec: spec}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	// Each step uses what the steps before it have made.
	for _, open := range []func(context.Context) error{
		c.openOutput,
		c.openGate,
		c.openTranscript,
		c.openModel,
		c.openDebug,
		c.openFiles,
		c.openShell,
		c.openHooks,
		c.openBrief,
		c.openSession,
	} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Close ends the session and gives back what the conversation holds, in reverse order.
func (c *Conversation) Close() {
	if c.Session != nil {
		c.Session.Close()
	}
	c.closers.run()
}

// openSession puts the session together.
func (c *Conversation) openSession(ctx context.Context) error {
	v := c.ws.values()
	tools := c.tools()
	c.toolTexts = brief.NewToolTexts(tools)
	c.keepFiles()
	cfg := session.Config{
		ID:     c.record.id,
		Models: session.Models{Main: c.model.name, Fallback: c.model.fallback, Resolve: c.model.resolve},
		Tools:  session.Tools{Registry: tool.NewRegistry(tools...), Denied: c.ws.denied(c.spec.Access, c.Gate, tools)},
		Loop: agent.Options{
			MaxTurns:         c.spec.Limits.MaxTurns,
			MaxBudgetUSD:     c.spec.Limits.MaxBudgetUSD,
			TokenBudget:      c.spec.Limits.TokenBudget,
			MaxTokens:        v.Model.MaxOutput,
			Concurrency:      v.Loop.Concurrency,
			ToolsAfterStream: v.Loop.AfterStream,
			Effort:           c.model.effort(),
			Thinking:         c.model.thinking(),
			Raw:              c.spec.Raw,
		},
		Preamble:  session.Preamble{System: c.system},
		Stops:     []agent.Stopper{c.hooks},
		Goal:      c.output.goal,
		Controls:  session.Controls{SetMode: c.setMode},
		Listeners: session.Listeners{Ended: c.hooks.Ended, Answered: c.answered, Spent: c.ws.saveCost(c.record)},
		Records:   session.Records{Ledger: c.ws.ledger(c.record)},
		Debug:     c.debug,
		Now:       c.ws.Now,
	}
	c.order(&cfg)
	if v.Model.SendMetadata {
		cfg.Loop.UserID = "session_" + c.record.id
	}
	if c.record.log != nil {
		cfg.Records.Log = c.record.log
	}
	if c.record.earlier != nil {
		cfg.Records.History = c.record.earlier.Entries
	}
	if c.files.history != nil {
		cfg.Records.Files = c.files.history
	}
	if c.shell.tasks != nil {
		cfg.Controls.Detach = c.shell.tasks.Detach
	}
	if c.announcer != nil {
		cfg.Preamble.Context = c.announcer.Opening
	}
	if c.model.backend != nil {
		cfg.Provider = fit.New(c.model.backend.provider, fit.Config{Table: c.ws.Models.table, Note: c.ws.Say, Describe: c.describe})
		c.remember(&cfg)
		c.keepWithin(&cfg)
	}
	c.Session = session.Open(ctx, cfg)
	c.hooks.Attach(c.Session)
	if c.spec.Access.Asks {
		c.Gate.SetAsk(c.Session.AskPermission)
	}
	for _, n := range c.record.lost {
		c.hooks.Notify(session.Notify{Text: n.Text()})
	}
	if c.spec.Calls != Single {
		c.follow(ctx)
	}
	return nil
}

// order sets who hears what the user says, who judges calls and who sees their results, in the order in
// which they do. A hearer that blocks a prompt keeps it from those after it; a gate that denies a call keeps
// it from those after it.
func (c *Conversation) order(cfg *session.Config) {
	cfg.Hearers = []session.Hearer{
		{Name: "hooks", Hear: c.hooks.Hear},
		{Name: "shell", Hear: c.shell.hear},
		{Name: "mode", Hear: c.remind},
		{Name: "instructions", Hear: c.announce},
	}
	cfg.Gates = []exec.Gate{
		{Name: "hooks", Gate: c.hooks},
		{Name: "permission", Gate: c.hooks.Denials(c.sandbox.Guard(c.Gate))},
	}
	cfg.Afters = []exec.After{{Name: "hooks", After: c.hooks}}
	if guard := c.memory.guard(); guard != nil {
		cfg.Gates = append(cfg.Gates, exec.Gate{Name: "memory", Gate: guard})
		cfg.Afters = append(cfg.Afters, exec.After{Name: "memory", After: guard})
	}
	if c.announcer != nil {
		cfg.Afters = append(cfg.Afters, exec.After{Name: "instructions", After: c.announcer})
	}
	if c.files.changes != nil {
		cfg.Afters = append(cfg.Afters, exec.After{Name: "changes", After: c.files.changes})
	}
}

// remind tells the model at the beginning of a turn which mode is in force.
func (c *Conversation) remind(context.Context, session.Prompt) (h session.Hearing) {
	for _, text := range c.Gate.Reminders() {
		h.Context = append(h.Context, msg.Reminder(text))
	}
	return h
}

// announce tells the model at the beginning of a turn what has changed since the last.
func (c *Conversation) announce(ctx context.Context, _ session.Prompt) (h session.Hearing) {
	if c.announcer == nil {
		return h
	}
	for _, text := range c.announcer.News(ctx) {
		h.Context = append(h.Context, msg.Reminder(text))
	}
	return h
}

// system assembles the system prompt of a turn.
func (c *Conversation) system(_ context.Context, m agent.Model, tools []msg.ToolSpec) ([]msg.Part, []model.Mark) {
	return c.prompt.Parts(m.ID, tools)
}

// asker returns what asks models something small beside the conversation of a session.
func asker(cfg *session.Config) aside.Asker {
	ledger := cfg.Records.Ledger
	return aside.Asker{Provider: cfg.Provider, Book: func(id string, u msg.Usage, took time.Duration) {
		ledger.Book(id, u, cost.Times{API: took})
	}}
}
