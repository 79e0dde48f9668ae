// Package commands implements the /name commands and the services that commands and hosts share,
// such as listing sessions or measuring the context window. It returns data for the front ends
// to show.
package commands

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/agent"
	"adze/internal/domain/instruct"
	"adze/internal/domain/memdir"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/proc/task"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// Config configures a Registry. Session, Dir, Now, Permission and Preamble are required.
type Config struct {
	Session *session.Session
	// Dir is the working directory, and Home the state directory, which may be empty.
	Dir, Home, Version string
	// Dirs are the directories of adze's own files, of which Home is one.
	Dirs fsys.Dirs
	Now  func() time.Time
	// Terminal reports whether the user is at a terminal, and can change to another session or
	// exit.
	Terminal bool

	// Log is the transcript of the session; it may be nil.
	Log        *store.Log
	Models     Models
	Permission Permission
	Files      Files
	Preamble   Preamble
	Env        Env
	Extensions Extensions
	Memory     *Memory // may be nil
	// Instructions are the instruction files; nil if none are read.
	Instructions Instructions
	// Tasks are the background tasks; nil if they are disabled.
	Tasks *task.Table
	// Execute runs a shell command typed by the user and returns its output, calling report
	// with partial output; nil disables shell commands.
	Execute func(ctx context.Context, command string, report func(tool.Display)) (ShellResult, error)
}

// Models describes the available models.
type Models struct {
	// Here returns models outside the catalog, such as models of local servers. It may be nil.
	Here    func(ctx context.Context) []catalog.Model
	Catalog catalog.Table
	// Thinking returns the thinking options for a budget in tokens; nil means the flags and
	// settings apply.
	Thinking func(budget *int) model.Thinking
	// Limits returns the known rate limits of the model's provider; it may be nil.
	Limits func() []model.Limit
}

// A Preamble provides the part of a request before the conversation.
type Preamble struct {
	// Resolve finds a model's limits by its name.
	Resolve func(name string) (agent.Model, error)
	// Describe returns tools as they are described to the model.
	Describe func([]msg.ToolSpec) []msg.ToolSpec
	// Blocks returns the system prompt.
	Blocks func(agent.Model, []msg.ToolSpec) []prompt.Block
	// First returns the content at the start of the first message; it may be nil.
	First func() []msg.Part
	// Watch holds the last request.
	Watch *prompt.Watch
}

// A Memory is the store of memories for later conversations.
type Memory struct {
	Folder memdir.Folder
	// Never is the reason why this session has no memory; empty if it has.
	Never string
	// Off reports whether the user has switched it off, and Set switches it.
	Off func() bool
	Set func(off bool) error
	// Dream starts an agent that consolidates the memories, and returns a message for the user.
	Dream func(ctx context.Context) (string, error)
}

// Instructions are the instruction files of a session.
type Instructions interface {
	// Load reads the files, unless it has already done so.
	Load(context.Context)
	// Files returns the files in use, and Problems the problems found in them.
	Files() []instruct.File
	Problems() []instruct.Problem
	// Places returns the files that a line can be added to, and Add adds one.
	Places() []instruct.Place
	Add(ctx context.Context, path, line string) error
}

// A Registry looks up and runs the commands of one session, and has the services they use.
type Registry struct {
	Config
	sections []Section
	opened   time.Time
	undo     undo
	offered  atomic.Pointer[[]string] // commands last offered by completion
	measured sync.Map                 // tokens before the conversation, by model
}

// New returns the command registry of a session.
func New(cfg Config) *Registry {
	if cfg.Files.Short == nil {
		cfg.Files.Short = func(path string) string { return path }
	}
	r := &Registry{Config: cfg, sections: merge(sections(), cfg.Env.Sections)}
	if cfg.Now != nil {
		r.opened = cfg.Now()
	}
	return r
}
