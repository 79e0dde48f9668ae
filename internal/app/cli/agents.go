package cli

import (
	"context"
	"slices"

	agentscli "adze/internal/app/cli/agents"
	"adze/internal/app/cli/flags"
	"adze/internal/domain/agentdef"
	"adze/internal/feature/agents"
	"adze/internal/feature/plugins"
	"adze/internal/platform/text/texts"
	"adze/internal/settings"
)

// agentsOptions holds the options of adze agents.
type agentsOptions struct {
	agentscli.Options
	project settings.Source
}

func (o *agentsOptions) flags() []flag {
	return append(o.Flags(), flags.Only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings", "trust")...)
}

func (*agentsOptions) explain() string { return agentscli.Explanation }

func (*agentsOptions) actions() []action { return agentscli.Actions().Help() }

func (o *agentsOptions) offers(env *Env, args []string) []offer {
	if len(args) != 1 || !slices.Contains([]string{"show", "edit", "rm"}, args[0]) {
		return nil
	}
	return agentOffers(env, o.project)
}

// run runs an action on the agents; the default is list.
func (o *agentsOptions) run(ctx context.Context, env *Env, in invocation) error {
	name, args := actionOf(in, "list")
	a, err := agentscli.Actions().Find("agents", name)
	if err != nil {
		return err
	}
	p := openLeniently(env, o.project)
	files := agents.Files{Project: p, Library: agentsOf(p), Language: func() texts.Language { return texts.English }}
	t := &agentscli.Task{Files: files, Console: env.streams(), Options: &o.Options, Edit: env.edit, Args: args}
	return t.Run(ctx, a)
}

// agentsOf returns a project's agents, including its plugins'.
func agentsOf(p *settings.Project) *agentdef.Library {
	found := plugins.Open(plugins.Config{Project: p, Say: func(string) {}})
	return agents.OpenLibrary(agents.LibraryConfig{
		Project: p, Language: func() texts.Language { return texts.English }, Plugins: func() []agentdef.Root { return found.Set().Agents() },
	})
}

// agentOffers completes the names of a project's agents.
func agentOffers(env *Env, src settings.Source) (list []offer) {
	p, _ := settings.Open(env.source(src)) // ok: then nothing is completed
	for _, d := range agentsOf(p).All() {
		list = append(list, offer{Word: d.Name, Doc: d.Description})
	}
	return list
}
