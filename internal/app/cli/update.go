package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/app/cli/flags"
	"adze/internal/app/cli/update"
	"adze/internal/app/models"
	"adze/internal/platform/net/contacts"
	"adze/internal/platform/net/transport"
	"adze/internal/settings"
	"adze/internal/setup"
)

// updateOptions holds the options of adze update.
type updateOptions struct {
	project               settings.Source
	channel               string
	check, rollback, json bool
}

func (o *updateOptions) flags() []flag {
	table := []flag{
		{Name: "check", Doc: "only show whether there is a newer version", Set: flags.SetBool(&o.check)},
		{Name: "rollback", Doc: "go back to the version that the last update replaced", Set: flags.SetBool(&o.rollback)},
		{Name: "channel", Value: "NAME", Doc: "stable or latest; the setting update.channel has the default", Set: flags.SetText(&o.channel)},
		jsonFlag(&o.json),
	}
	return append(table, flags.Only(projectFlags(&o.project), "settings")...)
}

// explain describes what is trusted.
func (*updateOptions) explain() string {
	return `With VERSION, that version is installed, even if it is older. Only releases signed with the release key
are installed, after a test on this system. The old version is kept for --rollback. Installations that
belong to a package manager are left to it. Running sessions keep their version until they end.
`
}

// advice explains that these words are a command, not a prompt.
func (*updateOptions) advice(args []string) string {
	return ". adze update replaces this program; to send the words as a prompt, use " + asPrompt(append([]string{"update"}, args...))
}

// An updateState is the JSON output.
type updateState struct {
	Version   string `json:"version"`
	Installed string `json:"installed"` // the package manager, "release" or "source"
	Channel   string `json:"channel,omitempty"`
	Newest    string `json:"newest,omitempty"`
	Update    bool   `json:"update"` // Newest is newer
	Changed   bool   `json:"changed"`
}

// run installs a version, goes back to the previous one, or shows what there is.
func (o *updateOptions) run(ctx context.Context, env *Env, in invocation) error {
	if len(in.Args) > 1 {
		return setup.Errorf("adze update takes one version%s", o.advice(in.Args))
	}
	if len(in.Args) == 1 && (o.check || o.rollback) || o.check && o.rollback {
		return setup.Errorf("give one of VERSION, --check and --rollback")
	}
	p := openLeniently(env, o.project)
	values := p.Values().Update
	program, err := env.programFile()
	if err != nil {
		return err
	}
	if m := update.ManagedBy(program); m != nil {
		if o.json {
			return env.printJSON(updateState{Version: env.Version, Installed: m.Name})
		}
		return setup.Errorf("this adze was installed with %s; update it with: %s", m.Name, m.Update)
	}
	u := update.New(update.Config{
		Program: program, Version: env.Version, Source: cmp.Or(values.URL, env.Downloads), Key: env.ReleaseKey, Say: env.Say,
		HTTP: transport.New(models.PlainNetwork(p.Settings(), env.Getenv, env.Say, contacts.Update)),
	})
	if o.rollback {
		return o.goBack(ctx, env, u)
	}
	if u.Key == "" || u.Source == "" {
		return setup.Errorf("this adze was built from source and knows no release key; update it by building a newer commit")
	}
	state := updateState{Version: env.Version, Installed: "release"}
	if len(in.Args) == 1 {
		if state.Newest = in.Args[0]; !update.Valid(state.Newest) {
			return setup.Errorf("%q is not a version such as 1.2.0", state.Newest)
		}
	} else {
		state.Channel = cmp.Or(o.channel, values.Channel)
		if state.Newest, err = u.Newest(ctx, state.Channel); err != nil {
			return err
		}
		state.Update = update.Compare(state.Newest, env.Version) > 0
	}
	switch wanted := len(in.Args) == 1; {
	case values.Minimum != "" && update.Valid(values.Minimum) && update.Compare(state.Newest, values.Minimum) < 0:
		return setup.Errorf("adze %s is older than %s, the oldest version that the managed settings allow", state.Newest, values.Minimum)
	case o.check, !wanted && !state.Update, wanted && state.Newest == env.Version:
		return o.report(env, state)
	}
	if err := u.Install(ctx, state.Newest); err != nil {
		return err
	}
	state.Changed = true
	return o.report(env, state)
}

