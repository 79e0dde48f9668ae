// Package desk is what every front end offers besides prompts: the commands that a user types as /name, and the
// services that commands and hosts share, such as listing sessions or measuring the context window. It returns
// data. How a page looks, and where it goes, is left to the front ends.
package desk

import (
	"context"
	"time"

	"adze/internal/agent"
	"adze/internal/brief"
	"adze/internal/instruct"
	"adze/internal/memory"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/msg"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/session/store"
)

// A Config is what a desk works with. Session, Dir, Now, Permission and Preamble are required.
type Config struct {
	Session *session.Session
	// Dir is the working directory, Home the state home; without one Home is empty.
	Dir, Home, Version string
	Now                func() time.Time
	// Terminal says that a user is at a terminal, who can go on to another session, or leave.
	Terminal bool

	// Log is the transcript of the session; nil if it is not kept.
	Log        *store.Log
	Catalog    catalog.Table
	Permission Permission
	Files      Files
	Preamble   Preamble
	// Thinking returns how the model thinks with a budget of that many tokens; nil stands for what flags and
	// settings say.
	Thinking func(budget *int) model.Thinking
	Settings func() Settings
	Hooks    func() Hooks
	Memory   *Memory // nil if there is none
	// Instructions are those that are read; nil if none are.
	Instructions Instructions
	// Tasks are those in the background; nil if nothing can run there.
	Tasks *task.Table
	// Execute runs a command that the user typed and returns what it printed; nil if none can be run.
	Execute func(ctx context.Context, command string) (string, error)
	// Short returns how a user would write a path, fit for the screen.
	Short func(path string) string
}

// A Preamble is what requests hold before the conversation.
type Preamble struct {
	// Resolve finds the limits of a model by its name.
	Resolve func(name string) (agent.Model, error)
	// Describe returns tools as they are described to the model.
	Describe func([]msg.ToolSpec) []msg.ToolSpec
	// Blocks returns the system prompt.
	Blocks func(agent.Model, []msg.ToolSpec) []brief.Block
	// First returns what goes before the first message; it may be nil.
	First func() []msg.Part
	// Watch knows the last request.
	Watch *brief.Watch
}

// A Memory is what is kept for later conversations.
type Memory struct {
	Folder memory.Folder
	// Never is why there is no memory in this session; empty if there is.
	Never string
	// Off reports whether the user has switched it off, and Set switches it.
	Off func() bool
	Set func(off bool) error
}

// Instructions are the instruction files of a session.
type Instructions interface {
	// Load reads them, unless that was done before.
	Load(context.Context)
	// Files returns those in force, and Problems which are not used as they were meant.
	Files() []instruct.File
	Problems() []instruct.Problem
	// Places returns the files that a line can be added to, and Add adds one.
	Places() []instruct.Place
	Add(ctx context.Context, path, line string) error
}

// A Desk offers commands and services for one session.
type Desk struct {
	Config
	commands []Command
	opened   time.Time
}

// New returns the desk of a session.
func New(cfg Config) *Desk {
	if cfg.Short == nil {
		cfg.Short = func(path string) string { return path }
	}
	d := &Desk{Config: cfg, commands: commands()}
	if cfg.Now != nil {
		d.opened = cfg.Now()
	}
	return d
}
