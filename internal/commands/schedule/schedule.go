// Package schedule implements the built-in commands for scheduled prompts, /loop and /schedule.
// Package schedule runs them.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/domain/cron"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/tool"
)

// Attend sets whether a front end shows the prompts submitted for due jobs.
func Attend(r *commands.Registry, on bool) {
	switch {
	case r.Env.Schedule == nil:
	case on:
		r.Env.Schedule.Attend(func(ctx context.Context, text string) (session.Prompt, error) { return scheduled(ctx, r, text, true) })
	default:
		r.Env.Schedule.Attend(nil)
	}
}

// scheduleSwitch is the setting that enables scheduling.
const scheduleSwitch = "schedule.enabled"

// Sections returns the commands in their /help section.
func Sections() []commands.Section {
	return []commands.Section{{Name: "Conversation", Commands: []commands.Command{loopCommand(), scheduleCommand()}}}
}

func loopCommand() commands.Command {
	return commands.Command{Name: "loop", Kind: commands.Change, Args: "[INTERVAL] PROMPT", Switch: scheduleSwitch,
		Doc: "run a prompt now, then every 10 minutes or INTERVAL (5m, 2h, every hour) while the session is open; stop ID or stop all ends it",
		Run: func(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
			return runLoop(ctx, r, arg)
		},
		Complete: func(r *commands.Registry, _ string) []string {
			return append(jobIDs(r, "stop ", func(j *cron.Job) bool { return !j.Durable }), "stop all")
		}}
}

func scheduleCommand() commands.Command {
	return commands.Command{Name: "schedule", Kind: commands.Change, Args: "CRON PROMPT", Switch: scheduleSwitch,
		Doc: "run a prompt at the times of a cron expression (0 9 * * mon-fri, @hourly), in this session or a later one; once CRON PROMPT runs it only once; list, delete ID",
		Run: func(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
			return runSchedule(ctx, r, arg)
		},
		Complete: func(r *commands.Registry, _ string) []string {
			return append(jobIDs(r, "delete ", func(*cron.Job) bool { return true }), "list", "once ")
		}}
}

// jobIDs returns the IDs of matching jobs, each after a word.
func jobIDs(r *commands.Registry, word string, fits func(*cron.Job) bool) (all []string) {
	if r.Env.Schedule == nil {
		return nil
	}
	jobs, _ := r.Env.Schedule.List(context.Background()) // ok: lists the known jobs
	for _, j := range jobs {
		if fits(&j) {
			all = append(all, word+j.ID)
		}
	}
	return all
}

var errNoSchedule = errors.New("prompts can be scheduled in a session that stays open, at a terminal or in a host program")

// defaultEvery is the default interval of a loop.
const defaultEvery = 10 * time.Minute

// runLoop creates, lists or ends jobs that run while the session is open.
func runLoop(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
	jobs := r.Env.Schedule
	words := strings.Fields(arg)
	switch {
	case jobs == nil:
		return nil, errNoSchedule
	case len(words) == 0 || arg == "list":
		return jobsPage(ctx, r)
	case words[0] == "stop" && len(words) == 2:
		if words[1] == "all" {
			return stopLoops(ctx, jobs)
		}
		return removeJob(ctx, jobs, words[1])
	case arg == "stop":
		return nil, errors.New("usage: /loop stop ID, or /loop stop all; /loop lists the jobs")
	}
	every, prompt := interval(arg)
	if every == 0 {
		every = defaultEvery
	}
	return addJob(ctx, r, cron.Draft{Prompt: prompt, Every: every, AtOnce: true})
}

// runSchedule creates, lists or ends durable jobs.
func runSchedule(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
	jobs := r.Env.Schedule
	words := strings.Fields(arg)
	switch {
	case jobs == nil:
		return nil, errNoSchedule
	case len(words) == 0 || arg == "list":
		return jobsPage(ctx, r)
	case (words[0] == "delete" || words[0] == "stop") && len(words) == 2:
		return removeJob(ctx, jobs, words[1])
	}
	draft := cron.Draft{Durable: true, Prompt: arg}
	if words[0] == "once" {
		draft.Once = true
		draft.Prompt = strings.TrimSpace(strings.TrimPrefix(arg, "once"))
		words = words[1:]
	}
	const fields = 5
	n := fields
	if len(words) > 0 && strings.HasPrefix(words[0], "@") {
		n = 1
	}
	if len(words) <= n {
		return nil, errors.New("usage: /schedule MINUTE HOUR DAY MONTH WEEKDAY PROMPT, such as /schedule 0 9 * * mon-fri what changed since yesterday?")
	}
	draft.Cron = strings.Join(words[:n], " ")
	for range n {
		_, draft.Prompt = cutWord(draft.Prompt)
	}
	return addJob(ctx, r, draft)
}

// cutWord splits the first word off a text.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	i := strings.IndexAny(text, " \t\r\n")
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// interval splits an interval off a text: 5m, 1h30m, 2d or "every 10 minutes" at the beginning,
// or the latter at the end. It returns 0 if the text has no interval.
func interval(text string) (every time.Duration, prompt string) {
	word, rest := cutWord(text)
	if d := duration(word); d > 0 {
		return d, rest
	}
	if strings.EqualFold(word, "every") {
		if d, rest := spoken(rest); d > 0 {
			return d, rest
		}
	}
	if i := strings.LastIndex(text, " every "); i > 0 {
		if d, rest := spoken(text[i+len(" every "):]); d > 0 && rest == "" {
			return d, strings.TrimSpace(text[:i])
		}
	}
	return 0, text
}

