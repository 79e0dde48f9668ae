package wire

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/agent/sidequery"
	"adze/internal/app/conversation"
	"adze/internal/app/models"
	"adze/internal/app/toolbox"
	"adze/internal/feature/mcp"
	"adze/internal/feature/skills"
	"adze/internal/feature/teams"
	"adze/internal/model/cost"
	"adze/internal/model/fit"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/permission/confine"
	"adze/internal/platform/fs/scratch"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/session/lifecycle"
	"adze/internal/session/store"
	"adze/internal/session/transcript"
)

// A Conversation is a session with all its parts. Any number of them can be open on one
// workspace, each with its own model, mode, file state and transcript.
type Conversation struct {
	Session *session.Session
	Gate    *permission.Gate
	Hooks   *lifecycle.Hooks
	Servers *mcp.Client // nil without a model

	ws      *Workspace
	spec    Spec
	debug   *slog.Logger // may be nil
	record  *transcript.Transcript
	model   *models.Choice
	sandbox *confine.Confinement
	dir     workplace
	shell   *conversation.Shell
	files   *fileRecords
	prompt  *promptState
	skills  *skills.Skills // nil without a model
	window  windowParts
	output  conversation.Output
	agentState
	scratch *scratch.Dir // nil without a model
	closers closers
}

// Converse opens a conversation. Nothing is written before the first message.
func (w *Workspace) Converse(ctx context.Context, spec Spec) (_ *Conversation, err error) {
	c := &Conversation{ws: w, spec: spec, output: conversation.Output{Schemas: &w.schemas}}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err = c.output.Open(spec.Schema); err != nil {
		return nil, err
	}
	LookAhead(w, &c.spec)
	if err = useAgent(c); err != nil {
		return nil, err
	}
	if err = c.openGate(ctx); err != nil {
		return nil, err
	}
	if c.record, err = w.openTranscript(ctx, spec.Session, &c.closers); err != nil {
		return nil, err
	}
	resumeAgent(c)
	c.restore(ctx)
	if err = limitMode(c); err != nil {
		return nil, err
	}
	if err = c.openModel(ctx); err != nil {
		return nil, err
	}
	if c.debug, err = conversation.OpenLog(conversation.LogConfig{LogSpec: spec.Debug, Home: w.Project.Home, Session: c.record.ID, Version: w.Version}, c.closers.add); err != nil {
		return nil, err
	}
	if c.debug != nil {
		for _, text := range w.Project.Settings().Outdone() {
			c.debug.Debug(text)
		}
	}
	if err = c.openFiles(); err != nil {
		return nil, err
	}
	if err = c.openShell(ctx); err != nil {
		return nil, err
	}
	if err = openServers(c); err != nil {
		return nil, err
	}
	c.openHooks(ctx)
	if err = openWorktrees(ctx, c); err != nil {
		return nil, err
	}
	openSkills(c)
	openAgents(c)
	c.openBriefing()
	openMaintainer(c)
	if err = openTeam(c); err != nil {
		return nil, err
	}
	if err = openTasks(c); err != nil {
		return nil, err
	}
	c.openSession(ctx)
	c.Servers.Begin()
	if b := c.model.Backend; b != nil && c.spec.Entry == Interactive && c.spec.Worker == nil {
		b.Router.Preconnect(c.model.Name) // while the user types
	}
	return c, nil
}

// Close ends the session and releases the conversation's resources in reverse order.
func (c *Conversation) Close() {
	if c.prompt != nil {
		c.prompt.jobs.Close()
		c.prompt.team.Close()
	}
	if c.Session != nil {
		c.Session.Close()
	}
	c.closers.run()
}

