// Package cron stores prompts that are due at certain times. It computes when each is due,
// how late it is and when it expires, and ensures that only one process runs it.
package cron

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/platform/text/amount"
)

const (
	// MaxJobs is the maximum number of jobs, and MaxPrompt the maximum prompt size in bytes.
	MaxJobs   = 50
	MaxPrompt = 8 << 10
	// MaxFailures is the number of consecutive failures after which a job ends.
	MaxFailures = 3

	// minEvery and maxEvery bound the interval between two runs.
	minEvery = time.Minute
	maxEvery = 366 * 24 * time.Hour
	// maxLate is how late a job may still run; later ones are missed.
	maxLate = 24 * time.Hour
	// lateThreshold is how late a run may be without being reported as late.
	lateThreshold = 2 * time.Minute
)

// A Draft describes a job to create: a prompt, and either Cron or Every.
type Draft struct {
	Prompt string
	Cron   string
	Every  time.Duration
	// If Once is true, it is due only at the next time of Cron.
	Once bool
	// If AtOnce is true, a job with an interval is due immediately the first time.
	AtOnce bool
	// If Durable is true, the job outlives the session.
	Durable bool
	// ByModel is true if a model wrote the prompt.
	ByModel bool
}

// A Job is a scheduled prompt.
type Job struct {
	ID      string        `json:"id"`
	Prompt  string        `json:"prompt"`
	Cron    string        `json:"cron,omitempty"`
	Every   time.Duration `json:"every,omitempty"`
	Once    bool          `json:"once,omitempty"`
	ByModel bool          `json:"byModel,omitempty"`
	Made    time.Time     `json:"made"`
	// Due is the nominal time of the next run; see [Job.Fires]. Last is when the last run
	// began, and Expires when the job ends; both may be zero.
	Due     time.Time `json:"due"`
	Last    time.Time `json:"last,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	// Runs counts the finished runs, and Failures the consecutive failures. CostUSD is their
	// total cost.
	Runs     int     `json:"runs,omitempty"`
	Failures int     `json:"failures,omitempty"`
	CostUSD  float64 `json:"costUSD,omitempty"`

	Durable bool `json:"-"`
	// Flaw is the reason the job can't run: its entry in the file is invalid. Empty if it is
	// valid.
	Flaw string `json:"-"`
}

// newJob creates the job for a draft. A recurring job expires after age.
func newJob(d Draft, now time.Time, age time.Duration) (Job, error) {
	d.Prompt = strings.TrimSpace(d.Prompt)
	switch {
	case d.Prompt == "":
		return Job{}, errors.New("no prompt to run")
	case len(d.Prompt) > MaxPrompt:
		return Job{}, fmt.Errorf("the prompt is longer than %d bytes; put it into a file and refer to that", MaxPrompt)
	case !utf8.ValidString(d.Prompt):
		return Job{}, errors.New("the prompt is not valid UTF-8")
	}
	j := Job{Prompt: d.Prompt, Cron: strings.Join(strings.Fields(d.Cron), " "), Every: d.Every, Once: d.Once, ByModel: d.ByModel, Durable: d.Durable, Made: now}
	if err := j.check(); err != nil {
		return Job{}, err
	}
	var id [4]byte
	rand.Read(id[:])
	j.ID = hex.EncodeToString(id[:])
	if j.Due = j.next(now); d.AtOnce && d.Every > 0 {
		j.Due = now
	}
	if !j.Once {
		j.Expires = now.Add(age)
		if fires := j.Fires(); !fires.Before(j.Expires) {
			return Job{}, fmt.Errorf("it would run on %s for the first time, and a job that recurs ends after %s; the setting schedule.days makes that longer", fires.Format("2 January 2006"), period(age))
		}
	}
	return j, nil
}

// check returns an error if the job's times are invalid.
func (j *Job) check() error {
	switch {
	case j.Cron != "" && j.Every != 0:
		return errors.New("it has both a cron expression and an interval")
	case j.Cron != "":
		_, err := ParseCron(j.Cron)
		return err
	case j.Every < minEvery || j.Every > maxEvery:
		return fmt.Errorf("the interval is %s; it can be from %s to %s", period(j.Every), period(minEvery), period(maxEvery))
	}
	return nil
}

// next returns the first time after t that the job is due.
func (j *Job) next(t time.Time) time.Time {
	if j.Cron == "" {
		return t.Add(j.Every)
	}
	c, err := ParseCron(j.Cron)
	if err != nil {
		return time.Time{} // ok: it was checked
	}
	return c.Next(t)
}

// Fires returns when the job runs next: its due time or, for a recurring cron job, later by up
// to a tenth of the interval and at most 15 minutes. This jitter is constant for a job but
// differs between jobs, so that they do not all run on the hour. It is zero for a job that
// can't run.
func (j *Job) Fires() time.Time {
	switch {
	case j.Flaw != "":
		return time.Time{}
	case j.Once || j.Cron == "":
		return j.Due
	}
	const most, steps = 15 * time.Minute, 1000
	span := min(j.next(j.Due).Sub(j.Due)/10, most)
	h := fnv.New32a()
	h.Write([]byte(j.ID))
	return j.Due.Add((span / steps * time.Duration(h.Sum32()%steps)).Truncate(time.Second))
}

// When returns a description of the schedule, such as "every 10 minutes".
func (j *Job) When() string {
	switch {
	case j.Once:
		return "once, " + j.Due.Format("2 January 15:04")
	case j.Cron != "":
		return j.Cron
	}
	return "every " + strings.TrimPrefix(period(j.Every), "1 ")
}

// period returns a human-readable interval.
func period(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day && d%day == 0:
		return amount.Of(int(d/day), "day", "days")
	case d >= time.Hour && d%time.Hour == 0:
		return amount.Of(int(d/time.Hour), "hour", "hours")
	case d >= time.Minute && d%time.Minute == 0 && d < 2*time.Hour:
		return amount.Of(int(d/time.Minute), "minute", "minutes")
	}
	if text, whole := strings.CutSuffix(d.String(), "m0s"); whole {
		return text + "m"
	}
	return d.String()
}

// A Verdict is the decision about a due job.
type Verdict uint8

const (
	// Run means that the prompt is run.
	Run Verdict = iota
	// Missed means that it is not run because it was due too long ago.
	Missed
	// Expired means that it is not run and the job ends.
	Expired
)

// A Result is the outcome of a run.
type Result uint8

// The results. A run interrupted by the user neither succeeded nor failed.
const (
	Succeeded Result = iota
	Failed
	Interrupted
)

// A DueJob is a job that is due.
type DueJob struct {
	Job // updated state
	Verdict
	// Late is the delay; 0 if negligible.
	Late time.Duration
	// Ended is true if the job has been removed.
	Ended bool
}

// fire returns the verdict on a job at a time, and advances the job to its next due time. It
// returns false if the job is not due.
func (j *Job) fire(now time.Time) (f DueJob, due bool) {
	at := j.Fires()
	if at.IsZero() || now.Before(at) {
		return DueJob{}, false
	}
	if f.Late = now.Sub(at); f.Late <= lateThreshold {
		f.Late = 0
	}
	switch {
	case !j.Once && !now.Before(j.Expires):
		f.Verdict = Expired
	case f.Late > maxLate:
		f.Verdict = Missed
	default:
		j.Last = now
	}
	f.Ended = j.Once || f.Verdict == Expired
	switch {
	case f.Ended:
	case j.Cron != "":
		j.Due = j.next(now)
	default:
		j.Due = j.Due.Add(j.Every * (1 + now.Sub(j.Due)/j.Every)) // skip the missed runs in between
	}
	f.Job = *j
	return f, true
}

// heal fixes a job after the clock was wrong: if its last run is in the future, it is
// rescheduled as if created now. It reports whether the job changed.
func (j *Job) heal(now time.Time) bool {
	const wrong = time.Hour
	if j.Once || j.Last.Sub(now) <= wrong {
		return false
	}
	j.Due, j.Last = j.next(now), now
	return true
}
