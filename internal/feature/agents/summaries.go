package agents

import (
	"context"
	"sync/atomic"
	"time"

	"adze/internal/session"
	"adze/internal/tool"
)

// summaryEvery is the interval between summaries of an agent's activity.
const summaryEvery = 30 * time.Second

// maxSteps and maxStep limit the input of a summary: the number of steps, and the characters of
// each.
const maxSteps, maxStep = 12, 200

// Summaries periodically describes the activity of a session's agents. Nil disables it. It is
// safe for concurrent use.
type Summaries struct {
	// Tell returns a summary of an agent's activity, given its task and last steps, or ""; nil
	// if no model is available.
	Tell func(ctx context.Context, task string, steps []string) string

	wanted atomic.Bool
}

// Want sets whether summaries are made even if the settings don't enable them.
func (s *Summaries) Want(on bool) { s.wanted.Store(on) }

// step records a step of the agent. The lock is held.
func (a *activity) step(text string) {
	if len(a.steps) == maxSteps {
		a.steps = a.steps[1:]
	}
	a.steps = append(a.steps, tool.OneLine(text, maxStep))
	a.fresh = true
}

// summarise periodically publishes a summary of the agent's activity until ctx is done,
// skipping idle periods.
func (x *run) summarise(ctx context.Context) {
	s := x.agents.cfg.Summaries
	if s == nil || s.Tell == nil || x.spec.MemoryTask != nil || x.spec.ForHook {
		return
	}
	tick := time.NewTicker(summaryEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !s.wanted.Load() && !x.agents.cfg.Settings().Summaries {
			continue
		}
		if steps := x.unsummarised(); len(steps) > 0 {
			x.summarised(s.Tell(ctx, x.spec.Title, steps))
		}
	}
}

// unsummarised returns the agent's last steps if there were any since the last call.
func (x *run) unsummarised() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.activity.fresh {
		return nil
	}
	x.activity.fresh = false
	return append([]string(nil), x.activity.steps...)
}

// summarised stores and publishes a summary; "" means nothing new.
func (x *run) summarised(text string) {
	if text == "" {
		return
	}
	x.mu.Lock()
	x.activity.summary = text
	x.mu.Unlock()
	x.news(session.TaskWorks)
}
