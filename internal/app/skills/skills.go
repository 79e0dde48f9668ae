// Package skills knows the skills of a conversation: what the model is told of them, and how they run, as commands that
// the user types and for the model by a tool. It fills in their prompts, asks whether they get what they want, and takes
// back at the end of a turn what they were given. Where skills are found is left to the library, and what a call may do
// to the permission rules.
package skills

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/agent/compact"
	"adze/internal/desk"
	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/paths"
	"adze/internal/platform/texts"
	"adze/internal/platform/trust"
	"adze/internal/session"
	"adze/internal/skill"
	"adze/internal/skill/library"
	"adze/internal/tool"
	skilltool "adze/internal/tools/skill"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// A Config is what the skills of a conversation work with. Library, Gate, Session, Language and Say are required.
type Config struct {
	Library Library
	// Servers returns the skills that MCP servers offer; it may be nil.
	Servers func() []*skill.Skill
	// Off says that the model does not call skills.
	Off bool

	Gate *permission.Gate
	// Session returns the session.
	Session func() *session.Session
	// SetHooks replaces the hooks that skills bring for a turn; it may be nil.
	SetHooks func([]hook.Source) []hook.Problem
	// Trusted reports whether the workspace is trusted. Approved reports whether the user has approved a hook of the
	// project, and Approve records it.
	Trusted  func() bool
	Approved func(trust.Item) bool
	Approve  func(context.Context, trust.Item) error
	// Markets returns the marketplaces whose skills need no question, and NoShell reports whether no commands are run.
	Markets func() []string
	NoShell func() bool

	// Vars returns what variables in prompts stand for, but for the folder of the skill.
	Vars   func(s *skill.Skill) skill.Vars
	Models Models
	// Base returns what the paths of calls are relative to.
	Base func() paths.Base
	// Fork runs a skill in a conversation of its own and returns what it says in the end; nil means that none can.
	Fork func(context.Context, Fork) (string, error)
	// Used is told which skills are called; it may be nil.
	Used func(name string)

	// Note keeps something with the session, and Last is what was kept, by kind; both may be nil.
	Note     func(kind string, fields map[string]any)
	Last     map[string]json.RawMessage
	Language func() texts.Language
	Say      func(string)
}

// A Library finds skills; see [library.Library].
type Library interface {
	Early(context.Context) *library.Set
	Set(context.Context) *library.Set
	Find(ctx context.Context, name string) *skill.Skill
	Refresh(context.Context) *library.Set
	Touched(path string)
}

// Models are the models that skills may ask for.
type Models struct {
	// Lookup finds a model by its name, and Elsewhere reports whether it may exist though it is not in the table, because
	// another server than its vendor's is asked.
	Lookup    func(name string) (catalog.Model, error)
	Elsewhere func(id string) bool
}

// A Fork is a skill that runs in a conversation of its own.
type Fork struct {
	Skill *skill.Skill
	// Prompt is the expanded prompt, and Rules are what its calls may do unasked.
	Prompt string
	Rules  []rule.Rule
	// Model and Effort are empty where the conversation's are used.
	Model  string
	Effort model.Effort
	Report func(tool.Progress)
}

// Skills are what a conversation knows of skills. Nil has none. It is safe for concurrent use.
type Skills struct {
	cfg        Config
	tool       skilltool.Config
	grants     grants
	history    history
	activation activation
	menu       menu
	start      *Start // may be nil
}

// New returns the skills of a conversation.
func New(c Config) *Skills {
	s := &Skills{cfg: c}
	s.grants.cfg, s.history.cfg, s.activation.cfg = &s.cfg, &s.cfg, &s.cfg
	s.menu = menu{cfg: &s.cfg, activation: &s.activation, command: s.command, at: -1}
	s.tool = skilltool.Config{
		Find:    func(name string) *skill.Skill { return s.menu.find(context.Background(), name) },
		Names:   func() []string { return namesOf(s.menu.listed()) },
		Running: s.grants.running, Wish: s.cfg.wish, Run: s.called, Enabled: s.enabled,
	}
	s.history.restore()
	s.activation.restore()
	return s
}

// Begin lets the skills begin with a start, which may be nil. It is called before anything else.
func (s *Skills) Begin(with *Start) { s.start = with }

// Start returns what they begin with, or nil.
func (s *Skills) Start() *Start {
	if s == nil {
		return nil
	}
	return s.start
}

// Tool returns the tool with which the model calls skills.
func (s *Skills) Tool() tool.Tool {
	if s == nil {
		return skilltool.New(skilltool.Config{Enabled: func() error { return errNone }})
	}
	return skilltool.New(s.tool)
}

// ofServers returns the skills of servers.
func (c *Config) ofServers() []*skill.Skill {
	if c.Servers == nil {
		return nil
	}
	return c.Servers()
}

// Settle waits until all files of skills were looked at once: before, what is known of them may be as it was in an earlier
// session.
func (s *Skills) Settle() {
	if s != nil {
		s.cfg.Library.Set(context.Background())
		s.start.End()
	}
}

// Listed returns the skills that the model can call, as they are known, by name: the same slice until something changes.
func (s *Skills) Listed() []*skill.Skill {
	if s == nil {
		return nil
	}
	return s.menu.listed()
}

// Offer offers the skills to the user as commands.
func (s *Skills) Offer(to *desk.Surroundings) {
	if s == nil {
		return
	}
	others := to.Commands
	to.Commands = func(wait bool) []desk.Command {
		all := s.menu.commands(wait)
		if others != nil {
			all = slices.Concat(all, others(wait))
		}
		return all
	}
}

// command returns a skill as a command.
func (s *Skills) command(k *skill.Skill) desk.Command {
	return desk.Command{
		Name: k.Name, Kind: desk.Ask, Args: k.Hint, Doc: k.Description, Origin: k.Origin.String(),
		Run: func(_ context.Context, _ *desk.Desk, arg string) (desk.Answer, error) {
			return desk.Prompt{
				Text: strings.TrimSpace("/" + k.Name + " " + arg),
				Make: func(ctx context.Context) (session.Prompt, error) { return s.typed(ctx, k.Name, arg) },
			}, nil
		},
	}
}

// Names returns the names of the skills that the user or the model can call.
func (s *Skills) Names() []string {
	if s == nil {
		return nil
	}
	return namesOf(s.menu.all(context.Background()))
}

// Set returns the skills of the library.
func (s *Skills) Set(ctx context.Context) *library.Set {
	if s == nil {
		return &library.Set{}
	}
	return s.cfg.Library.Set(ctx)
}

// EndTurn takes back what skills were given.
func (s *Skills) EndTurn() {
	if s != nil {
		s.grants.endTurn()
	}
}

// Restoring returns sources with the skills that were called, to be put back when the conversation is compacted, and what
// is called when something took the place of the conversation: if nothing was put back, it starts over.
func (s *Skills) Restoring(sources func(context.Context) compact.Sources) (with func(context.Context) compact.Sources, replaced func()) {
	if s == nil {
		return sources, func() {}
	}
	asked := false // both are called from one goroutine
	return func(ctx context.Context) compact.Sources {
			asked = true
			all := sources(ctx)
			all.Skills = s.history.sources()
			return all
		}, func() {
			if !asked {
				s.history.forget()
			}
			asked = false
		}
}

// Reload looks for skills again.
func (s *Skills) Reload(ctx context.Context) {
	if s != nil {
		s.cfg.Library.Refresh(ctx)
	}
}
