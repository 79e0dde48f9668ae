package wire

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"adze/internal/feature/agents"
	"adze/internal/feature/agents/builtin"
	"adze/internal/feature/mcp"
	"adze/internal/feature/memory"
	"adze/internal/feature/skills"
	"adze/internal/feature/teams"
	"adze/internal/feature/workflows"
	"adze/internal/feature/worktrees"
	"adze/internal/hook"
	"adze/internal/permission"
	"adze/internal/permission/judge"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/session/transcript"
	"adze/internal/settings"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
	"adze/internal/tools/structured"
)

// A Worker makes a conversation a sub-agent. It shares its lead's budget, provider, rules and
// user.
type Worker struct {
	Lead   *Conversation
	Author filehistory.Author
	Spec   agents.Spec
	Depth  int

	dir  string // initial directory
	mate teams.Spec
}

// fork reports whether the agent is a fork, which shares its lead's context.
func (w *Worker) fork() bool { return w != nil && w.Spec.Definition == nil }

// author returns the author of the conversation's file changes.
func (s *Spec) author() filehistory.Author {
	if s.Worker == nil {
		return filehistory.Author{}
	}
	return s.Worker.Author
}

// dir returns the conversation's initial directory.
func (s *Spec) dir(ws *Workspace) string {
	if s.Worker == nil {
		return ws.Dir
	}
	return s.Worker.dir
}

// gate returns the agent's permission gate and sets its initial directory.
func (w *Worker) gate() (*permission.Gate, error) {
	c := permission.Child{Mode: w.Spec.Mode, Dir: w.Spec.Dir}
	if w.Spec.Left != "" {
		start := w.Lead.Gate.Standing().Config().Start()
		dir, err := w.Lead.trees.Dir(w.Spec.Dir, start)
		if err != nil {
			return nil, err
		}
		c.Dir, c.Copy = dir, rule.Copy{Root: dir, Main: start}
	}
	g, err := w.Lead.Gate.Child(c)
	if err != nil {
		return nil, err
	}
	if w.kind() == builtin.Verification {
		agents.KeepProject(g, slices.Concat(w.Lead.dir.Roots(), []string{w.Lead.ws.Dir, w.Spec.Dir}))
	}
	g.SetSave(w.Lead.ws.saveUpdate)
	w.dir = g.Standing().Config().Dir
	return g, nil
}

// copy returns the agent's worktree if it differs from the main conversation's; else "".
func (w *Worker) copy() string {
	switch {
	case w == nil:
		return ""
	case w.Spec.Left != "":
		return w.Spec.Dir
	}
	return w.Lead.spec.Worker.copy()
}

// forHook reports whether the agent runs for a hook.
func (w *Worker) forHook() bool { return w != nil && w.Spec.ForHook }

