package schedule

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"adze/internal/domain/cron"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// title names a job, such as "/loop every 10 minutes".
func title(j cron.Job) string {
	command := "/schedule "
	if j.Every > 0 {
		command = "/loop "
	}
	return command + j.When()
}

// brief returns the beginning of a prompt.
func brief(j cron.Job) string { return tool.OneLine(j.Prompt, 200) }

// begun describes the job of a turn and the cost of its runs.
func begun(f cron.DueJob) string {
	var about []string
	if !f.Once {
		about = append(about, fmt.Sprintf("run %d", f.Runs+1))
	}
	if f.Runs > 0 {
		about = append(about, amount.USD(f.CostUSD)+" so far")
	}
	if f.Late > 0 {
		about = append(about, late(f.Late)+" late")
	}
	text := title(f.Job) + ": " + brief(f.Job)
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	return text
}

func late(d time.Duration) string {
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// missed reports that a job is skipped because it is too late.
func missed(f cron.DueJob) string {
	text := fmt.Sprintf("%s: %s was due %s ago and is not run.", title(f.Job), brief(f.Job), late(f.Late))
	if f.Ended {
		return text
	}
	next := f.Fires()
	return text + " It runs next on " + next.Format("2 January at 15:04") + "."
}

// expired reports that a job has reached its maximum age.
func expired(f cron.DueJob) string {
	return fmt.Sprintf("%s: %s has ended, %s after it was made%s. Make it again if it is still needed.",
		title(f.Job), brief(f.Job), amount.Of(int(f.Expires.Sub(f.Made).Round(time.Hour)/(24*time.Hour)), "day", "days"), spent(f.Job))
}

// failing reports that a job has ended because of failures.
func failing(j cron.Job, why string) string {
	text := fmt.Sprintf("%s: %s has ended because it failed %d times in a row%s", title(j), brief(j), j.Failures, spent(j))
	if why != "" {
		text += ": " + tool.OneLine(why, 200)
	}
	return text
}

// spent describes the cost of a job's runs, if known.
func spent(j cron.Job) string {
	if j.CostUSD == 0 {
		return ""
	}
	return fmt.Sprintf("; its %s cost %s", amount.Of(j.Runs, "run", "runs"), amount.USD(j.CostUSD))
}
