package cli

import (
	"context"

	"adze/internal/app/artifacts"
	"adze/internal/app/cli/flags"
	"adze/internal/app/cli/sessions"
	"adze/internal/platform/fs/fsys"
	"adze/internal/session/archive"
	"adze/internal/settings"
	"adze/internal/setup"
)

// sessionsOptions holds the options of adze sessions.
type sessionsOptions struct{ sessions.Options }

func (o *sessionsOptions) flags() []flag {
	return []flag{
		{Name: "all", Short: "a", Doc: "with list, the sessions of all folders", Set: flags.SetBool(&o.All)},
		{Name: "tag", Value: "TAG", Doc: "with list, the sessions with this tag", Set: flags.SetText(&o.Tag)},
		{Name: "json", Doc: "with list, show and search, print JSON", Set: flags.SetBool(&o.JSON)},
		{Name: "limit", Value: "N", Doc: "with list, at most N sessions; with search, at most N matches per session; with show, the last N messages",
			Set: flags.SetCount(&o.Limit, 1)},
		{Name: "match-case", Doc: "with search, match upper and lower case exactly", Set: flags.SetBool(&o.MatchCase)},
		flags.OneOf(flag{Name: "format", Value: "FORMAT", Doc: "with export, markdown, json or html; by default, the extension of the file decides"},
			&o.Format, archive.Markdown, archive.JSON, archive.HTML),
		{Name: "output", Short: "o", Value: "FILE", Doc: "with export, the file to write; standard output by default", Set: flags.SetText(&o.Output)},
		{Name: "secrets", Doc: "with export, keep apparent secrets", Set: flags.SetBool(&o.Secrets)},
		{Name: "at", Value: "MESSAGE", Doc: "with fork, the id of the last message to copy", Set: flags.SetText(&o.At)},
		{Name: "force", Doc: "with rm, do not ask first; with export, overwrite a file", Set: flags.SetBool(&o.Force)},
	}
}

// run runs an action on the stored sessions; the default is list.
func (o *sessionsOptions) run(ctx context.Context, env *Env, in invocation) error {
	dirs, err := fsys.FindDirs(env.Getenv)
	if err != nil {
		return setup.Errorf("%v", err)
	}
	name, args := actionOf(in, "list")
	a, err := sessions.Actions().Find("sessions", name)
	if err != nil {
		return err
	}
	t := &sessions.Task{Console: env.streams(), Options: &o.Options, Dir: env.Dir, Home: dirs.Home, Args: args, Version: env.Version, Now: env.Now}
	t.Inherit = func(from *archive.Info, id, dir string) error {
		return artifacts.Inherit(ctx, openLeniently(env, settings.Source{}), from, id, dir)
	}
	return t.Run(ctx, a)
}

func (*sessionsOptions) explain() string {
	return "A session is named by its id, its title, the beginning of either, its tag, or the path of its file.\n"
}

func (*sessionsOptions) actions() []action { return sessions.Actions().Help() }

// offers completes the sessions in this directory.
func (*sessionsOptions) offers(env *Env, args []string) []offer {
	if len(args) == 1 && args[0] != "list" && args[0] != "search" || len(args) > 1 && args[0] == "rm" {
		return sessionOffers(env)
	}
	return nil
}

// sessionOffers returns the sessions in this directory, newest first, with their titles.
func sessionOffers(env *Env) (list []offer) {
	dirs, err := fsys.FindDirs(env.Getenv)
	if err != nil {
		return nil
	}
	infos, err := archive.List(dirs.Home, archive.ListOptions{Dir: env.Dir})
	if err != nil {
		return nil
	}
	for i := range infos[:min(len(infos), 50)] {
		list = append(list, offer{Word: infos[i].ID, Doc: infos[i].Name()})
	}
	return list
}
