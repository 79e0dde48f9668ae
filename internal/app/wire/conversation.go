package wire

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"adze/internal/agent"
	"adze/internal/agent/sidequery"
	"adze/internal/app/conversation"
	"adze/internal/app/models"
	"adze/internal/app/toolbox"
	"adze/internal/feature"
	"adze/internal/feature/agents"
	"adze/internal/feature/lsp"
	"adze/internal/feature/mcp"
	"adze/internal/feature/memory"
	"adze/internal/feature/schedule"
	"adze/internal/feature/skills"
	"adze/internal/feature/tasks"
	"adze/internal/feature/teams"
	"adze/internal/feature/workflows"
	"adze/internal/model"
	"adze/internal/permission"
	"adze/internal/permission/confine"
	"adze/internal/permission/judge"
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
	// Earlier holds the last turns of a resumed session, or all, for a front end.
	Earlier []agent.Event
	Gate    *permission.Gate
	Hooks   *lifecycle.Hooks
	Servers *mcp.Client // nil without a model

	base
	shared
	model   *models.Choice
	sandbox *confine.Confinement
	dir     workplace
	shell   *conversation.Shell
	files   *fileRecords
	prompt  *promptState
	output  conversation.Output
	window  windowParts

	provider  model.Provider        // nil without a model
	small     *sidequery.SmallModel // answers side queries; nil without a model
	describer *sidequery.Describer  // describes work in a few words; nil without a model
	judge     *judge.Judge          // answers in place of the user; nil without a model

	agents      *agents.Agents       // nil if none are launched
	coordinator *agents.Coordinator  // nil if the model does the work itself
	maintainer  *memory.Consolidator // nil if memories are not maintained
	workflows   *workflows.Workflows // nil if workflows are off
	skills      *skills.Skills       // nil without a model
	listing     *skills.Listing      // nil if skills are not announced
	jobs        *schedule.Runner     // scheduled prompts; nil if scheduling is off
	languages   *lsp.Diagnostics     // nil if language servers are off
	tasks       *tasks.Lists
	team        teams.Membership

	parts   feature.Parts // all of them, in order
	closers closers
}

// A base is what most parts of a conversation need of it.
type base struct {
	ws     *Workspace
	spec   Spec
	record *transcript.Transcript
	debug  *slog.Logger // may be nil
	notes  agents.Notes
}

// note saves a session note for resume. Without a log it is only kept in memory.
func (c *base) note(kind string, fields map[string]any) {
	c.notes.Keep(kind, fields)
	if c.record.Log == nil {
		return
	}
	if err := c.record.Log.Note(store.Other{Kind: kind, Fields: fields}); err != nil && c.debug != nil {
		c.debug.Error("a note was not saved", "kind", kind, "err", err)
	}
}

// Converse opens a conversation. Nothing is written before the first message.
func (w *Workspace) Converse(ctx context.Context, spec Spec) (*Conversation, error) {
	w.LookAhead(&spec)
	return w.converse(ctx, spec)
}

