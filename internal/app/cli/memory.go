package cli

import (
	"context"
	"errors"
	"slices"

	"adze/internal/agent"
	"adze/internal/app/cli/flags"
	memorycli "adze/internal/app/cli/memory"
	"adze/internal/feature/memory"
	"adze/internal/settings"
	"adze/internal/setup"
)

// memoryOptions holds the options of adze memory.
type memoryOptions struct {
	memorycli.Options
	project settings.Source
}

func (o *memoryOptions) flags() []flag {
	return append([]flag{
		{Name: "json", Doc: "with list, show, check and path, print JSON", Set: flags.SetBool(&o.JSON)},
		{Name: "fix", Doc: "with check, repair problems where possible", Set: flags.SetBool(&o.Fix)},
		{Name: "yes", Doc: "with rm, do not ask first", Set: flags.SetBool(&o.Yes)},
	}, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings", "trust")...)
}

func (*memoryOptions) explain() string { return "A memory is named by its file or its title.\n" }

func (*memoryOptions) actions() []action { return memorycli.Actions().Help() }

func (o *memoryOptions) offers(env *Env, args []string) (list []offer) {
	if len(args) != 1 || !slices.Contains([]string{"show", "edit", "rm"}, args[0]) {
		return nil
	}
	p, _ := settings.Open(env.source(o.project)) // ok: then nothing is completed
	if p.HomeErr != nil {
		return nil
	}
	f, _, _ := memory.Folder(p)
	all, _ := f.List() // ok: then nothing is completed
	for _, m := range all {
		list = append(list, offer{Word: m.Name, Doc: m.Title})
	}
	return list
}

// run runs an action on the memories; the default is list.
func (o *memoryOptions) run(ctx context.Context, env *Env, in invocation) error {
	name, args := actionOf(in, "list")
	a, err := memorycli.Actions().Find("memory", name)
	if err != nil {
		return err
	}
	p, warnings := settings.Open(env.source(o.project))
	for _, w := range warnings {
		env.Say(w.String())
	}
	if p.HomeErr != nil {
		return setup.Errorf("%v", p.HomeErr)
	}
	f, _, refused := memory.Folder(p)
	for _, err := range refused {
		env.Say(err.Error())
	}
	t := &memorycli.Task{Folder: f, Console: env.streams(), Options: o.Options, Edit: env.edit, Args: args}
	err = t.Run(ctx, a)
	if errors.Is(err, memorycli.ErrFailed) {
		return &Ended{Reason: agent.Reason("memory_check")}
	}
	return err
}