// openBriefing creates the briefing. It honors the memory setting.
func (c *Conversation) openBriefing() {
	switch w := c.spec.Worker; {
	case w != nil:
		c.scratch = w.Lead.scratch // shared with the lead's session
	case c.spec.Calls == FromModel:
		c.scratch = newScratch(c.ws, c.record, c.keepFiles)
		c.closers.add(c.scratch.Close)
	}
	c.prompt = newPromptState(c.ws, &c.spec, c.model.Shared, c.scratch.Path)
	c.prompt.debug = c.debug
	c.prompt.extras = openExtras(c)
	c.prompt.jobs = openSchedule(c)
	c.prompt.skills, c.prompt.settle = openListing(c, c.skills.Listed), c.skills.Settle
	c.prompt.spare = func(tool string) bool {
		t, _, ok := c.Session.Pool().Lookup(tool)
		return ok && t.Traits().Spare != nil && t.Traits().Spare()
	}
	c.prompt.alone = func() prompt.Unattended { return unattendedCalls(c) }
	if w := c.spec.Worker; w.fork() {
		c.prompt.alone = w.Lead.prompt.alone
	}
	c.prompt.announceWith(reportInstructions(c.Hooks))
	attachExtras(c)
	c.prompt.keeper.Note = noteOf(c)
	if c.prompt.prompt != nil {
		c.prompt.keeper.Restore(c.record.State().Last, c.prompt.prompt, c.prompt.announcer)
	}
	c.prompt.next = func() (modelID string, tools []msg.ToolSpec) {
		m, _ := c.model.Resolve(c.Session.Model()) // ok: the turn reports the error
		return m.ID, c.Session.ToolSpecs()
	}
	c.prompt.memory.Changed = func() {
		c.keepFiles()
		if c.prompt.announcer != nil {
			c.prompt.announcer.Reset()
		}
	}
}

// noteOf returns a function that saves session notes for resume. Without a log they are only
// kept in memory.
func noteOf(c *Conversation) func(kind string, fields map[string]any) {
	return func(kind string, fields map[string]any) {
		c.notes.Keep(kind, fields)
		if c.record.Log == nil {
			return
		}
		if err := c.record.Log.Note(store.Other{Kind: kind, Fields: fields}); err != nil && c.debug != nil {
			c.debug.Error("a note was not saved", "kind", kind, "err", err)
		}
	}
}

