package desk

import (
	"context"

	"adze/internal/agentdef"
	"adze/internal/mcp"
	"adze/internal/mcp/editor"
	"adze/internal/platform/scope"
	"adze/internal/skill/library"
)

// Extensions are what the user has added to the program. Each may be nil or empty.
type Extensions struct {
	// Skills returns the skills that were found, and ReloadSkills looks for them again.
	Skills       func(ctx context.Context) *library.Set
	ReloadSkills func(ctx context.Context)
	Hooks        func() Hooks
	Servers      Servers
	Plugins      Plugins
	Agents       Agents
	// Editors returns the user's editors that can be seen.
	Editors func() []editor.Editor
}

// Agents are the definitions of agents, and what the user can do with them.
type Agents struct {
	// Set returns them as they are now; it may be nil.
	Set func() *agentdef.Set
	// Working returns the sub-agents at work; it may be nil.
	Working func() []AtWork
	// Create makes the file of an agent, for the user or the project, and returns its path.
	Create func(ctx context.Context, to scope.Scope, d *agentdef.Definition) (path string, err error)
	// File returns the file of an agent, for it to be edited. Remove removes it.
	File   func(name string) (path string, err error)
	Remove func(name string) (path string, err error)
	// Write returns the prompt with which the model writes the file of an agent.
	Write func(to scope.Scope, name, purpose string) (prompt string, err error)
}

// Servers are the MCP servers.
type Servers struct {
	// All returns them; it may be nil, and return nil if there are none.
	All func() *mcp.Servers
	// Await waits until servers have connected, where there is no user who sees them do so; it may be nil.
	Await func(ctx context.Context)
	// Problems returns what is wrong with their configuration; it may be nil.
	Problems func() []string
	// Approve lets a server of the project be started, Enable changes whether one is, and SignIn returns the address
	// where the user signs in to one. Each may be nil.
	Approve func(ctx context.Context, name string) error
	Enable  func(ctx context.Context, name string, on bool) error
	SignIn  func(ctx context.Context, name string) (address string, err error)
}

// Plugins are the plugins of the workspace, and what the user can do with them. Names of plugins are NAME, where it is the
// only one of that name, or NAME@MARKETPLACE.
type Plugins interface {
	// List returns those that are installed or wanted, and Problems what is wrong beside them.
	List(context.Context) ([]Plugin, error)
	Problems() []string
	// Details returns what is known of one, and what it brings, in lines.
	Details(ctx context.Context, name string) (Fields, []string, error)
	// Offered returns the plugins of the known marketplaces.
	Offered(context.Context) ([]Plugin, error)
	// Offer returns what installing, enabling or updating a plugin would bring, by the name of the action. It is nil if there
	// is nothing to decide; then the text says why.
	Offer(ctx context.Context, action, name string) (*PluginOffer, string, error)
	// Disable and Uninstall return what was done.
	Disable(ctx context.Context, name string) (string, error)
	Uninstall(ctx context.Context, name string) (string, error)
	// Markets returns the marketplaces that are known; the others change them, and return what was done.
	Markets(context.Context) ([]Marketplace, error)
	AddMarket(ctx context.Context, source string) (string, error)
	UpdateMarket(ctx context.Context, name string) (string, error)
	RemoveMarket(ctx context.Context, name string) (string, error)
	// Reload looks at the plugins again, and returns what is in use now.
	Reload(context.Context) (string, error)
}

// A Plugin is a plugin as it is listed.
type Plugin struct {
	Name, Version, Description string
	// State says whether it is used, and Why why not, with what to do.
	State, Why string
	// From is what enabled it; it may be empty.
	From string
	// Used says that it is in use, and Path is then its folder.
	Used bool
	Path string
}

// A Marketplace is where plugins come from.
type Marketplace struct{ Name, Source, Description, Plugins string }

// A PluginOffer is what a plugin would bring. One of its functions is called, once.
type PluginOffer struct {
	Title string
	Lines []string
	// Accept does what was asked for, and returns what was done.
	Accept  func(context.Context) (string, error)
	Decline func()
}
