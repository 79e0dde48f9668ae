package cli

import (
	"context"
	"slices"

	"adze/internal/agentdef"
	"adze/internal/app/agentdefs"
	"adze/internal/app/agentscmd"
	"adze/internal/app/plugins"
	"adze/internal/app/settings"
	"adze/internal/app/syntax"
	"adze/internal/platform/texts"
)

// agentsOptions belong to adze agents.
type agentsOptions struct {
	agentscmd.Options
	project settings.Source
}

func (o *agentsOptions) flags() []flag {
	return append(o.Flags(), syntax.Only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings", "trust")...)
}

// explain says what agents are.
func (*agentsOptions) explain() string { return agentscmd.Explanation }

func (*agentsOptions) actions() []action { return agentscmd.Actions().Help() }

// offers completes the names of agents.
func (o *agentsOptions) offers(env *Env, args []string) []offer {
	if len(args) != 1 || !slices.Contains([]string{"show", "edit", "rm"}, args[0]) {
		return nil
	}
	return agentOffers(env, o.project)
}

// run runs an action on the agents; without a name, it lists them.
func (o *agentsOptions) run(ctx context.Context, env *Env, in invocation) error {
	name, args := actionOf(in, "list")
	a, err := agentscmd.Actions().Find("agents", name)
	if err != nil {
		return err
	}
	p := openLeniently(env, o.project)
	files := agentdefs.Files{Project: p, Library: agentsOf(p), Language: func() texts.Language { return texts.English }}
	t := &agentscmd.Task{Files: files, Console: env.streams(), Options: &o.Options, Edit: env.edit, Args: args}
	return t.Run(ctx, a)
}

// agentsOf returns the agents of a project, with those of its plugins.
func agentsOf(p *settings.Project) *agentdef.Library {
	found := plugins.Open(plugins.Config{Project: p, Say: func(string) {}})
	return agentdefs.OpenLibrary(agentdefs.Config{
		Project: p, Language: func() texts.Language { return texts.English }, Plugins: func() []agentdef.Root { return found.Set().Agents() },
	})
}

// agentOffers completes the names of the agents of a project.
func agentOffers(env *Env, src settings.Source) (list []offer) {
	p, _ := settings.Open(env.source(src)) // ok: nothing is completed then
	for _, d := range agentsOf(p).All() {
		list = append(list, offer{Word: d.Name, Doc: d.Description})
	}
	return list
}