func (c *Conversation) openSession(ctx context.Context) {
	v := c.ws.values()
	tools := c.tools()
	all := toolbox.Registry(tools, c.Gate)
	c.prompt.extras.Configure(all)
	c.prompt.texts = prompt.NewToolTexts(tools)
	if c.coordinator != nil {
		c.coordinator.Workers, c.prompt.workers = workersOf(c, tools), c.coordinator
	}
	c.keepFiles()
	spent := c.record.SaveCost()
	if w := c.spec.Worker; w != nil {
		spent = c.record.BookUnder(w.Lead.record, w.Author.ID, w.Author.Title)
	}
	cfg := session.Config{
		ID:     c.record.ID,
		Models: session.Models{Main: c.model.Name, Fallback: c.model.Fallback, Resolve: c.model.Resolve},
		Tools:  session.Tools{Registry: all, Dynamic: c.Servers.Dynamic(), Denied: c.spec.Worker.denied(tools, deniedTools(c.ws, &c.spec, c.Gate, tools))},
		Loop: agent.Options{
			MaxTurns:         c.spec.Limits.MaxTurns,
			MaxBudgetUSD:     c.spec.Limits.MaxBudgetUSD,
			TokenBudget:      c.spec.Limits.TokenBudget,
			NamedBudget:      v.Loop.NamedBudget && c.spec.Worker == nil,
			MaxTokens:        v.Model.MaxOutput,
			Concurrency:      v.Loop.Concurrency,
			ToolsAfterStream: v.Loop.AfterStream,
			Effort:           c.model.Effort(),
			Thinking:         c.model.Thinking(),
			Raw:              c.spec.Raw,
		},
		Preamble: session.Preamble{Begin: c.prompt.begin, News: func() []string { return append(toolNews(c), c.Servers.News()...) }},
		Goal:     c.output.Goal,
		Controls: session.Controls{SetMode: c.setMode},
		Listeners: session.Listeners{
			Answered: c.prompt.answered, Spent: spent,
			Rewound: func() { c.prompt.rewound() },
			Unseen:  func() { c.files.state.Clear() },
		},
		Records: session.Records{Ledger: c.record.Ledger()},
		Debug:   c.debug,
		Now:     c.ws.Now,
	}
	c.order(&cfg)
	if v.Model.SendMetadata {
		cfg.Loop.UserID = "session_" + c.record.ID
	}
	if c.record.Log != nil {
		cfg.Records.Log = c.record.Log
	}
	if c.record.Earlier != nil {
		cfg.Records.History = c.record.Earlier.Entries
		var withheld struct{ IDs []string }
		json.Unmarshal(c.record.State().Last[session.WithheldKind], &withheld) // ok: otherwise the provider refuses it again
		cfg.Records.Withheld = withheld.IDs
	}
	if c.files.history != nil {
		cfg.Records.Files = c.files.history
	}
	if c.shell.Tasks != nil {
		cfg.Controls.Detach = c.shell.Tasks.Detach
		if c.spec.unattended() {
			cfg.Await = c.prompt.team.Await(c.shell.Await(c.ws.Say))
		}
	}
	if a := c.prompt.announcer; a != nil {
		cfg.Preamble.Context = a.Opening
	}
	if c.model.Backend != nil {
		cfg.Provider = fit.New(c.model.Backend.Provider, fit.Config{
			Table: c.ws.Models.Table, FirstParty: c.model.Backend.Router.FirstParty, Note: c.ws.Say, Describe: c.prompt.describe,
			CacheKey: models.CacheKey(c.record.ID, v.Prompt.NoCache),
		})
		cfg.Provider = withoutMemories(c.prompt.memory, cfg.Provider)
		c.window.small = &sidequery.SmallModel{Asker: asker(&cfg), Models: c.model.Small, Say: c.ws.Say}
		enableRecall(c)
		cfg.Prefetch = lookups(c)
		openJudge(c, &cfg)
		describe := &sidequery.Describer{Small: c.window.small, Language: c.ws.language, Log: c.debug}
		if c.gists != nil && c.spec.Worker == nil {
			c.gists.Tell = describe.Agent
		}
		if v.Loop.Labels {
			cfg.Loop.Label = describe.Calls
		}
		c.keepWithin(&cfg)
	}
	c.Session = session.Open(ctx, cfg)
	c.Gate.OnMode(func(m permission.Mode) { c.Session.KeepMode(string(m)) })
	c.model.Current = c.Session.Model
	c.Hooks.Attach(c.Session)
	switch {
	case c.spec.Worker != nil:
		c.Gate.SetAsk(c.spec.Worker.ask)
	case c.spec.Access.AskTool != "":
		c.Gate.SetAsk(c.Servers.Answering(c.spec.Access.AskTool))
	case c.spec.Access.Asks:
		c.Gate.SetAsk(c.Hooks.Announced(c.Session.AskPermission))
	}
	c.prompt.team.Attach(c.Gate, c.spec.Team, c.ws.Say)
	for _, n := range c.record.Lost {
		c.Hooks.Notify(session.Notify{Text: n.Text()})
	}
	tellWorktree(c)
	if c.spec.Calls != Single {
		c.follow(ctx)
	}
}