// goBack returns to the previous version.
func (o *updateOptions) goBack(ctx context.Context, env *Env, u *update.Updater) error {
	version, err := u.Rollback(ctx)
	if err != nil {
		return err
	}
	return o.report(env, updateState{Version: env.Version, Installed: "release", Newest: version, Changed: true})
}

// report prints the result.
func (o *updateOptions) report(env *Env, s updateState) error {
	switch {
	case o.json:
		return env.printJSON(s)
	case s.Changed:
		return env.print(fmt.Sprintf("adze is now version %s (before: %s). Go back with: adze update --rollback\n", s.Newest, s.Version))
	case s.Update:
		return env.print(fmt.Sprintf("adze %s is available in the channel %s (this is %s). Install it with: adze update\n", s.Newest, s.Channel, s.Version))
	case s.Channel == "":
		return env.print(fmt.Sprintf("adze %s is installed already.\n", s.Version))
	}
	return env.print(fmt.Sprintf("adze %s is up to date; the channel %s offers %s.\n", s.Version, s.Channel, s.Newest))
}

// programFile returns the path of the program's file.
func (env *Env) programFile() (string, error) {
	if env.Program == "" {
		return "", setup.Errorf("the file of the program cannot be found")
	}
	path, err := filepath.EvalSymlinks(env.Program)
	if err != nil {
		return "", fmt.Errorf("finding the file of the program: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("finding the file of the program: %w", err)
	}
	return path, nil
}

// tooOld returns an error if the managed settings demand a newer version.
func tooOld(env *Env, p *settings.Project) error {
	least := p.Values().Update.Minimum
	switch {
	case least == "":
		return nil
	case !update.Valid(least):
		return setup.Errorf("update.minimumVersion in the managed settings is %q, which is not a version such as 1.2.0", least)
	case update.Valid(env.Version) && update.Compare(env.Version, least) < 0:
		return setup.Errorf("the managed settings demand adze %s or newer, and this is %s; update it with: adze update", least, env.Version)
	}
	return nil
}

// checkInterval is how often a newer version is looked for.
const checkInterval = 24 * time.Hour

// reportNewer says that there is a newer version, if update.check is on and the last check was long enough ago.
func reportNewer(ctx context.Context, env *Env, p *settings.Project) {
	values := p.Values().Update
	source := cmp.Or(values.URL, env.Downloads)
	if !values.Check || source == "" || env.ReleaseKey == "" || p.Home == "" {
		return
	}
	last := filepath.Join(p.Home, "update-check")
	if info, err := os.Stat(last); err == nil && env.Now().Sub(info.ModTime()).Abs() < checkInterval {
		return
	}
	if err := os.WriteFile(last, nil, 0o600); err != nil {
		return
	}
	u := update.New(update.Config{
		Version: env.Version, Source: source, Key: env.ReleaseKey,
		HTTP: transport.New(models.PlainNetwork(p.Settings(), env.Getenv, func(string) {}, contacts.Update)),
	})
	newest, err := u.Newest(ctx, values.Channel) // an error is no news: adze update reports it
	if err == nil && update.Valid(env.Version) && update.Compare(newest, env.Version) > 0 {
		env.Say("adze " + newest + " is available; install it with: adze update")
	}
}

// reportReplaced returns a function that says so if the program's file has been replaced since.
func reportReplaced(env *Env) func() {
	path, err := env.programFile()
	if err != nil {
		return func() {}
	}
	old, err := os.Stat(path)
	if err != nil {
		return func() {}
	}
	return func() {
		if now, err := os.Stat(path); err == nil && !os.SameFile(old, now) {
			env.Say("adze was updated during this session; the next start uses the new version")
		}
	}
}
