// Package skills announces skills to the model and runs them, as user commands and through a
// tool. It expands prompts, asks for consent, and revokes a skill's permissions at the end of
// the turn.
package skills

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/commands"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
	"adze/internal/feature"
	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/trust"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
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

// Config configures a conversation's skills. Library, Gate, Session, Language and Say are
// required.
type Config struct {
	Library Library
	// Servers returns the skills offered by MCP servers; may be nil.
	Servers func() []*skill.Skill
	// Off prevents the model from calling skills.
	Off bool

	Gate *permission.Gate
	// Session returns the session.
	Session func() *session.Session
	// SetHooks replaces the hooks that skills add for a turn; may be nil.
	SetHooks func([]hook.Source) []hook.Problem
	// Trusted reports whether the workspace is trusted. Approved reports whether the user has
	// approved a project hook, and Approve records it.
	Trusted  func() bool
	Approved func(trust.Item) bool
	Approve  func(context.Context, trust.Item) error
	// Markets returns the marketplaces whose skills need no prompt, and NoShell reports whether
	// commands are disabled.
	Markets func() []string
	NoShell func() bool

	// Vars returns the values of prompt variables other than the skill's directory.
	Vars   func(s *skill.Skill) skill.Vars
	Models Models
	// Base returns the base for relative paths in calls.
	Base func() paths.Base
	// Fork runs a skill in its own conversation and returns the final answer; nil disables
	// forks.
	Fork func(context.Context, Fork) (string, error)
	// Used, if non-nil, is called with the name of each skill called.
	Used func(name string)

	// Note saves a note with the session, and Last holds the latest notes by kind; both may be
	// nil.
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

// Models resolves the models that skills request.
type Models struct {
	// Lookup finds a model by name. Elsewhere reports whether a model missing from the catalog
	// may still exist, because the endpoint is not its vendor's.
	Lookup    func(name string) (catalog.Model, error)
	Elsewhere func(id string) bool
}

// A Fork is a skill to run in its own conversation.
type Fork struct {
	Skill *skill.Skill
	// Prompt is the expanded prompt, and Rules allow calls without prompting.
	Prompt string
	Rules  []rule.Rule
	// Model and Effort are empty to use the conversation's.
	Model  string
	Effort model.Effort
	Report func(tool.Progress)
}

// Skills manages a conversation's skills. Nil has none. It is safe for concurrent use.
type Skills struct {
	cfg        Config
	tool       skilltool.Config
	grants     grants
	history    history
	activation activation
	menu       menu
	start      *Start // may be nil
	restored   bool   // skills were restored since the last compaction
}

// New returns a conversation's skills.
func New(c Config) *Skills {
	s := &Skills{cfg: c}
	s.grants.cfg, s.history.cfg, s.activation.cfg = &s.cfg, &s.cfg, &s.cfg
	s.menu = menu{cfg: &s.cfg, activation: &s.activation, command: s.command, at: -1}
	s.tool = skilltool.Config{
		Find:    func(name string) *skill.Skill { return s.menu.find(context.Background(), name) },
		Names:   func() []string { return namesOf(s.menu.listed()) },
		Running: s.grants.running, Permissions: s.cfg.wish, Run: s.called, Enabled: s.enabled,
	}
	s.history.restore()
	s.activation.restore()
	return s
}

// Begin sets the cached listing to start with, which may be nil. It must be called first.
func (s *Skills) Begin(with *Start) { s.start = with }

// Start returns the cached listing, or nil.
func (s *Skills) Start() *Start {
	if s == nil {
		return nil
	}
	return s.start
}

// Tool returns the tool that lets the model call skills.
func (s *Skills) Tool() tool.Tool {
	if s == nil {
		return skilltool.New(skilltool.Config{Enabled: func() error { return errNone }})
	}
	return skilltool.New(s.tool)
}

// ofServers returns the servers' skills.
func (c *Config) ofServers() []*skill.Skill {
	if c.Servers == nil {
		return nil
	}
	return c.Servers()
}

// Settle waits until all skill files have been read once. Before that, the known skills may be
// an earlier session's.
func (s *Skills) Settle() {
	if s != nil {
		s.cfg.Library.Set(context.Background())
		s.start.End()
	}
}

// Listed returns the known skills the model can call, sorted by name. It returns the same slice
// until something changes.
func (s *Skills) Listed() []*skill.Skill {
	if s == nil {
		return nil
	}
	return s.menu.listed()
}

// offer makes the skills available to the user as commands.
func (s *Skills) offer(to *commands.Env) {
	others := to.Commands
	to.Commands = func(wait bool) []commands.Command {
		all := s.menu.commands(wait)
		if others != nil {
			all = slices.Concat(all, others(wait))
		}
		return all
	}
}

// command converts a skill to a command.
func (s *Skills) command(k *skill.Skill) commands.Command {
	return commands.Command{
		Name: k.Name, Kind: commands.Ask, Args: k.Hint, Doc: k.Description, Origin: k.Origin.String(),
		Run: func(_ context.Context, _ *commands.Registry, arg string) (commands.Answer, error) {
			return commands.Prompt{
				Text: strings.TrimSpace("/" + k.Name + " " + arg),
				Make: func(ctx context.Context) (session.Prompt, error) { return s.typed(ctx, k.Name, arg) },
			}, nil
		},
	}
}

// Names returns the names of the skills the user or the model can call.
func (s *Skills) Names() []string {
	if s == nil {
		return nil
	}
	return namesOf(s.menu.all(context.Background()))
}

// Set returns the library's skills.
func (s *Skills) Set(ctx context.Context) *library.Set {
	if s == nil {
		return &library.Set{}
	}
	return s.cfg.Library.Set(ctx)
}

// Part returns the contribution of the skills and their listing to a conversation. Both may be
// nil.
func (s *Skills) Part(l *Listing) feature.Part {
	p := feature.Part{Name: "skills"}
	if l != nil {
		p.PromptHook = l.PromptHook
	}
	if s != nil {
		p.After, p.Offer = s, s.offer
		p.Ended = func(context.Context, agent.Ended) { s.grants.endTurn() }
		p.Restore, p.Compacted = s.restore, s.compacted
	}
	return p
}

// restore restores called skills after a compaction.
func (s *Skills) restore(_ context.Context, to *compact.Sources) {
	s.restored = true
	to.Skills = s.history.sources()
}

// compacted forgets the called skills if none were restored: the conversation starts over.
func (s *Skills) compacted() {
	if !s.restored {
		s.history.forget()
	}
	s.restored = false
}

// Reload rescans for skills.
func (s *Skills) Reload(ctx context.Context) {
	if s != nil {
		s.cfg.Library.Refresh(ctx)
	}
}
