package wire

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"adze/internal/app/conversation"
	"adze/internal/app/models"
	"adze/internal/feature/agents"
	"adze/internal/feature/agents/builtin"
	"adze/internal/feature/mcp"
	"adze/internal/feature/skills"
	"adze/internal/feature/tasks"
	"adze/internal/feature/teams"
	"adze/internal/feature/workflows"
	"adze/internal/feature/worktrees"
	"adze/internal/hook"
	connections "adze/internal/mcp"
	"adze/internal/permission"
	"adze/internal/permission/judge"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/fs/scratch"
	"adze/internal/platform/text/texts"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/session/transcript"
	"adze/internal/settings"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
	"adze/internal/tools/structured"
)

// A worker makes a conversation a sub-agent's. The zero value makes it a main conversation.
type worker struct {
	agents.Spec
	depth  int                // depth below the main conversation; 0 for that
	fork   bool               // shares its lead's context
	kind   string             // name of the agent's type
	author filehistory.Author // author of its file changes
	gate   *permission.Gate
	// copy is its worktree if that differs from the main conversation's; otherwise empty.
	copy string
	lead lead
}

// A lead is what a sub-agent's conversation takes from the conversation that launched it. A main
// conversation creates these for itself.
type lead struct {
	gate        *permission.Gate // for prompts
	record      *transcript.Transcript
	transcripts func() []string // transcripts of the lead and its own leads
	model       *models.Choice
	shell       *conversation.Shell
	files       *fileRecords
	servers     *connections.Servers
	hooks       *hook.Runner
	choose      func(context.Context, hook.Question) (string, error) // lets hooks ask the user
	entry       Entry                                                // as shown to the model
	unattended  func() prompt.Unattended
	tasks       *tasks.Lists
	shared
}

// A shared is the state that a main conversation shares with all its sub-agents.
type shared struct {
	scratch   *scratch.Dir // nil without a model
	limiter   *agents.Limiter
	summaries *agents.Summaries
	contract  *agents.Contract // nil without a model
	trees     *worktrees.Place // creates worktrees; nil if they are unavailable
}

// main reports whether the conversation is not a sub-agent's.
func (w *worker) main() bool { return w.depth == 0 }

// newWorker returns the worker for a sub-agent of c with its permission gate.
func (c *Conversation) newWorker(b agents.Spec) (w worker, err error) {
	w = worker{
		Spec: b, depth: c.spec.worker.depth + 1, fork: b.Definition == nil, kind: "fork", copy: c.spec.worker.copy,
		author: filehistory.Author{ID: b.ID, Title: b.Title},
		lead: lead{
			gate: c.Gate, record: c.record, transcripts: c.transcripts, model: c.model, shell: c.shell, files: c.files,
			servers: c.Servers.All(), hooks: c.Hooks.Runner, choose: c.choose, entry: c.spec.shownEntry(),
			unattended: c.prompt.unattended, tasks: c.tasks, shared: c.shared,
		},
	}
	if !w.fork {
		w.kind = b.Definition.Name
	}
	child := permission.Child{Mode: b.Mode, Dir: b.Dir}
	if b.Left != "" {
		w.copy = b.Dir
		start := c.Gate.Standing().Config().Start()
		if child.Dir, err = c.trees.Dir(b.Dir, start); err != nil {
			return w, err
		}
		child.Copy = rule.Copy{Root: child.Dir, Main: start}
	}
	if w.gate, err = c.Gate.Child(child); err != nil {
		return w, err
	}
	if w.kind == builtin.Verification {
		agents.KeepProject(w.gate, slices.Concat(c.dir.Roots(), []string{c.ws.Dir, b.Dir}))
	}
	w.gate.SetSave(c.ws.saveUpdate)
	return w, nil
}

// transcripts returns the transcripts of the conversation and its leads.
func (c *base) transcripts() (paths []string) {
	if path := c.record.Path(); path != "" {
		paths = append(paths, path)
	}
	if above := c.spec.worker.lead.transcripts; above != nil {
		paths = append(paths, above()...)
	}
	return paths
}

// ask forwards the agent's permission prompt to the lead's user under the agent's name.
// Background agents don't prompt.
func (w *worker) ask(ctx context.Context, q permission.Question) (permission.Answer, error) {
	if !w.Asks() {
		return permission.Answer{By: permission.Headless}, nil
	}
	if q.Agent == nil {
		q.Agent = &permission.Agent{ID: w.author.ID, Type: w.kind, Title: w.author.Title}
	}
	return w.lead.gate.Ask(ctx, q)
}

// hookFields adds the agent's identity to the fields common to all hook events.
func (w *worker) hookFields(c hook.Common) hook.Common {
	if !w.main() {
		c.AgentID, c.AgentType = w.author.ID, w.kind
		c.Transcript = w.lead.record.Path()
	}
	return c
}

