// Package subagents runs agents beside a conversation: it settles what one is launched with, waits for it or lets it go on
// in the background, tells how it ended, and continues it when it is spoken to again. How a conversation is made is left
// to its caller, and what an agent may do to the permission rules.
package subagents

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"

	"adze/internal/agentdef"
	"adze/internal/agentdef/builtin"
	"adze/internal/app/settings"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/permission/judge"
	"adze/internal/platform/task"
	"adze/internal/platform/texts"
	"adze/internal/platform/worktree"
	"adze/internal/session"
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

// maxDepth is how deep agents may launch agents.
const maxDepth = 3

// Definitions find kinds of agents: All those that there are, and Early those that are known without a look at all files.
type Definitions struct{ All, Early func() *agentdef.Set }

// A Config is what the agents of a conversation are run with.
type Config struct {
	// Session returns the session that they work for.
	Session func() *session.Session
	// Tasks lists them; nil if nothing runs in the background.
	Tasks *task.Table
	// Definitions are the kinds of agents there are.
	Definitions Definitions
	Settings    func() settings.Agents
	// Denied returns the rule that denies agents of a type, or "".
	Denied func(kind string) string
	// Self is the definition of the agent whose conversation it is; nil for the main one. Depth is 0 for that.
	Self  *agentdef.Definition
	Depth int
	// Fork says that the conversation is that of a fork, and Coordinator that the model only directs workers.
	Fork, Coordinator bool
	// Crowd limits how many agents of the whole session work at once.
	Crowd *Crowd
	// Summaries say what the agents of the whole session are doing; nil if nothing does.
	Summaries *Summaries
	// Judged is told when the verification agent has reported.
	Judged func()
	// HandOff checks what an agent in the background did before its report is handed over; nil if that is not wanted now.
	HandOff func() func(context.Context, judge.Handoff) (permission.Judgement, error)

	// Holds returns why a directory is outside the working directories, or nil.
	Holds func(dir string) error
	// Open opens the conversation of an agent.
	Open func(ctx context.Context, b Birth) (*Worker, error)
	// Spawn starts a teammate.
	Spawn   func(ctx context.Context, in agenttool.Input) (tool.Result, error)
	Servers Servers
	// Tree makes a working copy.
	Tree func(ctx context.Context, name string) (*worktree.Tree, error)
	// Folder returns where what belongs to the session is kept; "" keeps nothing.
	Folder   func() string
	Language func() texts.Language
	Say      func(string)
}

// Servers are the MCP servers that agents cannot do without, but for those that they bring.
type Servers struct {
	// Ready waits for those of an agent.
	Ready func(ctx context.Context, d *agentdef.Definition) error
	// Lacking reports whether some are not there, and will not come.
	Lacking func(d *agentdef.Definition) bool
}

// A Birth is what an agent begins with.
type Birth struct {
	ID, Title string
	// Definition is nil for a fork.
	Definition *agentdef.Definition
	Model      string
	Effort     model.Effort
	Mode       permission.Mode
	// Dir is where it works; empty means where its lead works. Tree says that it is a working copy of its own.
	Dir  string
	Tree *worktree.Tree
	// Left is the copy of the repository that it does not work in, if it has one of its own.
	Left string
	// Asks reports whether its questions can be answered.
	Asks func() bool
	// Background says that it is in the background from the start.
	Background bool
	// Use is the call that a fork begins with, or whose answer it goes on from.
	Use string
	// Again says that it has worked before.
	Again bool
	// Schema is what its answer must fit; nil means any text.
	Schema []byte
	// Unkept is told why what it does is not kept.
	Unkept func(error)
	// Limits bound it.
	MaxTurns int
	// Keeper is set for an agent that looks after memories; nil for others.
	Keeper *Keeper
	// Check says that the agent finds out something for a hook. No hooks run in its conversation, no limit of agents keeps it
	// from running, and no one hears of it but the hook.
	Check bool
}

// A Worker is the conversation of an agent.
type Worker struct {
	Session *session.Session
	// Transcript is where it is kept, or "".
	Transcript string
	// Tokens returns how many tokens it took, Cost what they cost, and Absent the MCP servers of its definition that it had to
	// do without. Cost may be nil.
	Tokens func() int
	Cost   func() float64
	Absent func() []string
	// Running returns what its commands in the background are; they end with it.
	Running func() []string
	Close   func()
}

// Agents are the agents of a conversation. Nil has none. It is safe for concurrent use.
type Agents struct {
	cfg Config

	kinds   kinds
	records records

	bulletin *bulletin

	mu      sync.Mutex
	runs    map[string]*run // by id
	blocked int             // calls that wait for agents
}

// New returns the agents of a conversation: none yet.
func New(c Config) *Agents {
	a := &Agents{cfg: c, records: records{folder: c.Folder, say: c.Say}, bulletin: newBulletin(c.Session), runs: map[string]*run{}}
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

// enabled returns why no agents can be launched, or nil.
func (a *Agents) enabled() error {
	if a == nil {
		return errors.New("there are no agents in this session")
	}
	return nil
}

// errInFork refuses the call of a fork.
var errInFork = errors.New("a fork cannot launch agents: do the work directly, with the other tools")

// called launches an agent that the model asked for.
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

// spawn starts a teammate.
func (a *Agents) spawn(ctx context.Context, in agenttool.Input) (tool.Result, error) {
	d, err := a.Definition(in.Type)
	if err != nil {
		return tool.Result{}, err
	}
	in.Type = d.Name
	return a.cfg.Spawn(ctx, in)
}

// Definition returns the kind of agent with a name, or the general one, if it may be launched here.
func (a *Agents) Definition(kind string) (*agentdef.Definition, error) {
	return a.kinds.get(cmp.Or(kind, builtin.General))
}

// settle completes a request: which definition, model and directory it stands for.
func (a *Agents) settle(r *Request) error {
	if r.Birth.Check {
		return r.complete(a.holds)
	}
	if a.isFork() {
		return errInFork
	}
	if a.cfg.Depth >= maxDepth {
		return fmt.Errorf("agents are launched %d deep at most: do the work yourself", maxDepth)
	}
	if kind := cmp.Or(r.Type, a.kinds.usual()); r.Definition == nil && r.Birth.Keeper == nil && kind != "" {
		var err error
		if r.Definition, err = a.kinds.get(kind); err != nil {
			return err
		}
	}
	return r.complete(a.holds)
}

// holds returns why no agent can work in a directory, or nil.
func (a *Agents) holds(dir string) error {
	if err := checkDir(dir); err != nil {
		return err
	}
	return a.cfg.Holds(dir)
}

// isFork reports whether the conversation is that of a fork: it was made so, or begins like one.
func (a *Agents) isFork() bool {
	if a.cfg.Fork {
		return true
	}
	return slices.ContainsFunc(a.cfg.Session().Conversation(), func(e msg.Entry) bool {
		return e.Message.Role == msg.User && builtin.IsFork(msg.PlainText(e.Message.Parts))
	})
}
