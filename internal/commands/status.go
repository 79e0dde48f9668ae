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
	return Command{Name: "status", Doc: "show the version, session, model, mode and active features",
		Run: func(_ context.Context, r *Registry, _ string) (Answer, error) { return r.statusPage(), nil }}
}

// statusPage shows the state of the session on one page.
func (r *Registry) statusPage() Page {
	session := r.Session.ID()
	if r.Log == nil {
		session += ", not saved on disk"
	} else if info, err := archive.Describe(r.Log.Path()); err == nil && info.Name() != info.ID {
		session += ", " + info.Name()
	}
	fields := Fields{
		{"Version", r.Version},
		{"Session", session},
		{"Directory", strings.Join(slices.Concat([]string{r.Dir}, r.Permission.Dirs()), ", ")},
		{"Model", r.ModelInWords(r.Session.Model())},
	}
	if effort := r.Env.Settings().Effort; effort != "" {
		fields = append(fields, Field{"Effort", string(effort)})
	}
	fields = append(fields, Field{"Permissions", DescribeMode(r.Permission.Mode())})
	if u, err := r.Usage(); err == nil && u.Window > 0 {
		fields = append(fields, Field{"Context", fmt.Sprintf("%d%% of %s tokens", u.Used()*100/u.Window, amount.Grouped(u.Window))})
	}
	totals := r.Session.Sum()
	fields = append(fields, Field{"Cost", total(totals)})
	if r.Tasks != nil && len(r.Tasks.List()) > 0 {
		fields = append(fields, Field{"Tasks", amount.Of(len(r.Tasks.List()), "background task", "background tasks")})
	}
	if r.Env.About != nil {
		fields = append(fields, r.Env.About()...)
	}
	if r.Log != nil {
		fields = append(fields, Field{"Transcript", r.Files.Short(r.Log.Path())})
	}
	return Page{Blocks: []Block{fields}}
}
