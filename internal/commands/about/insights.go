package about

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/permission"
	"adze/internal/platform/text/amount"
	"adze/internal/session/archive"
	"adze/internal/tool"
)

const (
	// judging is the time limit for evaluating calls against the current rules.
	judging = time.Second

	shownRules    = 8
	shownFailures = 5
	shownHours    = 3
	shownProjects = 5
	maxExample    = 40 // characters of a call
	leastTimes    = 2  // minimum number of prompts a rule would have saved
)

func insightsCommand() commands.Command {
	return commands.Command{Name: "insights", Args: "[DAYS|all]", Doc: "analyse the stored sessions: rules that would save questions, tools that fail, hours, cost per project; nothing is sent",
		Run: func(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
			return insights(ctx, r, arg, patience)
		},
		Complete: func(*commands.Registry, string) []string { return []string{"7", "30", "all"} }}
}

// insights analyzes the sessions of the last days or of all time, within the time limit.
func insights(ctx context.Context, r *commands.Registry, arg string, limit time.Duration) (commands.Answer, error) {
	o, span, err := spanOf("insights", arg, r.Now())
	if err != nil {
		return nil, err
	}
	if r.Home == "" {
		return nil, commands.ErrNotKept
	}
	o.Detail, o.Calls = true, r.Dir
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, err := archive.Measure(within, r.Home, o)
	if err != nil {
		return nil, err
	}
	if s.Sessions == 0 {
		return commands.Say("No sessions " + span + "."), nil
	}
	judge, done := context.WithTimeout(ctx, judging)
	defer done()
	p := insightsPage(s, span, asked(judge, r, s.Detail.Calls), r.Files.Short)
	if s.Left > 0 {
		p.Add(commands.Notice(uncounted(s.Left, "insights")))
	}
	return p, nil
}

// A saving is a rule and the calls whose permission prompts it would have avoided.
type saving struct {
	rule, example string
	times         int
}

// asked returns the rules that would avoid permission prompts, by the number of calls. The
// calls are evaluated against the current rules, in the default mode, until ctx is done.
func asked(ctx context.Context, r *commands.Registry, calls []archive.CallUse) []saving {
	if r.Permission.Policy == nil {
		return nil
	}
	cfg := r.Permission.Policy().Config()
	cfg.Mode = permission.Default
	policy, pool := permission.Compile(cfg), r.Session.Pool()
	found := map[string]*saving{}
	var all []*saving
	for _, c := range calls {
		if ctx.Err() != nil {
			break
		}
		for _, rule := range offered(policy, pool, c.Call) {
			s := found[rule]
			if s == nil {
				s = &saving{rule: rule, example: example(c.Input)}
				found[rule] = s
				all = append(all, s)
			}
			s.times += c.Times
		}
	}
	slices.SortStableFunc(all, func(a, b *saving) int { return cmp.Compare(b.times, a.times) })
	var often []saving
	for _, s := range all[:min(shownRules, len(all))] {
		if s.times >= leastTimes {
			often = append(often, *s)
		}
	}
	return often
}

// offered returns the rules offered with the permission prompt for a call; empty if the call
// needs no prompt.
func offered(p *permission.Policy, pool *tool.Pool, c archive.Call) (rules []string) {
	t, _, ok := pool.Lookup(c.Tool)
	if !ok {
		return nil
	}
	call, err := t.Bind(json.RawMessage(c.Input))
	if err != nil {
		return nil
	}
	d := permission.Decide(p, permission.FactsOf(p, t, call))
	if d.Behavior != permission.Ask || len(d.Suggestions) == 0 || d.Suggestions[0].Type != permission.AddRules {
		return nil
	}
	for _, r := range d.Suggestions[0].Rules {
		rules = append(rules, r.String())
	}
	return rules
}

// example returns the subject of a call: the first text of its input.
func example(input string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(input), &fields) != nil {
		return ""
	}
	for _, name := range []string{"command", "file_path", "url", "path"} {
		if text, ok := fields[name].(string); ok {
			return tool.OneLine(text, maxExample)
		}
	}
	return ""
}

// insightsPage shows the insights about a span of time.
func insightsPage(s *archive.Stats, span string, rules []saving, short func(string) string) commands.Page {
	fields := commands.Fields{{Name: "Sessions", Value: amount.Grouped(s.Sessions) + " " + span}}
	if s.Sum.Input > 0 {
		fields = append(fields, commands.Field{Name: "Cache", Value: share(s.Sum.Cached, s.Sum.Input) + " of the input was read from the provider's cache"})
	}
	if hours := busiest(s.Detail.Hours); hours != "" {
		fields = append(fields, commands.Field{Name: "Busiest hours", Value: hours})
	}
	p := commands.Page{Blocks: []commands.Block{fields}}
	if len(rules) > 0 {
		t := commands.Table{Columns: []commands.Column{{Name: "Rule", Cut: true}, {Name: "calls", Right: true}, {Name: "such as", Cut: true}}}
		for _, r := range rules {
			t.Rows = append(t.Rows, []string{r.rule, amount.Grouped(r.times), r.example})
		}
		p.Add(t)
		p.Add(commands.Text("These calls need confirmation in this directory. To skip it, use /permissions allow RULE; check first which other calls the rule allows."))
	}
	addFailures(&p, s)
	addFiles(&p, s.Files, short)
	addProjects(&p, s.Detail.Projects, short)
	return p
}

// addFailures adds the tools whose calls fail most.
func addFailures(p *commands.Page, s *archive.Stats) {
	if len(s.Detail.Failed) == 0 {
		return
	}
	calls := map[string]int{}
	for _, u := range s.Tools {
		calls[u.Name] = u.Times
	}
	t := commands.Table{Columns: []commands.Column{{Name: "Tool", Cut: true}, {Name: "failed or refused", Right: true}, {Name: "of its calls", Right: true}}}
	for _, u := range s.Detail.Failed[:min(shownFailures, len(s.Detail.Failed))] {
		t.Rows = append(t.Rows, []string{u.Name, amount.Grouped(u.Times), share(u.Times, calls[u.Name])})
	}
	p.Add(t)
}

// addProjects adds the cost of projects.
func addProjects(p *commands.Page, projects []archive.ProjectUse, short func(string) string) {
	if len(projects) == 0 {
		return
	}
	t := commands.Table{Columns: []commands.Column{{Name: "Project", Cut: true}, {Name: "prompts", Right: true}, {Name: "cost", Right: true}, {Name: "cached", Right: true}}}
	for _, u := range projects[:min(shownProjects, len(projects))] {
		name := short(u.Dir)
		if name == "." {
			name = "this one"
		}
		t.Rows = append(t.Rows, []string{name, amount.Grouped(u.Prompts), price(u.Work), share(u.Cached, u.Input)})
	}
	p.Add(t)
}

// busiest describes the hours with the most prompts.
func busiest(hours [24]int) string {
	var all []int
	for h, n := range hours {
		if n > 0 {
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(hours[b], hours[a]) })
	var words []string
	for _, h := range all[:min(shownHours, len(all))] {
		words = append(words, fmt.Sprintf("%02d:00 (%s)", h, amount.Of(hours[h], "prompt", "prompts")))
	}
	return strings.Join(words, ", ")
}

// share returns a part of a whole in percent.
func share(part, whole int) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", min(100, part*100/whole))
}
