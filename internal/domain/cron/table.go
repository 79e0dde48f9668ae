package cron

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/fs/replace"
)

// Config configures a Table. Now and MaxAge are required.
type Config struct {
	// File stores the durable jobs, for all processes; if empty, durable jobs are disabled.
	// Locks is a directory for locks.
	File, Locks string
	Now         func() time.Time
	// MaxAge returns the age at which a recurring job expires.
	MaxAge func() time.Duration
}

// A Table holds a session's jobs and, shared with other processes, a project's durable jobs. A
// due job is taken once, by one process: if that process is killed before running it, no other
// process does. A Table is safe for concurrent use.
type Table struct {
	cfg   Config
	locks *replace.Replacer

	mu     sync.Mutex
	jobs   []Job // session jobs
	kept   []Job // durable jobs as last read
	seen   stamp // stamp of the file
	broken error // the reason the file is unreadable
}

// New returns a table. It reads nothing yet.
func New(c Config) *Table { return &Table{cfg: c, locks: replace.New(c.Locks)} }

// ErrUnknown is returned for an unknown job id.
var ErrUnknown = errors.New("no such job")

// Add creates a job.
func (t *Table) Add(ctx context.Context, d Draft) (Job, error) {
	j, err := newJob(d, t.cfg.Now(), t.cfg.MaxAge())
	if err != nil {
		return Job{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	full := func() error {
		if len(t.jobs)+len(t.kept) >= MaxJobs {
			return fmt.Errorf("there are %d jobs already; remove one first", MaxJobs)
		}
		return nil
	}
	if d.Durable {
		return j, t.update(ctx, func() (bool, error) {
			t.kept = append(t.kept, j)
			return true, nil
		}, full)
	}
	t.look()
	if err := full(); err != nil {
		return Job{}, err
	}
	t.jobs = append(t.jobs, j)
	return j, nil
}

// Remove removes the job with the given id or unique id prefix.
func (t *Table) Remove(ctx context.Context, id string) (Job, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look()
	j, err := pick(slices.Concat(t.jobs, t.kept), id)
	if err != nil || !j.Durable {
		t.jobs = slices.DeleteFunc(t.jobs, func(o Job) bool { return err == nil && o.ID == j.ID })
		return j, errors.Join(err, t.broken)
	}
	return j, t.update(ctx, func() (bool, error) {
		n := len(t.kept)
		t.kept = slices.DeleteFunc(t.kept, func(o Job) bool { return o.ID == j.ID })
		if len(t.kept) == n {
			return false, ErrUnknown // another process was first
		}
		return true, nil
	}, nil)
}

// pick returns the job with the given id or unique id prefix.
func pick(jobs []Job, id string) (Job, error) {
	var fit []Job
	for _, j := range jobs {
		if j.ID == id {
			return j, nil
		}
		if id != "" && strings.HasPrefix(j.ID, id) {
			fit = append(fit, j)
		}
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return Job{}, fmt.Errorf("%w: %q", ErrUnknown, clip(id))
	}
	return Job{}, fmt.Errorf("several jobs have an id that begins with %s; give more of it", id)
}

// List returns the jobs ordered by next run. If err is not nil, these are the known ones.
func (t *Table) List(ctx context.Context) ([]Job, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look()
	err := t.broken
	if err != nil {
		err = t.update(ctx, func() (bool, error) { return false, nil }, nil)
	}
	all := slices.Concat(t.jobs, t.kept)
	slices.SortStableFunc(all, func(a, b Job) int { return a.Fires().Compare(b.Fires()) })
	return all, err
}

// Next returns when the next job runs; zero without jobs.
func (t *Table) Next() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.look()
	var first time.Time
	for _, j := range slices.Concat(t.jobs, t.kept) {
		if at := j.Fires(); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Take returns the due jobs, each only once. Even if err is not nil, there may be some.
func (t *Table) Take(ctx context.Context) (due []DueJob, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.cfg.Now()
	t.jobs, due, _ = take(t.jobs, now)
	t.look()
	if _, _, changed := take(t.kept, now); !changed && t.broken == nil {
		return due, nil
	}
	var kept []DueJob
	err = t.update(ctx, func() (changed bool, _ error) {
		t.kept, kept, changed = take(t.kept, now)
		return changed, nil
	}, nil)
	if err != nil {
		return due, err // jobs that could not be recorded are not run: another process may run them
	}
	return append(due, kept...), nil
}

// take returns the remaining jobs in their updated state and the due ones. It reports whether
// any changed.
func take(jobs []Job, now time.Time) (left []Job, due []DueJob, changed bool) {
	for _, j := range jobs {
		changed = j.heal(now) || changed
		f, ok := j.fire(now)
		if ok {
			due = append(due, f)
		}
		if !ok || !f.Ended {
			left = append(left, j)
		}
	}
	return left, due, changed || len(due) > 0
}

// Done records a run's cost and result. It returns the updated job, and true if the job has
// ended because it failed too often.
func (t *Table) Done(ctx context.Context, j Job, costUSD float64, result Result) (_ Job, ended bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change := func(jobs []Job) ([]Job, bool) {
		i := slices.IndexFunc(jobs, func(o Job) bool { return o.ID == j.ID })
		if i < 0 {
			return jobs, false
		}
		o := &jobs[i]
		o.Runs++
		o.CostUSD += costUSD
		switch result {
		case Failed:
			o.Failures++
		case Succeeded:
			o.Failures = 0
		}
		j = *o
		if ended = o.Failures >= MaxFailures; ended {
			jobs = slices.Delete(jobs, i, i+1)
		}
		return jobs, true
	}
	if !j.Durable {
		t.jobs, _ = change(t.jobs)
		return j, ended, nil
	}
	if j.Once {
		return j, false, nil // removed in the meantime
	}
	err = t.update(ctx, func() (changed bool, _ error) {
		t.kept, changed = change(t.kept)
		return changed, nil
	}, nil)
	return j, ended, err
}
