// Package agents launches sub-agents, runs them in the foreground or background, reports
// their outcome and continues them.
package agents

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"

	"adze/internal/domain/agentdef"
	"adze/internal/feature/agents/builtin"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/permission/judge"
	"adze/internal/platform/git/worktree"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/settings"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// maxDepth is the maximum nesting depth of agents.
const maxDepth = 3

// Definitions finds agent types: All returns every type, and Early the ones known without
// scanning all files.
type Definitions struct{ All, Early func() *agentdef.Set }

// Config configures a conversation's agents.
type Config struct {
	// Session returns the parent session.
	Session func() *session.Session
	// Tasks is the task table; nil if background tasks are off.
	Tasks *task.Table
	// Definitions finds the available agent types.
	Definitions Definitions
	Settings    func() settings.Agents
	// Denied returns the rule that denies agents of a type, or "".
	Denied func(kind string) string
	// Self is the definition of the conversation's agent; nil for the main one. Depth is its
	// nesting depth, 0 for the main conversation.
	Self  *agentdef.Definition
	Depth int
	// Fork is true if the conversation is a fork, and Coordinator if the model only directs
	// workers.
	Fork, Coordinator bool
	// Limiter limits how many agents of the whole session run concurrently.
	Limiter *Limiter
	// Summaries describes the activity of the session's agents; may be nil.
	Summaries *Summaries
	// Judged is called when the verification agent has reported.
	Judged func()
	// HandOff returns a function that reviews a background agent's work before its report is
	// delivered, or nil if reviews are off.
	HandOff func() func(context.Context, judge.Handoff) (permission.Judgement, error)

	// Holds returns an error if a directory is outside the working directories.
	Holds func(dir string) error
	// Open opens an agent's conversation.
	Open func(ctx context.Context, b Spec) (*Worker, error)
	// Spawn starts a teammate.
	Spawn   func(ctx context.Context, in agenttool.Input) (tool.Result, error)
	Servers Servers
	// Tree creates a worktree.
	Tree func(ctx context.Context, name string) (*worktree.Tree, error)
	// Folder returns the session directory; "" stores nothing.
	Folder   func() string
	Language func() texts.Language
	Say      func(string)
}

// Servers checks an agent's required MCP servers, other than its own.
type Servers struct {
	// Ready waits for an agent's required servers.
	Ready func(ctx context.Context, d *agentdef.Definition) error
	// Lacking reports whether required servers are unavailable and not pending.
	Lacking func(d *agentdef.Definition) bool
}

// A Spec holds an agent's launch parameters.
type Spec struct {
	ID, Title string
	// Definition is nil for a fork.
	Definition *agentdef.Definition
	Model      string
	Effort     model.Effort
	Mode       permission.Mode
	// Dir is its working directory; empty means the lead's. Tree is its own worktree, or nil.
	Dir  string
	Tree *worktree.Tree
	// Left is the repository copy that an agent with its own worktree must not work in.
	Left string
	// Asks reports whether its prompts can be answered.
	Asks func() bool
	// Background is true if it starts in the background.
	Background bool
	// Use is the tool call that a fork starts with, or whose answer it continues from.
	Use string
	// Resumed is true if it has run before.
	Resumed bool
	// Schema is the JSON schema of its answer; nil means any text.
	Schema []byte
	// OnSaveError is called with the reason if its conversation cannot be stored.
	OnSaveError func(error)
	// MaxTurns limits the agent's requests; 0 means no limit.
	MaxTurns int
	// MemoryTask is set for an agent that maintains memories; otherwise nil.
	MemoryTask *MemoryTask
	// ForHook is true for an agent that runs for a hook. No hooks run in its conversation, no
	// limit delays it, and only the hook sees it.
	ForHook bool
}

// A Worker is an agent's conversation.
type Worker struct {
	Session *session.Session
	// Transcript is the path of its transcript, or "".
	Transcript string
	// Tokens and Cost return its usage, and Absent the unavailable MCP servers of its
	// definition. Cost may be nil.
	Tokens func() int
	Cost   func() float64
	Absent func() []string
	// Running describes its background commands, which end with it.
	Running func() []string
	Close   func()
}

// Agents manages a conversation's agents. Nil has none. It is safe for concurrent use.
type Agents struct {
	cfg Config

	kinds   kinds
	records records

	publisher *publisher

	mu      sync.Mutex
	runs    map[string]*run // keyed by ID
	blocked int             // calls waiting for agents
}

// New returns a conversation's agents, initially none.
func New(c Config) *Agents {
	a := &Agents{cfg: c, records: records{folder: c.Folder, say: c.Say}, publisher: newPublisher(c.Session), runs: map[string]*run{}}
	a.kinds.cfg = &a.cfg
	return a
}

// Tool returns the tool that launches agents.
func (a *Agents) Tool() tool.Tool {
	c := agenttool.Config{Enabled: a.enabled, Holds: a.holds}
	if a != nil {
		c.Types, c.Usual, c.Run = a.kinds.types(), a.kinds.usual(), a.called
	}
	return agenttool.New(c)
}

// enabled returns an error if no agents can be launched.
func (a *Agents) enabled() error {
	if a == nil {
		return errors.New("no agents in this session")
	}
	return nil
}

// errInFork rejects launches by a fork.
var errInFork = errors.New("a fork cannot launch agents: do the work directly, with the other tools")

// called launches an agent for a model's tool call.
func (a *Agents) called(ctx context.Context, in agenttool.Input, report func(tool.Progress)) (tool.Result, error) {
	r := Request{Input: in, Use: tool.UseOf(ctx)}
	if in.Team != "" || in.Name != "" {
		return a.spawn(ctx, in)
	}
	out, err := a.Launch(ctx, r, report)
	if err != nil && ctx.Err() == nil && out != nil {
		return tool.Result{}, out.failed(a.cfg.Language(), err)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return out.result(a.cfg.Language()), nil
}

func (a *Agents) spawn(ctx context.Context, in agenttool.Input) (tool.Result, error) {
	d, err := a.Definition(in.Type)
	if err != nil {
		return tool.Result{}, err
	}
	in.Type = d.Name
	return a.cfg.Spawn(ctx, in)
}

// Definition returns the named agent type, or the general one, if it can be launched here.
func (a *Agents) Definition(kind string) (*agentdef.Definition, error) {
	return a.kinds.get(cmp.Or(kind, builtin.General))
}

// settle completes a request with its definition, model and directory.
func (a *Agents) settle(r *Request) error {
	if r.Spec.ForHook {
		return r.complete(a.holds)
	}
	if a.isFork() {
		return errInFork
	}
	if a.cfg.Depth >= maxDepth {
		return fmt.Errorf("agents are launched %d deep at most: do the work yourself", maxDepth)
	}
	if kind := cmp.Or(r.Type, a.kinds.usual()); r.Definition == nil && r.Spec.MemoryTask == nil && kind != "" {
		var err error
		if r.Definition, err = a.kinds.get(kind); err != nil {
			return err
		}
	}
	return r.complete(a.holds)
}

// holds returns an error if no agent can work in a directory.
func (a *Agents) holds(dir string) error {
	if err := checkDir(dir); err != nil {
		return err
	}
	return a.cfg.Holds(dir)
}

// isFork reports whether the conversation is a fork, by its configuration or its first message.
func (a *Agents) isFork() bool {
	if a.cfg.Fork {
		return true
	}
	return slices.ContainsFunc(a.cfg.Session().Conversation(), func(e msg.Entry) bool {
		return e.Message.Role == msg.User && builtin.IsFork(msg.PlainText(e.Message.Parts))
	})
}
