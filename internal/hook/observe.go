package hook

import (
	"sync"
	"time"
)

// An Observer is called for every run of a hook. Its methods are called from several goroutines
// and must not block.
type Observer interface {
	HookStarted(Run)
	HookProgress(Run, Streams)
	HookDone(Run, Report)
}

// A Run is one run of a hook.
type Run struct {
	ID     string
	Name   string // such as "PreToolUse:Bash"
	Event  Name
	Status string // text to show while it runs
}

// Streams holds a hook's output, so far or in total.
type Streams struct{ Stdout, Stderr string }

// A Report describes how a run ended. Outcome is "success", "error" or "cancelled".
type Report struct {
	Streams
	// ExitCode is nil if the hook was not a process or did not exit by itself.
	ExitCode *int
	Outcome  string
	// Reason explains why it blocked or failed.
	Reason   string
	Duration time.Duration
}

func (res *result) report() Report {
	rep := Report{
		Streams: Streams{res.stdout, res.stderr}, ExitCode: res.code, Outcome: "success", Reason: res.reason, Duration: res.duration,
	}
	if res.out.suppress {
		rep.Stdout = ""
	}
	switch {
	case res.status == cancelled || res.late:
		rep.Outcome = "cancelled"
	case res.status != succeeded:
		rep.Outcome = "error"
	}
	return rep
}

// news reports a running hook's output to the observer, at most once a second. A hook that ends
// sooner only reports its end.
type news struct {
	job            *job
	observer       Observer
	stdout, stderr capture

	mu   sync.Mutex
	last time.Time
}

const newsInterval = time.Second

// of returns a writer that stores data in c and reports it.
func (n *news) of(c capture) *reporter { return &reporter{c, n} }

type reporter struct {
	capture
	news *news
}

func (w *reporter) Write(p []byte) (int, error) {
	n, err := w.capture.Write(p)
	w.news.spread()
	return n, err
}

func (n *news) spread() {
	if n.observer == nil {
		return
	}
	now := time.Now()
	n.mu.Lock()
	due := now.Sub(n.last) >= newsInterval
	if due {
		n.last = now
	}
	n.mu.Unlock()
	if due {
		n.observer.HookProgress(n.job.run, Streams{n.stdout.glance(), n.stderr.glance()})
	}
}

// glance returns the start of the output so far.
func (c capture) glance() string { return firstRunes(string(c.Head(4*preview)), preview) }
