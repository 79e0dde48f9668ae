package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/text/amount"
	"adze/internal/session/archive"
)

func statusCommand() Command {
	return Command{Name: "status", Doc: "show the version, session, model, mode and what is in use",
		Run: func(_ context.Context, d *Desk, _ string) (Answer, error) { return statusPage(d), nil }}
}

// statusPage shows the state of the session on one page.
func statusPage(d *Desk) Page {
	session := d.Session.ID()
	if d.Log == nil {
		session += ", not saved on disk"
	} else if info, err := archive.Describe(d.Log.Path()); err == nil && info.Name() != info.ID {
		session += ", " + info.Name()
	}
	fields := Fields{
		{"Version", d.Version},
		{"Session", session},
		{"Directory", strings.Join(slices.Concat([]string{d.Dir}, d.Permission.Dirs()), ", ")},
		{"Model", d.ModelInWords(d.Session.Model())},
	}
	if effort := d.Env.Settings().Effort; effort != "" {
		fields = append(fields, Field{"Effort", string(effort)})
	}
	fields = append(fields, Field{"Permissions", DescribeMode(d.Permission.Mode())})
	if u, err := d.Usage(); err == nil && u.Window > 0 {
		fields = append(fields, Field{"Context", fmt.Sprintf("%d%% of %s tokens", u.Used()*100/u.Window, amount.Grouped(u.Window))})
	}
	totals := d.Session.Sum()
	fields = append(fields, Field{"Cost", total(totals)})
	if d.Tasks != nil && len(d.Tasks.List()) > 0 {
		fields = append(fields, Field{"Tasks", amount.Of(len(d.Tasks.List()), "background task", "background tasks")})
	}
	if d.Env.About != nil {
		fields = append(fields, d.Env.About()...)
	}
	if d.Log != nil {
		fields = append(fields, Field{"Transcript", d.Files.Short(d.Log.Path())})
	}
	return Page{Blocks: []Block{fields}}
}
