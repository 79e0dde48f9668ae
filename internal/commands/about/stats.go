package about

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/platform/text/amount"
	"adze/internal/session/archive"
)

const (
	// patience is the time limit for reading files before a command answers with partial
	// results.
	patience = 5 * time.Second

	defaultDays = 30 // default span of statistics
	maxDays     = 36_500
	shownDays   = 7
	shownModels = 4
	shownTools  = 10
	shownFiles  = 5
)

func statsCommand() commands.Command {
	return commands.Command{Name: "stats", Args: "[DAYS|all]", Doc: "show the usage of all sessions: prompts, tokens, cost, tools and files",
		Run: func(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
			return stats(ctx, r, arg, patience)
		},
		Complete: func(*commands.Registry, string) []string {
			return []string{"7", "30", "all"}
		}}
}

// stats computes statistics of the last days or of all time, within the time limit.
func stats(ctx context.Context, r *commands.Registry, arg string, limit time.Duration) (commands.Answer, error) {
	o, span, err := spanOf("stats", arg, r.Now())
	if err != nil {
		return nil, err
	}
	if r.Home == "" {
		return nil, commands.ErrNotKept
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, err := archive.Measure(ctx, r.Home, o)
	if err != nil {
		return nil, err
	}
	p := statsPage(s, span, r.Files.Short)
	if s.Left > 0 {
		p.Add(commands.Notice(uncounted(s.Left, "stats")))
	}
	return p, nil
}

// spanOf returns the time span named by a command's argument, and a description of it.
func spanOf(command, arg string, now time.Time) (o archive.StatsOptions, span string, err error) {
	o.Zone = now.Location()
	if arg == "all" {
		return o, "since the first session", nil
	}
	days := defaultDays
	if arg != "" {
		if days, err = strconv.Atoi(arg); err != nil || days < 1 || days > maxDays {
			return o, "", fmt.Errorf("usage: /%[1]s, /%[1]s DAYS or /%[1]s all", command)
		}
	}
	y, m, day := now.Date()
	o.Since = time.Date(y, m, day-days+1, 0, 0, 0, 0, now.Location())
	if days == 1 {
		return o, "today", nil
	}
	return o, "in the last " + amount.Of(days, "day", "days"), nil
}

// uncounted returns the message that sessions were skipped.
func uncounted(left int, command string) string {
	return amount.Of(left, "older session was", "older sessions were") + " not counted, because it took too long; /" + command + " 7 counts the last week only"
}

// statsPage shows statistics of a time span.
func statsPage(s *archive.Stats, span string, short func(string) string) commands.Page {
	if s.Sessions == 0 {
		return commands.Say("No sessions " + span + ".")
	}
	fields := commands.Fields{
		{Name: "Sessions", Value: amount.Grouped(s.Sessions) + " " + span},
		{Name: "Prompts", Value: amount.Grouped(s.Sum.Prompts)},
		{Name: "Tokens", Value: amount.Grouped(s.Sum.Input) + " in, " + amount.Grouped(s.Sum.Output) + " out"},
		{Name: "Cost", Value: price(s.Sum)},
	}
	if len(s.Tools) > 0 {
		var tools []string
		for _, u := range s.Tools[:min(shownTools, len(s.Tools))] {
			tools = append(tools, u.Name+" "+amount.Grouped(u.Times))
		}
		fields = append(fields, commands.Field{Name: "Tools", Value: strings.Join(tools, ", ")})
	}
	p := commands.Page{Blocks: []commands.Block{fields}}
	days := workTable("Day")
	for _, day := range s.Days[:min(shownDays, len(s.Days))] {
		days.Rows = append(days.Rows, workRow(day.Date, day.Work))
	}
	p.Add(days)
	if len(s.Models) > 0 {
		models := commands.Table{Columns: []commands.Column{{Name: "Model", Cut: true}, {Name: "input", Right: true}, {Name: "output", Right: true}, {Name: "cost", Right: true}}}
		for _, m := range s.Models[:min(shownModels, len(s.Models))] {
			models.Rows = append(models.Rows, []string{m.Name, amount.Grouped(m.Input), amount.Grouped(m.Output), price(m.Work)})
		}
		p.Add(models)
	}
	addFiles(&p, s.Files, short)
	return p
}

// addFiles adds the most edited files.
func addFiles(p *commands.Page, edited []archive.Use, short func(string) string) {
	if len(edited) == 0 {
		return
	}
	files := commands.Table{Columns: []commands.Column{{Name: "File", Cut: true}, {Name: "edits", Right: true}}}
	for _, u := range edited[:min(shownFiles, len(edited))] {
		files.Rows = append(files.Rows, []string{short(u.Name), amount.Grouped(u.Times)})
	}
	p.Add(files)
}

func workTable(name string) commands.Table {
	t := commands.Table{Columns: []commands.Column{{Name: name, Cut: true}}}
	for _, name := range []string{"prompts", "input", "output", "cost"} {
		t.Columns = append(t.Columns, commands.Column{Name: name, Right: true})
	}
	return t
}

func workRow(name string, w archive.Work) []string {
	return []string{name, amount.Grouped(w.Prompts), amount.Grouped(w.Input), amount.Grouped(w.Output), price(w)}
}

// price formats the cost of work, as far as it is known.
func price(w archive.Work) string {
	switch {
	case w.Unknown && w.CostUSD == 0:
		return "unknown"
	case w.Unknown:
		return fmt.Sprintf("more than %s", amount.USD(w.CostUSD))
	}
	return amount.USD(w.CostUSD)
}