// converse opens a main conversation or a sub-agent's.
func (w *Workspace) converse(ctx context.Context, spec Spec) (_ *Conversation, err error) {
	c := &Conversation{base: base{ws: w, spec: spec}, shared: spec.worker.lead.shared, output: conversation.Output{Schemas: &w.schemas}}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err = c.output.Open(spec.Schema); err != nil {
		return nil, err
	}
	if err = c.selectAgent(); err != nil {
		return nil, err
	}
	if err = c.openGate(ctx); err != nil {
		return nil, err
	}
	if c.record, err = w.openTranscript(ctx, spec.Session, &c.closers); err != nil {
		return nil, err
	}
	c.resumeAgent()
	c.restore(ctx)
	if err = c.limitMode(c.Gate); err != nil {
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
	c.openLanguages()
	if err = c.openFiles(); err != nil {
		return nil, err
	}
	if err = c.openShell(ctx); err != nil {
		return nil, err
	}
	if err = c.openServers(); err != nil {
		return nil, err
	}
	c.openHooks(ctx)
	if err = c.openFeatures(ctx); err != nil {
		return nil, err
	}
	c.openSession(ctx)
	c.Servers.Begin()
	if b := c.model.Backend; b != nil && c.spec.Entry == Interactive {
		b.Router.Preconnect(c.model.Name) // while the user types
	}
	return c, nil
}

// openFeatures creates the features. The order matters only where one uses another.
func (c *Conversation) openFeatures(ctx context.Context) error {
	main := c.spec.worker.main() && c.spec.Calls == FromModel
	if main {
		if err := c.openWorktrees(ctx); err != nil {
			return err
		}
		c.coordinator = c.openCoordinator()
		c.recordAgent()
	}
	c.openSkills()
	c.openPrompt()
	c.openSideQueries()
	c.openAgents()
	if main {
		c.openMaintainer()
	}
	if err := c.openTeam(); err != nil {
		return err
	}
	return c.openTasks()
}

// Close ends the session and releases the conversation's resources in reverse order.
func (c *Conversation) Close() {
	c.parts.Close()
	if c.Session != nil {
		c.Session.Close()
	}
	c.closers.run()
}

// session returns the session. The parts that are created before it call this later.
func (c *Conversation) session() *session.Session { return c.Session }

func (c *Conversation) openSession(ctx context.Context) {
	v := c.ws.values()
	builtin := c.builtinTools()
	c.parts = c.orderedParts(builtin)
	tools := slices.Concat(builtin, c.parts.Tools())
	if whole := c.spec.Session.Whole; c.spec.worker.main() && (c.spec.Entry == Interactive || whole) {
		c.Earlier = transcript.Turns(tools, c.record.Earlier, whole)
	}
	transcript.RestoreTools(tools, c.record.Earlier)
	all := toolbox.Registry(tools, c.Gate)
	c.prompt.extras.Configure(all)
	c.prompt.texts = prompt.NewToolTexts(tools)
	if c.coordinator != nil {
		c.coordinator.Workers = c.workerTools(tools)
	}
	c.keepFiles()
	spent := c.spent() // replaces a sub-agent's ledger
	cfg := session.Config{
		ID:       c.record.ID,
		Provider: c.provider,
		Models:   session.Models{Main: c.model.Name, Fallback: c.model.Fallback, Resolve: c.model.Resolve},
		Tools:    session.Tools{Registry: all, Dynamic: c.Servers.Dynamic(), Denied: c.spec.worker.denied(tools, c.spec.Team, c.ws.deniedTools(&c.spec, c.Gate, tools))},
		Loop: agent.Options{
			MaxTurns:         c.spec.Limits.MaxTurns,
			MaxBudgetUSD:     c.spec.Limits.MaxBudgetUSD,
			TokenBudget:      c.spec.Limits.TokenBudget,
			NamedBudget:      v.Loop.NamedBudget && c.spec.worker.main(),
			MaxTokens:        v.Model.MaxOutput,
			Concurrency:      v.Loop.Concurrency,
			ToolsAfterStream: v.Loop.AfterStream,
			Effort:           c.model.Effort(),
			Thinking:         c.model.Thinking(),
			Raw:              c.spec.Raw,
		},
		Preamble: session.Preamble{Begin: c.prompt.begin},
		Goal:     c.output.Goal,
		Controls: session.Controls{SetMode: c.setMode},
		Listeners: session.Listeners{
			Answered: c.prompt.answered, Spent: spent, Unseen: c.files.state.Clear,
		},
		Records: session.Records{Ledger: c.record.Ledger()},
		Debug:   c.debug,
		Now:     c.ws.Now,
	}
	c.parts.Configure(&cfg)
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
			cfg.Await = c.team.Await(c.shell.Await(c.ws.Say))
		}
	}
	if a := c.prompt.announcer; a != nil {
		cfg.Preamble.Context = a.Opening
	}
	if c.provider != nil {
		if v.Loop.Labels {
			cfg.Loop.Label = c.describer.Calls
		}
		cfg.Window = c.newWindow()
	}
	c.Session = session.Open(ctx, cfg)
	c.Gate.OnMode(func(m permission.Mode) { c.Session.KeepMode(string(m)) })
	c.model.Current = c.Session.Model
	c.Hooks.Attach(c.Session)
	switch {
	case !c.spec.worker.main():
		c.Gate.SetAsk(c.spec.worker.ask)
	case c.spec.Access.AskTool != "":
		c.Gate.SetAsk(c.Servers.Answering(c.spec.Access.AskTool))
	case c.spec.Access.Asks:
		c.Gate.SetAsk(c.Hooks.Announced(c.Session.AskPermission))
	}
	c.team.Attach(c.Gate, c.spec.Team, c.ws.Say)
	for _, n := range c.record.Lost {
		c.Hooks.Notify(session.Notify{Text: n.Text()})
	}
	c.tellWorktree()
	if c.spec.Calls != Single {
		c.follow(ctx)
	}
}

// spent returns a function that records the conversation's cost, a sub-agent's with its lead's.
func (c *base) spent() func() {
	if lead := c.spec.worker.lead.record; lead != nil {
		return c.record.BookUnder(lead, c.spec.worker.author.ID, c.spec.worker.author.Title)
	}
	return c.record.SaveCost()
}

// maxAllowed is the maximum length of the list of allow rules in the prompt, in characters.
const maxAllowed = 300

// unattendedCalls returns the calls that need no approval in an unattended session.
func unattendedCalls(g *permission.Gate) prompt.Unattended {
	mode := g.Mode()
	if g.Asks() || mode != permission.Default && mode != permission.AcceptEdits && mode != permission.DontAsk {
		return prompt.Unattended{}
	}
	a := prompt.Unattended{Mode: string(mode), Edits: mode.AcceptsEdits()}
	for _, r := range g.Standing().Rules() {
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
