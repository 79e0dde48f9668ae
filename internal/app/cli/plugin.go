package cli

import (
	"context"
	"errors"
	"slices"

	"adze/internal/app/cli/flags"
	"adze/internal/app/cli/plugin"
	"adze/internal/app/wire"
	"adze/internal/feature/plugins"
	"adze/internal/settings"
	"adze/internal/setup"
)

// pluginOptions holds the options of adze plugin.
type pluginOptions struct {
	plugin.Options
	project settings.Source
}

func (o *pluginOptions) flags() []flag {
	return append(o.Flags(), flags.Only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings", "trust")...)
}

func (*pluginOptions) explain() string { return plugin.Explanation }

func (*pluginOptions) actions() []action { return plugin.Actions().Help() }

func (o *pluginOptions) offers(env *Env, args []string) (list []offer) {
	if len(args) != 1 || !slices.Contains([]string{"details", "enable", "disable", "update", "uninstall", "configure"}, args[0]) {
		return nil
	}
	p, _ := settings.Open(env.source(o.project)) // ok: then nothing is completed
	all, err := plugins.Open(plugins.Config{Project: p, Say: env.Say}).All()
	if err != nil {
		return nil
	}
	for _, x := range all {
		list = append(list, offer{Word: x.ID.String(), Doc: string(x.State)})
	}
	return list
}

// run runs an action on the plugins; the default is list.
func (o *pluginOptions) run(ctx context.Context, env *Env, in invocation) error {
	name, args := actionOf(in, "list")
	a, err := plugin.Actions().Find("plugin", name)
	if err != nil {
		return err
	}
	p := openLeniently(env, o.project)
	if p.HomeErr != nil {
		return setup.Errorf("%v", p.HomeErr)
	}
	w := wire.Open(env.wire(), p)
	defer w.Close()
	t := &plugin.Task{Console: env.streams(), Options: &o.Options, Plugins: w.PluginManager(), Args: args, Dir: env.Dir, Secret: env.console().AskSecret}
	err = t.Run(ctx, a)
	if errors.Is(err, plugin.ErrFailed) {
		return &Ended{}
	}
	return err
}
