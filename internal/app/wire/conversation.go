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
	Hooks   *lifecycle.Hooks

	ws      *Workspace
	spec    Spec
	debug   *slog.Logger // may be nil
	record  *transcript
	model   *modelChoice
	sandbox *confine.Confinement
	dir     *workdir
	shell   *shellState
	files   *fileRecords
	told    *briefing
	window  windowParts
	output  output
	closers closers
}

// Converse opens a conversation. Nothing is written before its first message.
func (w *Workspace) Converse(ctx context.Context, spec Spec) (_ *Conversation, err error) {
	c := &Conversation{ws: w, spec: spec}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err = c.output.open(spec.Schema); err != nil {
		return nil, err
	}
	if err = c.openGate(ctx); err != nil {
		return nil, err
	}
	if c.record, err = w.openTranscript(ctx, spec.Session, &c.closers); err != nil {
		return nil, err
	}
	c.restore(ctx)
	if c.model, err = w.openModel(c.spec, &c.closers); err != nil {
		return nil, err
	}
	if c.debug, err = w.openDebug(spec.Debug, c.record.id, &c.closers); err != nil {
		return nil, err
	}
	if err = c.openFiles(); err != nil {
		return nil, err
	}
	if err = c.openShell(ctx); err != nil {
		return nil, err
	}
	c.openHooks()
	c.openBriefing()
	c.openSession(ctx)
	return c, nil
}

// Close ends the session and gives back what the conversation holds, in reverse order.
func (c *Conversation) Close() {
	if c.Session != nil {
		c.Session.Close()
	}
	c.closers.run()
}

// openBriefing makes what the model is told. It follows the switch for memory.
func (c *Conversation) openBriefing() {
	c.told = newBriefing(c.ws, &c.spec, c.model.shared)
	c.told.debug = c.debug
	c.told.announceWith(reportInstructions(c.Hooks))
	c.told.memory.changed = func() {
		c.keepFiles()
		if c.told.announcer != nil {
			c.told.announcer.Reset()
		}
	}
}

// openSession puts the session together.
func (c *Conversation) openSession(ctx context.Context) {
	v := c.ws.values()
	tools := c.tools()
	c.told.texts = brief.NewToolTexts(tools)
	c.keepFiles()
	cfg := session.Config{
		ID:     c.record.id,
		Models: session.Models{Main: c.model.name, Fallback: c.model.fallback, Resolve: c.model.resolve},
		Tools:  session.Tools{Registry: tool.NewRegistry(tools...), Denied: deniedTools(c.ws, c.spec.Access, c.Gate, tools)},
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
		Preamble:  session.Preamble{Begin: c.told.begin},
		Stops:     []agent.Stopper{c.Hooks},
		Goal:      c.output.goal,
		Controls:  session.Controls{SetMode: c.setMode},
		Listeners: session.Listeners{Ended: c.Hooks.Ended, Answered: c.told.answered, Spent: c.record.saveCost()},
		Records:   session.Records{Ledger: c.record.ledger()},
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
		if c.spec.unattended() {
			cfg.Await = c.shell.await(c.ws.Say)
		}
	}
	if a := c.told.announcer; a != nil {
		cfg.Preamble.Context = a.Opening
	}
	if c.model.backend != nil {
		cfg.Provider = fit.New(c.model.backend.provider, fit.Config{Table: c.ws.Models.table, Note: c.ws.Say, Describe: c.told.describe})
		c.remember(&cfg)
		c.keepWithin(&cfg)
	}
	c.Session = session.Open(ctx, cfg)
	c.Hooks.Attach(c.Session)
	if c.spec.Access.Asks {
		c.Gate.SetAsk(c.Session.AskPermission)
	}
	for _, n := range c.record.lost {
		c.Hooks.Notify(session.Notify{Text: n.Text()})
	}
	if c.spec.Calls != Single {
		c.follow(ctx)
	}
}

// order sets who hears what the user says, who judges calls and who sees their results, in the order in
// which they do. A hearer that blocks a prompt keeps it from those after it; a gate that denies a call keeps
// it from those after it.
func (c *Conversation) order(cfg *session.Config) {
	cfg.Hearers = []session.Hearer{
		{Name: "hooks", Hear: c.Hooks.Hear},
		{Name: "shell", Hear: c.shell.hear},
		{Name: "mode", Hear: modeReminder(c.Gate)},
		{Name: "instructions", Hear: c.told.hear},
	}
	cfg.Gates = []exec.Gate{
		{Name: "hooks", Gate: c.Hooks},
		{Name: "permission", Gate: c.Hooks.Denials(c.sandbox.Guard(c.Gate))},
	}
	cfg.Afters = []exec.After{{Name: "hooks", After: c.Hooks}}
	if guard := c.told.memory.guard(); guard != nil {
		cfg.Gates = append(cfg.Gates, exec.Gate{Name: "memory", Gate: guard})
		cfg.Afters = append(cfg.Afters, exec.After{Name: "memory", After: guard})
	}
	if a := c.told.announcer; a != nil {
		cfg.Afters = append(cfg.Afters, exec.After{Name: "instructions", After: a})
	}
	if c.files.changes != nil {
		cfg.Afters = append(cfg.Afters, exec.After{Name: "changes", After: c.files.changes})
	}
}

// modeReminder returns a hearer that tells the model at the beginning of a turn which mode is in force.
func modeReminder(g *permission.Gate) func(context.Context, session.Prompt) session.Hearing {
	return func(context.Context, session.Prompt) (h session.Hearing) {
		for _, text := range g.Reminders() {
			h.Context = append(h.Context, msg.Reminder(text))
		}
		return h
	}
}

// asker returns what asks models something small beside the conversation of a session.
func asker(cfg *session.Config) aside.Asker {
	ledger := cfg.Records.Ledger
	return aside.Asker{Provider: cfg.Provider, Book: func(_, id string, u msg.Usage, took time.Duration) {
		ledger.Book(id, u, cost.Times{API: took})
	}}
}