// duration parses 5m, 1h30m or 2d. It returns 0 for anything else.
func duration(text string) time.Duration {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 0
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n <= 366 {
			return time.Duration(n) * 24 * time.Hour
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// spoken parses "10 minutes", "hour" or "5m" at the beginning of a text, and returns the rest.
// It returns 0 for anything else.
func spoken(text string) (time.Duration, string) {
	word, rest := cutWord(text)
	if d := duration(word); d > 0 {
		return d, rest
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		n = 1
	} else {
		word, rest = cutWord(rest)
	}
	const most = 366 * 24 * 60
	unit := map[string]time.Duration{
		"second": time.Second, "sec": time.Second, "minute": time.Minute, "min": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
	}[strings.TrimSuffix(strings.ToLower(word), "s")]
	if n < 1 || n > most || unit == 0 {
		return 0, text
	}
	return time.Duration(n) * unit, rest
}

// addJob creates a job, and reports when it runs.
func addJob(ctx context.Context, r *commands.Registry, draft cron.Draft) (commands.Answer, error) {
	if _, err := scheduled(ctx, r, draft.Prompt, false); err != nil {
		return nil, err
	}
	j, err := r.Env.Schedule.Add(ctx, draft)
	if err != nil {
		return nil, err
	}
	return commands.Say(describeJob(&j) + jobHelp(&j)), nil
}

// jobHelp explains how to end a job.
func jobHelp(j *cron.Job) string {
	if j.Durable {
		return " /schedule delete " + j.ID + " ends it."
	}
	return " /loop stop " + j.ID + " ends it."
}

// describeJob describes when a new job runs, where, and until when.
func describeJob(j *cron.Job) string {
	const layout = "2 January 15:04"
	text := fmt.Sprintf("Job %s runs %s", j.ID, j.When())
	if !j.Once {
		if fires := j.Fires(); fires.After(j.Made) {
			text += ", first on " + fires.Format(layout)
		}
		text += ", until " + j.Expires.Format(layout)
	}
	if j.Durable {
		return text + ", while a session is open in this directory."
	}
	return text + ", while this session is open."
}

// removeJob ends a job.
func removeJob(ctx context.Context, jobs commands.Schedule, id string) (commands.Answer, error) {
	j, err := jobs.Remove(ctx, id)
	if errors.Is(err, cron.ErrUnknown) {
		return nil, fmt.Errorf("%w; /loop lists the jobs", err)
	}
	if err != nil {
		return nil, err
	}
	return commands.Say(fmt.Sprintf("Ended job %s (%s: %s).", j.ID, j.When(), tool.OneLine(j.Prompt, 80))), nil
}

// stopLoops ends the session's jobs.
func stopLoops(ctx context.Context, jobs commands.Schedule) (commands.Answer, error) {
	all, err := jobs.List(ctx)
	n := 0
	for _, j := range all {
		if j.Durable {
			continue
		}
		if _, err := jobs.Remove(ctx, j.ID); err != nil {
			return nil, err
		}
		n++
	}
	if n == 0 && err == nil {
		return commands.Say("No loop is running."), nil
	}
	return commands.Say(fmt.Sprintf("Ended %s.", amount.Of(n, "job", "jobs"))), err
}

// jobsPage lists the jobs.
func jobsPage(ctx context.Context, r *commands.Registry) (commands.Answer, error) {
	jobs, err := r.Env.Schedule.List(ctx)
	var p commands.Page
	if err != nil {
		p.Add(commands.Notice(err.Error()))
	}
	if len(jobs) == 0 {
		p.Add(commands.Text("No prompt is scheduled. /loop 10m PROMPT repeats one while this session is open, /schedule CRON PROMPT also in later ones."))
		return p, nil
	}
	p.Add(Listed(jobs), commands.Text("/loop stop ID or /schedule delete ID ends one."))
	return p, nil
}

// Listed returns jobs as a table.
func Listed(jobs []cron.Job) commands.Table {
	table := commands.Table{Columns: []commands.Column{{Name: "id"}, {Name: "when"}, {Name: "next"}, {Name: "runs", Right: true}, {Name: "cost", Right: true}, {Name: "prompt", Cut: true}}}
	for _, j := range jobs {
		next := "never: " + j.Flaw
		if j.Flaw == "" {
			next = j.Fires().Format("2 Jan 15:04")
		}
		when := j.When()
		if !j.Durable {
			when += ", this session"
		}
		table.Rows = append(table.Rows, []string{j.ID, when, next, strconv.Itoa(j.Runs), amount.USD(j.CostUSD), tool.OneLine(j.Prompt, 200)})
	}
	return table
}

// scheduled returns the prompt to submit for a text: the text itself, or the prompt its command
// expands to. Unless run is true, the command is only looked up.
func scheduled(ctx context.Context, r *commands.Registry, text string, run bool) (session.Prompt, error) {
	said := session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}}
	name, arg, ok := commands.Parse(text)
	if !ok {
		return said, nil
	}
	c, ok := r.Lookup(name)
	switch {
	case !ok:
		_, err := r.Run(ctx, name, arg) // the error suggests similar commands
		return said, err
	case c.Kind != commands.Ask:
		return said, fmt.Errorf("/%s is not sent to the model, so that it cannot be scheduled", c.Name)
	case !run:
		return said, nil
	}
	answer, err := r.Run(ctx, name, arg)
	if err != nil {
		return said, err
	}
	p, ok := answer.(commands.Prompt)
	if !ok {
		return said, fmt.Errorf("/%s does not expand to a prompt", c.Name)
	}
	return p.Said(), nil
}
