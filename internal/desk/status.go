package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/amount"
	"adze/internal/session/archive"
)

func statusCommand() Command {
	return Command{Name: "status", Doc: "show the version, the session, the model, the mode and what is in use",
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
	if effort := d.Settings().Effort; effort != "" {
		fields = append(fields, Field{"Effort", string(effort)})
	}
	fields = append(fields, Field{"Permissions", ModeInWords(d.Permission.Mode())})
	if u, err := d.Usage(); err == nil && u.Window > 0 {
		fields = append(fields, Field{"Context", fmt.Sprintf("%d %% of %s tokens", u.Used()*100/u.Window, amount.Grouped(u.Window))})
	}
	totals := d.Session.Totals()
	fields = append(fields, Field{"Cost", total(totals)})
	if d.Tasks != nil && len(d.Tasks.List()) > 0 {
		fields = append(fields, Field{"Tasks", amount.Of(len(d.Tasks.List()), "background task", "background tasks")})
	}
	if d.Surroundings.About != nil {
		fields = append(fields, d.Surroundings.About()...)
	}
	if d.Log != nil {
		fields = append(fields, Field{"Transcript", d.Log.Path()})
	}
	return Page{Blocks: []Block{fields}}
}

func doctorCommand() Command {
	return Command{Name: "doctor", Doc: "check settings, rules, instructions, memory and the programs that adze needs",
		Run: func(ctx context.Context, d *Desk, _ string) (Answer, error) { return doctorPage(ctx, d), nil }}
}

// A Check is something that was looked at.
type Check struct {
	Name string
	// Fine says what is there, and Problems what is wrong.
	Fine     string
	Problems []string
}

// doctorPage looks at what may be wrong, and says what to do.
func doctorPage(ctx context.Context, d *Desk) Page {
	var checks []Check
	if d.Surroundings.Examine != nil {
		checks = d.Surroundings.Examine(ctx)
	}
	rules := Check{Name: "permission rules", Fine: amount.Of(len(d.Permission.Policy().Rules()), "rule", "rules")}
	var p Page
	addProblems(&p, d.Permission.Policy(), anyRule)
	for _, b := range p.Blocks {
		rules.Problems = append(rules.Problems, string(b.(Notice)))
	}
	hooks := Check{Name: "hooks", Fine: amount.Of(len(d.Hooks().List), "hook", "hooks")}
	for _, l := range d.Hooks().List {
		if l.Idle != "" {
			hooks.Problems = append(hooks.Problems, l.Label+" does not run: "+l.Idle)
		}
		if l.Slow {
			hooks.Problems = append(hooks.Problems, l.Label+" is slow and delays "+string(l.Event))
		}
	}
	checks = append(checks, rules, hooks)
	if d.Instructions != nil {
		d.Instructions.Load(ctx)
		c := Check{Name: "instructions", Fine: amount.Of(len(d.Instructions.Files()), "file", "files")}
		for _, problem := range d.Instructions.Problems() {
			c.Problems = append(c.Problems, problem.Path+" "+problem.Text)
		}
		checks = append(checks, c)
	}
	if m := d.Memory; m != nil && m.Never == "" && !m.Off() {
		checks = append(checks, checkMemory(m))
	}
	return checked(checks)
}

func checkMemory(m *Memory) Check {
	c := Check{Name: "memory", Fine: m.Folder.Dir}
	found, err := m.Folder.Check()
	if err != nil {
		c.Problems = append(c.Problems, err.Error())
	}
	for _, f := range found {
		c.Problems = append(c.Problems, f.String())
	}
	return c
}

// checked shows checks, and what is wrong below them.
func checked(checks []Check) Page {
	var fields Fields
	var notices []Block
	for _, c := range checks {
		text := c.Fine
		if len(c.Problems) > 0 {
			text = amount.Of(len(c.Problems), "problem", "problems")
		}
		fields = append(fields, Field{c.Name, text})
		for _, problem := range c.Problems {
			notices = append(notices, Notice(c.Name+": "+problem))
		}
	}
	p := Page{Blocks: []Block{fields}}
	p.Add(notices...)
	if len(notices) == 0 {
		p.Add(Text("No problem was found."))
	}
	return p
}
