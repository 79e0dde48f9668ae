package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"adze/internal/app/cli/actions"
	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/commands"
	"adze/internal/commands/schedule"
	"adze/internal/domain/cron"
	"adze/internal/platform/fs/fsys"
	"adze/internal/setup"
	"adze/internal/ui/draw"
)

// scheduleOptions holds the options of adze schedule.
type scheduleOptions struct{ json bool }

func (o *scheduleOptions) flags() []flag {
	return []flag{{Name: "json", Doc: "with list, print JSON", Set: flags.SetBool(&o.json)}}
}

// explain describes how prompts are scheduled, and when they run.
func (*scheduleOptions) explain() string {
	return "In a session /schedule CRON PROMPT schedules a prompt. It runs while a session is open in the directory.\n"
}

func (*scheduleOptions) actions() []action {
	return []action{
		{Name: "list", Doc: "list the prompts scheduled in this directory, and when they run next"},
		{Name: "delete", Args: "ID...", Doc: "end jobs; an id may be shortened"},
	}
}

func (*scheduleOptions) offers(env *Env, args []string) (list []offer) {
	if len(args) == 0 || args[0] != "delete" {
		return nil
	}
	table, err := scheduled(env)
	if err != nil {
		return nil
	}
	all, _ := table.List(context.Background()) // ok: completes the known ones
	for _, j := range all {
		list = append(list, offer{Word: j.ID, Doc: j.When()})
	}
	return list
}

// scheduled returns the working directory's durable jobs.
func scheduled(env *Env) (*cron.Table, error) {
	dirs, err := fsys.FindDirs(env.Getenv)
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	return cron.New(cron.Config{
		File: wire.JobsFile(dirs.Home, env.Dir), Locks: filepath.Join(dirs.Home, "locks"), Now: env.Now, MaxAge: func() time.Duration { return 0 }, // nothing is added
	}), nil
}

// run lists or removes jobs; the default is list.
func (o *scheduleOptions) run(ctx context.Context, env *Env, in invocation) error {
	table, err := scheduled(env)
	if err != nil {
		return err
	}
	switch name, args := actionOf(in, "list"); {
	case name == "list" && len(args) == 0:
		return o.list(ctx, env, table)
	case name == "list" || name == "delete" && len(args) == 0:
		return setup.Errorf("usage: adze schedule list, or adze schedule delete ID...")
	case name == "delete":
		for _, id := range args {
			j, err := table.Remove(ctx, id)
			if err != nil {
				return err
			}
			if err := env.show(fmt.Sprintf("Ended job %s (%s).\n", j.ID, j.When())); err != nil {
				return err
			}
		}
		return nil
	default:
		return actions.Unknown("schedule", name, []string{"list", "delete"})
	}
}

// A listedJob is a job in JSON output.
type listedJob struct {
	ID      string    `json:"id"`
	Cron    string    `json:"cron"`
	Once    bool      `json:"once"`
	Prompt  string    `json:"prompt"`
	Next    time.Time `json:"next,omitzero"`
	Runs    int       `json:"runs"`
	CostUSD float64   `json:"costUSD"`
	// Flaw is the reason why it never runs.
	Flaw string `json:"flaw,omitempty"`
}

func (o *scheduleOptions) list(ctx context.Context, env *Env, table *cron.Table) error {
	all, err := table.List(ctx)
	if err != nil {
		return err
	}
	if o.json {
		list := []listedJob{}
		for _, j := range all {
			list = append(list, listedJob{j.ID, j.Cron, j.Once, j.Prompt, j.Fires(), j.Runs, j.CostUSD, j.Flaw})
		}
		return env.printJSON(list)
	}
	if len(all) == 0 {
		env.Say("no prompt is scheduled in this directory; /schedule CRON PROMPT schedules one in a session")
		return nil
	}
	page := commands.Page{Blocks: []commands.Block{schedule.Listed(all)}}
	return env.show(draw.Palette{}.Text(draw.Page(page, draw.Options{Width: env.width()})) + "\n")
}
