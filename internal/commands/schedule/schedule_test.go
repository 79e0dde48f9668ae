package schedule

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/commands"
	"adze/internal/domain/cron"
	"adze/internal/msg"
	"adze/internal/session"
)

// A table is a schedule for tests.
type table struct {
	*cron.Table
	prompt func(ctx context.Context, text string) (session.Prompt, error)
}

func (j *table) Attend(p func(ctx context.Context, text string) (session.Prompt, error)) {
	j.prompt = p
}

// newJobs returns a registry with a schedule and two commands: a prompt command and another one.
func newJobs(t *testing.T) (*commands.Registry, *table) {
	home := t.TempDir()
	j := &table{Table: cron.New(cron.Config{
		File: filepath.Join(home, "jobs.json"), Locks: filepath.Join(home, "locks"),
		Now:    func() time.Time { return time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) },
		MaxAge: func() time.Duration { return 7 * 24 * time.Hour },
	})}
	r := commands.New(commands.Config{Env: commands.Env{Sections: Sections(), Schedule: j, Commands: func(bool) []commands.Command {
		return []commands.Command{{Name: "fix", Kind: commands.Ask, Run: func(_ context.Context, _ *commands.Registry, arg string) (commands.Answer, error) {
			return commands.Prompt{Text: "Fix " + arg}, nil
		}}}
	}}})
	return r, j
}

// typed returns a command's answer.
func typed(t *testing.T, r *commands.Registry, line string) string {
	t.Helper()
	name, arg, _ := commands.Parse(line)
	answer, err := r.Run(t.Context(), name, arg)
	if err != nil {
		return "error: " + err.Error()
	}
	var all []string
	for _, b := range answer.(commands.Page).Blocks {
		switch b := b.(type) {
		case commands.Text:
			all = append(all, string(b))
		case commands.Table:
			for _, row := range b.Rows {
				all = append(all, strings.Join(row, "|"))
			}
		case commands.Notice:
			all = append(all, "! "+string(b))
		}
	}
	return strings.Join(all, "\n")
}

// Proves CMD-03, X-131.
func TestLoopCommand(t *testing.T) {
	r, jobs := newJobs(t)
	for line, want := range map[string]string{
		"/loop check the build":                       "every 10 minutes|check the build",
		"/loop 5m check":                              "every 5 minutes|check",
		"/loop 1h30m check":                           "every 90 minutes|check",
		"/loop 2d check":                              "every 2 days|check",
		"/loop every 20 minutes check  the\nbuild":    "every 20 minutes|check  the\nbuild",
		"/loop every hour check":                      "every hour|check",
		"/loop check the build every 2 hours":         "every 2 hours|check the build",
		"/loop check every single file":               "every 10 minutes|check every single file",
		"/loop 3 pigs":                                "every 10 minutes|3 pigs",
		"/loop stop the server if it is idle":         "every 10 minutes|stop the server if it is idle",
		"/loop 5m /fix the tests":                     "every 5 minutes|/fix the tests",
		"/loop 5m /usr/bin/true is there?":            "every 5 minutes|/usr/bin/true is there?",
		"/loop 30s check":                             "error: the interval is 30s; it can be from 1 minute to 366 days",
		"/loop every 10000000 days check":             "every 10 minutes|every 10000000 days check",
		"/loop 5m":                                    "error: no prompt to run",
		"/loop 5m /cost":                              "error: /cost is not sent to the model, so that it cannot be scheduled",
		"/loop 5m /fux it":                            "error: unknown command /fux; did you mean /fix?",
		"/loop stop":                                  "error: usage: /loop stop ID, or /loop stop all; /loop lists the jobs",
		"/loop stop nothing":                          `error: no such job: "nothing"; /loop lists the jobs`,
		"/schedule 0 9 * * mon-fri  what  changed?":   "0 9 * * mon-fri|what  changed?",
		"/schedule @hourly /fix it":                   "@hourly|/fix it",
		"/schedule once 30 14 * * * call home":        "once, 2 November 14:30|call home",
		"/schedule 0 9 * * mon-fri":                   "error: usage: /schedule MINUTE HOUR DAY MONTH WEEKDAY PROMPT, such as /schedule 0 9 * * mon-fri what changed since yesterday?",
		"/schedule 0 9 31 2 * never":                  `error: invalid cron expression "0 9 31 2 *": no such day`,
		"/schedule please look at this once in a day": `error: invalid cron expression "please look at this once": the minute: "please" is not a number from 0 to 59`,
	} {
		got := typed(t, r, line)
		if list, err := jobs.List(t.Context()); len(list) == 1 && err == nil {
			if list[0].Durable != strings.HasPrefix(line, "/schedule") || !strings.Contains(got, list[0].ID) {
				t.Errorf("%q: %s", line, got)
			}
			got = list[0].When() + "|" + list[0].Prompt
			jobs.Remove(t.Context(), list[0].ID)
		}
		if got != want {
			t.Errorf("%q: %q, not %q", line, got, want)
		}
	}
}

// Proves CMD-03, X-131.
func TestJobsAreListedAndEnded(t *testing.T) {
	r, jobs := newJobs(t)
	if got := typed(t, r, "/loop"); !strings.HasPrefix(got, "No prompt is scheduled.") {
		t.Error(got)
	}
	if got := typed(t, r, "/loop stop all"); got != "No loop is running." {
		t.Error(got)
	}
	one := typed(t, r, "/loop 5m one")
	if !strings.Contains(one, "runs every 5 minutes, until 9 November 12:00, while this session is open. /loop stop ") {
		t.Error(one)
	}
	two := typed(t, r, "/schedule once 0 13 * * * two")
	if !strings.Contains(two, "runs once, 2 November 13:00, while a session is open in this directory. /schedule delete ") {
		t.Error(two)
	}
	typed(t, r, "/loop three")
	list := typed(t, r, "/schedule list")
	if strings.Count(list, "\n") != 3 || !strings.Contains(list, "|every 5 minutes, this session|2 Nov 12:00|0|$0.00|one") {
		t.Error(list)
	}
	all, _ := jobs.List(t.Context())
	if offers := loopCommand().Complete(r, ""); len(offers) != 3 || len(scheduleCommand().Complete(r, "")) != 5 {
		t.Error(offers)
	}
	if got := typed(t, r, "/loop stop all"); got != "Ended 2 jobs." {
		t.Error(got)
	}
	if got, want := typed(t, r, "/schedule delete "+all[2].ID[:7]), "Ended job "+all[2].ID+" (once, 2 November 13:00: two)."; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if got := typed(t, commands.New(commands.Config{Env: commands.Env{Sections: Sections()}}), "/loop x"); !strings.Contains(got, "in a session that stays open") {
		t.Error(got)
	}
}

// TestScheduledPrompt checks that a scheduled text is submitted as if the user had typed it.
func TestScheduledPrompt(t *testing.T) {
	r, jobs := newJobs(t)
	Attend(r, true)
	for text, want := range map[string]string{"look": "look", "/fix the tests": "Fix the tests"} {
		if p, err := jobs.prompt(t.Context(), text); err != nil || msg.PlainText(p.Parts) != want {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	for _, text := range []string{"/exit", "/nothing", "/loop x"} {
		if _, err := jobs.prompt(t.Context(), text); err == nil {
			t.Errorf("%q runs", text)
		}
	}
	if Attend(r, false); jobs.prompt != nil {
		t.Error("it is still attended to")
	}
	Attend(commands.New(commands.Config{Env: commands.Env{Sections: Sections()}}), true)
}
