package commands

import (
	"context"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/skill/library"
	"adze/internal/mcp"
	"adze/internal/mcp/editor"
	"adze/internal/platform/fs/scope"
)

// Extensions are the user's additions to the program. Each may be nil or empty.
type Extensions struct {
	// Skills returns the skills, and ReloadSkills reloads them.
	Skills       func(ctx context.Context) *library.Set
	ReloadSkills func(ctx context.Context)
	Hooks        func() Hooks
	Servers      Servers
	Plugins      Plugins
	Agents       Agents
	// Editors returns the user's detected editors.
	Editors func() []editor.Editor
}

// Agents provides the agent definitions and operations on them.
type Agents struct {
	// Set returns the current definitions; it may be nil.
	Set func() *agentdef.Set
	// Working returns the running sub-agents; it may be nil.
	Working func() []RunningAgent
	// Create creates an agent file for the user or the project, and returns its path.
	Create func(ctx context.Context, to scope.Scope, d *agentdef.Definition) (path string, err error)
	// File returns an agent's file for editing. Remove deletes it.
	File   func(name string) (path string, err error)
	Remove func(name string) (path string, err error)
	// Write returns the prompt that makes the model write an agent file.
	Write func(to scope.Scope, name, purpose string) (prompt string, err error)
}

// Servers provides the MCP servers.
type Servers struct {
	// All returns the servers; it may be nil or return nil.
	All func() *mcp.Servers
	// Await waits until servers have connected, for use without an interactive user; it may be
	// nil.
	Await func(ctx context.Context)
	// Problems returns configuration problems; it may be nil.
	Problems func() []string
	// Approve approves a project server, Enable enables or disables one, and SignIn returns the
	// address where the user signs in to one. Each may be nil.
	Approve func(ctx context.Context, name string) error
	Enable  func(ctx context.Context, name string, on bool) error
	SignIn  func(ctx context.Context, name string) (address string, err error)
}

// Plugins provides the workspace's plugins and operations on them. Plugin names are NAME, if
// unique, or NAME@MARKETPLACE.
type Plugins interface {
	// List returns the installed and configured plugins, and Problems returns other problems.
	List(context.Context) ([]Plugin, error)
	Problems() []string
	// Details describes a plugin and its contents, in lines.
	Details(ctx context.Context, name string) (Fields, []string, error)
	// Offered returns the plugins of the known marketplaces.
	Offered(context.Context) ([]Plugin, error)
	// Offer describes the effect of installing, enabling or updating a plugin, by the name of
	// the action. If there is nothing to decide, the offer is nil and the text explains why.
	Offer(ctx context.Context, action, name string) (*PluginOffer, string, error)
	// Disable and Uninstall return a message that describes the change.
	Disable(ctx context.Context, name string) (string, error)
	Uninstall(ctx context.Context, name string) (string, error)
	// Markets returns the known marketplaces; the other methods change them, and return a
	// message that describes the change.
	Markets(context.Context) ([]Marketplace, error)
	AddMarket(ctx context.Context, source string) (string, error)
	UpdateMarket(ctx context.Context, name string) (string, error)
	RemoveMarket(ctx context.Context, name string) (string, error)
	// Reload reloads the plugins, and returns a message that describes the plugins in use.
	Reload(context.Context) (string, error)
}

// A Plugin is a plugin as it is listed.
type Plugin struct {
	Name, Version, Description string
	// State is its state, and Why the reason it is not used, with advice.
	State, Why string
	// From is the source that enabled it; it may be empty.
	From string
	// Used reports whether it is in use. If so, Path is its folder.
	Used bool
	Path string
}

// A Marketplace is a source of plugins.
type Marketplace struct{ Name, Source, Description, Plugins string }

// A PluginOffer describes the contents of a plugin. Either Accept or Decline must be called,
// once.
type PluginOffer struct {
	Title string
	Lines []string
	// Accept performs the action, and returns a message that describes the change.
	Accept  func(context.Context) (string, error)
	Decline func()
}