// material returns the transcripts a hook's agent may read: the conversation in which the event
// occurs and its leads.
func (w *Worker) material() (paths []string) {
	for on := w.forHook(); on && w != nil; w = w.Lead.spec.Worker {
		if path := w.Lead.record.Path(); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// memoryTask returns the agent's memory-maintenance state, or nil.
func (w *Worker) memoryTask() *agents.MemoryTask {
	if w == nil {
		return nil
	}
	return w.Spec.MemoryTask
}

// ask forwards the agent's permission prompt to the lead's user under the agent's name.
// Background agents don't prompt.
func (w *Worker) ask(ctx context.Context, q permission.Question) (permission.Answer, error) {
	if !w.Spec.Asks() {
		return permission.Answer{By: permission.Headless}, nil
	}
	if q.Agent == nil {
		q.Agent = &permission.Agent{ID: w.Author.ID, Type: w.kind(), Title: w.Author.Title}
	}
	return w.Lead.Gate.Ask(ctx, q)
}

// kind returns the name of the agent's type.
func (w *Worker) kind() string {
	if w.fork() {
		return "fork"
	}
	return w.Spec.Definition.Name
}

// common adds the agent's identity to the fields common to all hook events.
func (w *Worker) common(c hook.Common) hook.Common {
	if w != nil {
		c.AgentID, c.AgentType = w.Author.ID, w.kind()
		c.Transcript = w.Lead.record.Path()
	}
	return c
}

// planning returns the agent's plan-mode reminder: it does not make a plan for the user. A
// read-only agent needs none.
func (w *Worker) planning(l texts.Language) []string {
	if d := w.Spec.Definition; d != nil && d.Mode == string(permission.Plan) {
		return nil
	}
	return []string{agents.Planning(l)}
}

// denied returns a predicate for tools the agent is not offered; others is the predicate for a
// main conversation. Definitions use canonical tool names, so aliases are decided by others.
func (w *Worker) denied(tools []tool.Tool, others func(name string) bool) func(name string) bool {
	if w == nil || w.fork() {
		return others
	}
	traits := map[string]*tool.Traits{}
	for _, t := range tools {
		own := t.Traits()
		traits[t.Spec().Name] = &own
	}
	return func(name string) bool {
		if name == structured.Name && w.Spec.Schema != nil {
			return others(name) // an alias, decided by others
		}
		return !tool.IsAlias(tools, name) && !w.Spec.Definition.Allows(name, cmp.Or(traits[name], &tool.Traits{}), w.Spec.Background) && !w.mate.Needs(name) || others(name)
	}
}

// An agentState holds a conversation's agents and the state needed to launch them.
type agentState struct {
	agents     *agents.Agents  // nil if none are launched
	limiter    *agents.Limiter // the whole session's limiter
	gists      *agents.Summaries
	trees      *worktrees.Place // creates worktrees for agents; may be nil
	notes      agents.Notes
	maintainer *memory.Consolidator // nil if memories are not maintained
	flows      *workflows.Workflows // nil if workflows are off

	coordinator *agents.Coordinator // nil if the model does the work itself
	contract    *agents.Contract    // the session's; nil without a model
	judge       *judge.Judge        // answers in place of the user; nil without a model
}

// openAgents creates the conversation's agent runner. Only models launch agents.
func openAgents(c *Conversation) {
	if c.spec.Calls != FromModel {
		return
	}
	c.coordinator = openCoordinator(c)
	keepAgent(c)
	if c.ws.values().Size.Reduced() && c.coordinator == nil {
		return
	}
	cfg := agents.Config{
		Session: func() *session.Session { return c.Session }, Tasks: c.shell.Tasks, Definitions: agents.Definitions{All: c.ws.Agents.Set, Early: c.ws.Agents.Early},
		Settings: func() settings.Agents { return agentSettings(c.ws) }, Denied: func(kind string) string { return agents.DeniedBy(c.Gate, kind) },
		Open:    func(ctx context.Context, b agents.Spec) (*agents.Worker, error) { return openAgent(ctx, c, b) },
		Spawn:   teams.Spawner(func() *teams.Lead { return c.prompt.team.Lead }),
		Servers: agents.Servers{Ready: mcp.Require(c.Servers), Lacking: mcp.Lacking(c.Servers)},
		Folder:  c.record.Folder, Language: c.ws.language, Say: c.ws.Say, Limiter: new(agents.Limiter), Judged: c.contract.Judged,
		HandOff: func() func(context.Context, judge.Handoff) (permission.Judgement, error) {
			if c.Gate.Mode() != permission.Auto {
				return nil
			}
			return c.judge.HandOff
		},
		Summaries: new(agents.Summaries), Holds: func(dir string) error { return c.Gate.Policy().Holds(dir) },
	}
	if m := c.coordinator; m != nil {
		cfg.Coordinator, cfg.Definitions = true, agents.Definitions{All: m.Definitions, Early: m.Definitions}
	}
	if w := c.spec.Worker; w != nil {
		cfg.Self, cfg.Depth, cfg.Fork, cfg.Limiter, cfg.Summaries = w.Spec.Definition, w.Depth, w.fork(), w.Lead.limiter, w.Lead.gists
	}
	c.limiter, c.gists, c.trees = cfg.Limiter, cfg.Summaries, c.dir.trees
	if w := c.spec.Worker; w != nil {
		c.trees = w.Lead.trees
	}
	cfg.Tree = c.trees.ForAgent
	if c.shell.Tasks != nil {
		c.shell.Tasks.Allow(agentSettings(c.ws).Most)
	}
	c.agents = agents.New(cfg)
	if w := c.spec.Worker; w == nil || w.fork() { // a fork gets its lead's prompt
		c.flows = workflows.New(workflows.Config{
			Project: c.ws.Project, Launch: c.agents.Launch, Tasks: c.shell.Tasks, Folder: c.record.Folder, Waits: c.spec.unattended(),
		})
	}
}

// forkSkill runs a skill in its own conversation and returns the final answer.
func forkSkill(ctx context.Context, c *Conversation, f skills.Fork) (string, error) {
	r := agents.Request{
		Input: agenttool.Input{Description: "/" + f.Skill.Name, Prompt: f.Prompt, Type: cmp.Or(f.Skill.As, builtin.General)}, Use: tool.UseOf(ctx), Wait: true,
		Spec: agents.Spec{Model: f.Model, Effort: f.Effort},
	}
	if c.coordinator != nil {
		r.Type = builtin.Worker
	}
	out, err := c.agents.Launch(ctx, r, f.Report)
	if err != nil {
		return "", fmt.Errorf("the skill %s did not finish: %w", f.Skill.Name, err)
	}
	return skills.CutEnd(out.Text), nil
}

// openAgent opens the conversation of a sub-agent of c.
func openAgent(ctx context.Context, c *Conversation, b agents.Spec) (*agents.Worker, error) {
	child, err := converse(ctx, c, b, teams.Spec{})
	if err != nil {
		return nil, err
	}
	if err := mcp.RequireOwn(ctx, child.Servers, b.Definition); err != nil {
		child.Close()
		return nil, err
	}
	return &agents.Worker{
		Session: child.Session, Transcript: child.record.Path(), Close: child.Close, Absent: child.Servers.Absent, Running: child.shell.Running,
		Tokens: func() int { return agents.TokensOf(child.record.Ledger().Sum().Usage) },
		Cost:   func() float64 { return child.record.Ledger().Sum().CostUSD },
	}, nil
}

// reports reports whether w ends with a report. Sub-agents do; teammates don't, and a fork gets
// its lead's prompt.
func (w *Worker) reports() bool { return w != nil && !w.fork() && w.mate.Mate == nil }

// converse opens a conversation for an agent, which may be a teammate.
func converse(ctx context.Context, c *Conversation, b agents.Spec, mate teams.Spec) (*Conversation, error) {
	w := &Worker{Lead: c, Spec: b, Author: filehistory.Author{ID: b.ID, Title: b.Title}, Depth: 1, mate: mate}
	if c.spec.Worker != nil {
		w.Depth = c.spec.Worker.Depth + 1
	}
	spec := c.spec
	spec.Team, spec.Coordinator = mate, false
	spec.Worker, spec.Entry, spec.Raw, spec.Schema, spec.Debug = w, Print, false, b.Schema, DebugSpec{}
	spec.Session = SessionSpec{ID: c.record.ID, Ephemeral: c.record.Log == nil, Side: &transcript.Side{Agent: b.ID, Folder: c.record.Folder(), OnSaveError: b.OnSaveError}}
	spec.Access.Asks, spec.Access.AskTool = false, "" // the lead's user is prompted
	spec.Limits = Limits{MaxTurns: b.MaxTurns, MaxBudgetUSD: c.spec.Limits.MaxBudgetUSD}
	spec.Model.Earlier, spec.Model.Name = "", c.Session.Model()
	if b.Model != "" && b.Model != "inherit" {
		spec.Model.Name = b.Model
	}
	if spec.Model.Effort = b.Effort; b.Effort == "" {
		spec.Model.Effort = c.model.Working(spec.Model.Name)
	}
	if d := b.Definition; d != nil {
		if err := agents.Approved(c.ws.Project.Trust, d); err != nil {
			return nil, err
		}
		system := builtin.System(c.ws.language(), d)
		spec.Prompt = PromptSpec{Agent: &system}
		spec.Access.Chosen, spec.Access.Tools = false, nil
		spec.OmitInstructions = d.OmitInstructions
	} else {
		begun, err := agents.Seed(ctx, c.Session, &b, c.ws.language())
		if err != nil {
			return nil, err
		}
		begun.State.Last = c.notes.Over(c.record.State().Last)
		spec.Session.Side.Seed = begun
	}
	return c.ws.Converse(ctx, spec)
}

func agentSettings(w *Workspace) settings.Agents { return w.values().Loop.Agents }

// notify sends text to the conversation's model, starting a turn if none is running.
func notify(c *Conversation, text string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.Session == nil {
		return
	}
	if err := c.Session.Submit(ctx, session.Notify{Text: text, Wake: true}); err != nil && c.debug != nil {
		c.debug.Error("a notice was lost", "err", err)
	}
}