// order sets the prompt hooks, call gates and result observers, in execution order. A hook that
// blocks a prompt, or a gate that denies a call, stops the rest of its list.
func (c *Conversation) order(cfg *session.Config) {
	cfg.PromptHooks = []session.PromptHook{{Name: "schedule", Run: c.prompt.jobs.Hear}, {Name: "servers", Run: c.Servers.Hear}}
	cfg.PromptHooks = append(cfg.PromptHooks, session.PromptHook{Name: "hooks", Run: c.Hooks.Hear})
	cfg.Stops = []agent.StopHook{c.Hooks}
	cfg.Listeners.Ended = func(ctx context.Context, e agent.Ended) {
		c.Hooks.Ended(ctx, e)
		c.skills.EndTurn()
		c.maintainer.Ended(ctx, e)
		if c.spec.Worker == nil {
			c.contract.Ended()
		}
	}
	if c.spec.Worker == nil {
		cfg.Stops = append(cfg.Stops, c.contract)
	}
	if c.coordinator != nil {
		cfg.PromptHooks = append(cfg.PromptHooks, session.PromptHook{Name: "coordinator", Run: c.coordinator.Hear})
	}
	cfg.PromptHooks = append(cfg.PromptHooks, []session.PromptHook{
		{Name: "shell", Run: c.shell.PromptHook},
		{Name: "mode", Run: modeReminder(c)},
		{Name: "scratch", Run: makesScratch(c.scratch)},
		{Name: "instructions", Run: newsOf(c)},
		{Name: "files", Run: c.files.hear},
	}...)
	if c.spec.Calls == FromModel {
		cfg.PromptHooks = append(cfg.PromptHooks, session.PromptHook{Name: "skills of the agent", Run: c.skills.Preload(preloaded(c))},
			session.PromptHook{Name: "skills", Run: c.prompt.skills.Hear},
			session.PromptHook{Name: "effort", Run: session.RaiseEffort(func() *session.Session { return c.Session }, c.model.Highest)},
			session.PromptHook{Name: "attachments", Run: attachments(c)})
		if !c.spec.Worker.fork() {
			cfg.PromptHooks = append(cfg.PromptHooks, session.PromptHook{Name: "tools", Run: c.prompt.extras.PromptHook})
		}
	}
	cfg.Gates = []exec.Gate{
		{Name: "hooks", Gate: c.Hooks},
		{Name: "permission", Gate: c.Hooks.Denials(c.sandbox.Guard(c.Gate))},
	}
	cfg.Gates = append(cfg.Gates, exec.Gate{Name: "worktree", Gate: worktreeGate(c)})
	cfg.Afters = []exec.After{{Name: "hooks", After: c.Hooks}}
	if guard := c.prompt.memory.Guard(); guard != nil {
		cfg.Gates = append(cfg.Gates, exec.Gate{Name: "memory", Gate: guard})
		cfg.Afters = append(cfg.Afters, exec.After{Name: "memory", After: guard})
	}
	if c.spec.Worker.memoryTask() != nil {
		cfg.Gates = append(cfg.Gates, exec.Gate{Name: "memory only", Gate: c.prompt.memory.Only()})
	}
	if a := c.prompt.announcer; a != nil {
		cfg.Afters = append(cfg.Afters, exec.After{Name: "instructions", After: a})
	}
	if c.skills != nil {
		cfg.Afters = append(cfg.Afters, exec.After{Name: "skills", After: c.skills})
	}
	if c.files.changes != nil {
		cfg.Afters = append(cfg.Afters, exec.After{Name: "changes", After: c.files.changes})
	}
}

// modeReminder returns a hearer that reminds the model of the current mode at the start of a
// turn.
func modeReminder(c *Conversation) func(context.Context, session.Prompt) session.HookResult {
	return func(context.Context, session.Prompt) (h session.HookResult) {
		reminders := c.Gate.Reminders()
		if w := c.spec.Worker; w != nil && c.spec.Team.Team == "" && c.Gate.Mode() == permission.Plan {
			reminders = w.planning(c.ws.language())
		}
		if c.spec.Team.Team != "" && c.Gate.Mode() == permission.Plan && len(reminders) > 0 {
			reminders = append(reminders, teams.Planning(c.ws.language()))
		}
		for _, text := range reminders {
			h.Context = append(h.Context, msg.Reminder(text))
		}
		return h
	}
}

// asker returns an Asker for small side queries of a session.
func asker(cfg *session.Config) sidequery.Asker {
	ledger := cfg.Records.Ledger
	return sidequery.Asker{Provider: cfg.Provider, Book: func(purpose, id string, u msg.Usage, took time.Duration) {
		ledger.BookAside(purpose, id, u, cost.Times{API: took})
	}}
}

// maxAllowed is the maximum length of the list of allow rules in the prompt, in characters.
const maxAllowed = 300

// unattendedCalls returns the calls that need no approval in an unattended session.
func unattendedCalls(c *Conversation) prompt.Unattended {
	mode := c.Gate.Mode()
	if c.Gate.Asks() || mode != permission.Default && mode != permission.AcceptEdits && mode != permission.DontAsk {
		return prompt.Unattended{}
	}
	a := prompt.Unattended{Mode: string(mode), Edits: mode.AcceptsEdits()}
	for _, r := range c.Gate.Standing().Rules() {
		switch text := r.String(); {
		case r.Behavior != permission.Allow:
		case len(a.Rules)+len(text) > maxAllowed:
			a.Rules += ", …"
			return a
		case a.Rules == "":
			a.Rules = text
		default:
			a.Rules += ", " + text
		}
	}
	return a
}
