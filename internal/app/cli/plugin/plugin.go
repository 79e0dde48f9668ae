// Package plugin implements adze plugin: it installs, updates, removes and shows plugins,
// and manages their marketplaces.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/app/cli/actions"
	"adze/internal/app/cli/flags"
	"adze/internal/feature/plugins"
	"adze/internal/platform/fs/scope"
	"adze/internal/setup"
	"adze/internal/ui/console"
)

// Actions returns the actions of adze plugin.
func Actions() actions.Table[*Task] {
	return actions.Table[*Task]{
		{Name: "list", Doc: "list the plugins that are installed or that settings name", Run: list},
		{Name: "details", Alias: "show", Args: "NAME", Doc: "show a plugin and its contents", Least: 1, Most: 1, Run: details},
		{Name: "install", Alias: "i", Args: "NAME[@MARKETPLACE]", Doc: "review, install and enable a plugin", Least: 1, Most: 1, Run: install},
		{Name: "enable", Args: "NAME", Doc: "enable a plugin; prompts if it runs code you haven't approved", Least: 1, Most: 1, Run: enable},
		{Name: "disable", Args: "NAME", Doc: "disable a plugin", Least: 1, Most: 1, Run: disable},
		{Name: "update", Args: "[NAME...]", Doc: "update plugins from their marketplaces; prompts if they run new code", Most: actions.Any, Run: update},
		{Name: "uninstall", Alias: "remove", Args: "NAME", Doc: "remove a plugin, its settings and your consent; --data also removes its data", Least: 1, Most: 1, Run: uninstall},
		{Name: "configure", Args: "NAME [OPTION[=VALUE]...]", Doc: "set the options of a plugin, or ask for them", Least: 1, Most: actions.Any, Run: configure},
		{Name: "validate", Args: "[DIR]", Doc: "check the plugin or marketplace in a folder for problems", Most: 1, Run: validate},
		{Name: "marketplace", Alias: "market", Args: "add SOURCE | list | update [NAME] | remove NAME", Doc: "manage the sources of plugins: OWNER/REPOSITORY, an address or a folder", Most: 2, Run: marketplace},
	}
}

// Options are the flags of the actions.
type Options struct {
	Scope           string
	Values          []string // OPTION=VALUE
	JSON, Yes, Data bool
}

// Flags returns the flags.
func (o *Options) Flags() []flags.Flag {
	return []flags.Flag{
		{Name: "scope", Short: "s", Value: "SCOPE", Choices: []string{"user", "project", "local"}, Set: flags.SetText(&o.Scope),
			Doc: "with install, enable and disable, the settings to write: user (the default), project (for everyone who has installed and approved the plugin) or local"},
		{Name: "option", Value: "NAME=VALUE", Doc: "with install, enable and configure, a plugin option; may be repeated",
			Set: func(v string) error { o.Values = append(o.Values, v); return nil }},
		{Name: "yes", Short: "y", Doc: "accept without prompting", Set: flags.SetBool(&o.Yes)},
		{Name: "data", Doc: "with uninstall, also remove the plugin's data", Set: flags.SetBool(&o.Data)},
		{Name: "json", Doc: "with list, details and marketplace list, print JSON", Set: flags.SetBool(&o.JSON)},
	}
}

// Explanation is the introductory help text.
const Explanation = `  adze plugin marketplace add owner/repository
  adze plugin install formatter

A plugin bundles skills, commands, agents, hooks, MCP servers and output styles. Before it is used you are shown what
it runs, and asked; when that changes, you are shown the difference and asked again.
`

// A Task is one action, with its arguments.
type Task struct {
	*console.Console
	*Options
	Plugins *plugins.Manager
	Args    []string
	// Dir is the working directory.
	Dir string
	// Secret asks for a line without echo.
	Secret func(question string) (string, error)
}

// ErrFailed reports that an action failed and that the user has been notified.
var ErrFailed = errors.New("failed")

// Run runs an action.
func (t *Task) Run(ctx context.Context, a *actions.Action[*Task]) error {
	if err := a.Check("plugin", len(t.Args)); err != nil {
		return err
	}
	return a.Run(ctx, t)
}

// scope returns the scope from --scope; the default is the user's.
func (t *Task) scope() (scope.Scope, error) {
	if t.Scope == "" {
		return scope.User, nil
	}
	s, err := scope.Parse(t.Scope)
	if err == nil && !s.Writable() {
		err = fmt.Errorf("plugins cannot be enabled in the scope %s: choose user, project or local", s.Short())
	}
	return s, err
}

// agree shows an offer's contents, and asks the user for confirmation unless it was given before
// or --yes is set. The verb says what is offered.
func (t *Task) agree(offer *plugins.Offer, verb string) (bool, error) {
	text := offer.Title() + "\n  " + strings.Join(offer.Lines(), "\n  ") + "\n"
	if !offer.Settled() && !t.Yes && t.StdinTerminal {
		return t.Agree(console.Choice{Title: "Plugin", Body: text, Question: verb + " " + offer.ID.String() + "?"})
	}
	if err := t.Show(text); err != nil || offer.Settled() || t.Yes {
		return err == nil, err
	}
	return false, setup.Errorf("confirmation needs a terminal; use --yes to accept the list above")
}