// planning returns the plan-mode reminder of a sub-agent, which does not make a plan for the user.
// A read-only agent needs none.
func (w *worker) planning(l texts.Language) []string {
	if d := w.Definition; d != nil && d.Mode == string(permission.Plan) {
		return nil
	}
	return []string{agents.Planning(l)}
}

// denied returns a predicate for tools the agent is not offered; others is the predicate for a
// main conversation or a fork. Definitions use canonical tool names, so aliases are decided by
// others.
func (w *worker) denied(tools []tool.Tool, mate teams.Spec, others func(name string) bool) func(name string) bool {
	if w.Definition == nil {
		return others
	}
	traits := map[string]*tool.Traits{}
	for _, t := range tools {
		own := t.Traits()
		traits[t.Spec().Name] = &own
	}
	return func(name string) bool {
		if name == structured.Name && w.Schema != nil {
			return others(name) // an alias, decided by others
		}
		return !tool.IsAlias(tools, name) && !w.Definition.Allows(name, cmp.Or(traits[name], &tool.Traits{}), w.Background) && !mate.Needs(name) || others(name)
	}
}

// openAgents creates the conversation's agent runner. Only models launch agents.
func (c *Conversation) openAgents() {
	if c.spec.Calls != FromModel || c.ws.values().Size.Reduced() && c.coordinator == nil {
		return
	}
	w := &c.spec.worker
	if c.limiter == nil {
		c.limiter, c.summaries = new(agents.Limiter), new(agents.Summaries)
		if c.describer != nil {
			c.summaries.Tell = c.describer.Agent
		}
	}
	cfg := agents.Config{
		Session: c.session, Tasks: c.shell.Tasks, Definitions: agents.Definitions{All: c.ws.Agents.Set, Early: c.ws.Agents.Early},
		Settings: c.ws.agentSettings, Denied: func(kind string) string { return agents.DeniedBy(c.Gate, kind) },
		Open:    c.openAgent,
		Spawn:   teams.Spawner(func() *teams.Lead { return c.team.Lead }),
		Servers: agents.Servers{Ready: mcp.Require(c.Servers), Lacking: mcp.Lacking(c.Servers)},
		Folder:  c.record.Folder, Language: c.ws.language, Say: c.ws.Say, Limiter: c.limiter, Judged: c.contract.Judged,
		HandOff: func() func(context.Context, judge.Handoff) (permission.Judgement, error) {
			if c.Gate.Mode() != permission.Auto {
				return nil
			}
			return c.judge.HandOff
		},
		Summaries: c.summaries, Holds: func(dir string) error { return c.Gate.Policy().Holds(dir) },
		Self: w.Definition, Depth: w.depth, Fork: w.fork, Tree: c.trees.ForAgent,
	}
	if m := c.coordinator; m != nil {
		cfg.Coordinator, cfg.Definitions = true, agents.Definitions{All: m.Definitions, Early: m.Definitions}
	}
	if c.shell.Tasks != nil {
		c.shell.Tasks.Allow(c.ws.agentSettings().Most)
	}
	c.agents = agents.New(cfg)
	if w.Definition == nil { // a fork gets its lead's prompt
		c.workflows = workflows.New(workflows.Config{
			Project: c.ws.Project, Launch: c.agents.Launch, Tasks: c.shell.Tasks, Folder: c.record.Folder, Waits: c.spec.unattended(),
		})
	}
}

// forkSkill runs a skill in its own conversation and returns the final answer.
func (c *Conversation) forkSkill(ctx context.Context, f skills.Fork) (string, error) {
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
func (c *Conversation) openAgent(ctx context.Context, b agents.Spec) (*agents.Worker, error) {
	child, err := c.launch(ctx, b, teams.Spec{})
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

// launch opens a conversation for an agent, which may be a teammate.
func (c *Conversation) launch(ctx context.Context, b agents.Spec, mate teams.Spec) (*Conversation, error) {
	spec := c.spec
	spec.Team, spec.Coordinator = mate, false
	spec.Entry, spec.Raw, spec.Schema, spec.Debug = Print, false, b.Schema, DebugSpec{}
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
		spec.Definition = nil // the worker has its own
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
	var err error
	if spec.worker, err = c.newWorker(b); err != nil {
		return nil, err
	}
	return c.ws.converse(ctx, spec)
}

func (w *Workspace) agentSettings() settings.Agents { return w.values().Loop.Agents }

// notify sends text to the conversation's model, starting a turn if none is running.
func (c *Conversation) notify(text string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.Session == nil {
		return
	}
	if err := c.Session.Submit(ctx, session.Notify{Text: text, Wake: true}); err != nil && c.debug != nil {
		c.debug.Error("a notice was lost", "err", err)
	}
}
