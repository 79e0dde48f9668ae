package cli

import (
	"context"

	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/commands"
	"adze/internal/settings"
	"adze/internal/ui/draw"
)

// doctorOptions holds the options of adze doctor.
type doctorOptions struct {
	project      settings.Source
	access       wire.AccessSpec
	online, json bool
}

// explain describes the checks and the exit code.
func (*doctorOptions) explain() string {
	return `Nothing is changed, and without --online nothing is sent. The exit code is 1 if something is broken; a note is
something that you may want to change.
`
}

func (o *doctorOptions) flags() []flag {
	table := []flag{
		{Name: "online", Doc: "also try whether the provider can be reached; no credentials are sent", Set: flags.SetBool(&o.online)},
		jsonFlag(&o.json),
	}
	table = append(table, flags.Only(accessFlags(&o.access), "add-dir")...)
	return append(table, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "trust")...)
}

// A checkLine is a check in JSON output.
type checkLine struct {
	Name     string   `json:"name"`
	Found    string   `json:"found"`
	Problems []string `json:"problems"`
	Notes    []string `json:"notes"`
}

// run runs the checks. Unreadable settings are reported as a finding.
func (o *doctorOptions) run(ctx context.Context, env *Env, _ invocation) error {
	p, _ := settings.Open(env.source(o.project)) // ok: problems are found below
	place := env.wire()
	place.Say = func(string) {} // messages of opening a conversation are also found by the checks
	w := wire.Open(place, p)
	defer w.Close()
	checks := w.Examine(ctx, o.access, env.StdinTerminal && env.StdoutTerminal, o.online)
	var err error
	if o.json {
		list := []checkLine{}
		for _, c := range checks {
			list = append(list, checkLine{c.Name, c.Fine, append([]string{}, c.Problems...), append([]string{}, c.Notes...)})
		}
		err = env.printJSON(list)
	} else {
		options := draw.Options{}
		if env.StdoutTerminal {
			options.Width = env.width()
		}
		err = env.print(draw.Palette{}.Text(draw.Page(commands.CheckPage(checks), options)) + "\n")
	}
	if err == nil && commands.Broken(checks) > 0 {
		err = &Ended{}
	}
	return err
}
