// Package schedule keeps prompts that are due at certain times: when each is due, how late it is, when it ends, and which
// process may run it. What is done with a prompt that is due is left to others, and so are timers.
package schedule

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/platform/amount"
)

const (
	// MaxJobs is how many jobs there can be, and MaxPrompt the most bytes of a prompt.
	MaxJobs   = 50
	MaxPrompt = 8 << 10
	// MaxFailures is after how many failures in a row a job ends.
	MaxFailures = 3

	// minEvery and maxEvery bound the time between two runs.
	minEvery = time.Minute
	maxEvery = 366 * 24 * time.Hour
	// maxLate is how late a job may be run: one that was due before that is not.
	maxLate = 24 * time.Hour
	// noticed is how late a run is without a word about it.
	noticed = 2 * time.Minute
)

// A Draft is what a job is made of: a prompt, and either Cron or Every.
type Draft struct {
	Prompt string
	Cron   string
	Every  time.Duration
	// Once says that it is due a single time, the next one of Cron.
	Once bool
	// AtOnce says that a job with an interval is due for the first time at once.
	AtOnce bool
	// Durable says that the job outlives the session.
	Durable bool
	// ByModel says that a model has written the prompt.
	ByModel bool
}

// A Job is a prompt with the times when it is due.
type Job struct {
	ID      string        `json:"id"`
	Prompt  string        `json:"prompt"`
	Cron    string        `json:"cron,omitempty"`
	Every   time.Duration `json:"every,omitempty"`
	Once    bool          `json:"once,omitempty"`
	ByModel bool          `json:"byModel,omitempty"`
	Made    time.Time     `json:"made"`
	// Due is the time that the next run is for; see [Job.Fires]. Last is when the last one began, and Expires when the job
	// ends; both may be zero.
	Due     time.Time `json:"due"`
	Last    time.Time `json:"last,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	// Runs counts the runs that are over, and Failures those that failed since one did not. CostUSD is what they have cost.
	Runs     int     `json:"runs,omitempty"`
	Failures int     `json:"failures,omitempty"`
	CostUSD  float64 `json:"costUSD,omitempty"`

	Durable bool `json:"-"`
	// Flaw is why the job cannot run: its entry in the file is wrong. It is empty if there is none.
	Flaw string `json:"-"`
}

// newJob returns the job of a draft. If it recurs, it ends at that age.
func newJob(d Draft, now time.Time, age time.Duration) (Job, error) {
	d.Prompt = strings.TrimSpace(d.Prompt)
	switch {
	case d.Prompt == "":
		return Job{}, errors.New("there is no prompt to run")
	case len(d.Prompt) > MaxPrompt:
		return Job{}, fmt.Errorf("the prompt is longer than %d bytes; put what it says into a file and refer to that", MaxPrompt)
	case !utf8.ValidString(d.Prompt):
		return Job{}, errors.New("the prompt is no text")
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

// check returns what is wrong with the times of a job, or nil.
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

// Fires returns when the job runs next: when it is due or, if it recurs by a cron expression, later by up to a tenth of the
// time between two runs and at most 15 minutes. That is always as much for a job, but not the same for all, so that they do
// not all run at the full hour. It is zero for a job that cannot run.
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

// When says in words when the job runs, such as "every 10 minutes".
func (j *Job) When() string {
	switch {
	case j.Once:
		return "once, " + j.Due.Format("2 January 15:04")
	case j.Cron != "":
		return j.Cron
	}
	return "every " + strings.TrimPrefix(period(j.Every), "1 ")
}

// period returns a time between two runs in words.
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

// A Verdict says what becomes of a job that is due.
type Verdict uint8

const (
	// Run runs the prompt.
	Run Verdict = iota
	// Missed does not run it: it was due too long ago.
	Missed
	// Expired does not run it, and ends the job.
	Expired
)

// A Result is what came of a run.
type Result uint8

// The results. A run that the user interrupted has neither succeeded nor failed.
const (
	Succeeded Result = iota
	Failed
	Interrupted
)

// A Firing is a job whose time has come.
type Firing struct {
	Job // as it is from now on
	Verdict
	// Late is how long ago it should have run; 0 if it is hardly late.
	Late time.Duration
	// Ended says that the job is no more.
	Ended bool
}

// fire returns what becomes of a job at a time, and changes the job to when it is due next. It reports false if the job
// is not due.
func (j *Job) fire(now time.Time) (f Firing, due bool) {
	at := j.Fires()
	if at.IsZero() || now.Before(at) {
		return Firing{}, false
	}
	if f.Late = now.Sub(at); f.Late <= noticed {
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
		j.Due = j.Due.Add(j.Every * (1 + now.Sub(j.Due)/j.Every)) // those that were missed in between are left out
	}
	f.Job = *j
	return f, true
}

// heal lets a job be due again after the clock was wrong: a job that has last run in the future is due when it would be if
// it were made now. It reports whether that changes the job.
func (j *Job) heal(now time.Time) bool {
	const wrong = time.Hour
	if j.Once || j.Last.Sub(now) <= wrong {
		return false
	}
	j.Due, j.Last = j.next(now), now
	return true
}
