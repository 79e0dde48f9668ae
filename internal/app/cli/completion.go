package cli

import (
	"context"

	"adze/internal/app/cli/flags"
	"adze/internal/app/models"
	"adze/internal/model/catalog"
	"adze/internal/permission"
	"adze/internal/settings"
	"adze/internal/setup"
)

// completionOptions holds the options of adze completion.
type completionOptions struct{}

func (*completionOptions) flags() []flag { return nil }

func (*completionOptions) actions() []action {
	return []action{
		{Name: "bash", Doc: `for ~/.bashrc: eval "$(adze completion bash)"`},
		{Name: "zsh", Doc: `for ~/.zshrc, after compinit: eval "$(adze completion zsh)"`},
		{Name: "fish", Doc: "for config.fish: adze completion fish | source"},
		{Name: "powershell", Doc: "for $PROFILE: adze completion powershell | Out-String | Invoke-Expression"},
	}
}

// explain describes how the scripts get completions.
func (*completionOptions) explain() string {
	return "The scripts ask adze itself: adze completion words -- WORD... prints what can replace the last word,\n" +
		"one per line, with its meaning after a tab.\n"
}

// run prints a shell completion script, or the completions that such a script requests.
func (*completionOptions) run(_ context.Context, env *Env, in invocation) error {
	if len(in.Args) > 0 && in.Args[0] == "words" {
		return env.print(grammar(env).Words(in.Args[1:]))
	}
	if len(in.Args) == 1 && flags.Script(in.Args[0]) != "" {
		return env.print(flags.Script(in.Args[0]))
	}
	return setup.Errorf("usage: adze completion bash|zsh|fish|powershell")
}

// A completer is a command that completes its arguments. args are those before the cursor.
type completer interface {
	offers(env *Env, args []string) []offer
}

// Kinds of completions for flag values.
const (
	agentNames    = "agents"
	modelNames    = "models"
	modeNames     = "permission modes"
	providerNames = "providers"
	sessionNames  = "sessions"
	toolNames     = "tools"
)

// grammar returns the grammar of the command line.
func grammar(env *Env) *flags.Grammar {
	g := &flags.Grammar{Flags: (&runOptions{}).supported(), Source: func(kind string) []offer {
		switch kind {
		case agentNames:
			return agentOffers(env, settings.Source{})
		case modelNames:
			return modelOffers()
		case modeNames:
			return flags.Among(permission.Modes()...)
		case providerNames:
			return flags.Among(models.Names()...)
		case sessionNames:
			return sessionOffers(env)
		case toolNames:
			return toolOffers(env)
		}
		return nil
	}}
	for _, c := range commandTable() {
		g.Commands = append(g.Commands, c.describe(env))
	}
	return g
}

// modelOffers returns the models in the built-in catalog, by alias and ID.
func modelOffers() (list []offer) {
	for _, m := range (catalog.Table{}).All() {
		for _, name := range append((catalog.Table{}).AliasesOf(m.ID), m.ID) {
			list = append(list, offer{Word: name, Doc: m.Name})
		}
	}
	return list
}
