package subagents

import (
	"context"
	"sync/atomic"
	"time"

	"adze/internal/session"
	"adze/internal/tool"
)

// summaryEvery is how often a model says what an agent is doing.
const summaryEvery = 30 * time.Second

// maxSteps and maxStep bound what is kept of what an agent did for the next summary: how many steps, and characters of each.
const maxSteps, maxStep = 12, 200

// Summaries say from time to time what the agents of a session are doing. Nil does not. They are safe for concurrent use.
type Summaries struct {
	// Tell returns what an agent is doing, given its task and its last steps, or ""; nil if no model can be asked.
	Tell func(ctx context.Context, task string, steps []string) string

	wanted atomic.Bool
}

// Want says whether summaries are made though the settings do not ask for them.
func (s *Summaries) Want(on bool) { s.wanted.Store(on) }

// step notes a step of the agent. The lock is held.
func (a *activity) step(text string) {
	if len(a.steps) == maxSteps {
		a.steps = a.steps[1:]
	}
	a.steps = append(a.steps, tool.OneLine(text, maxStep))
	a.fresh = true
}

// summarise tells from time to time what the agent is doing, until ctx is done: not while nothing happens.
func (x *run) summarise(ctx context.Context) {
	s := x.agents.cfg.Summaries
	if s == nil || s.Tell == nil || x.birth.Keeper != nil || x.birth.Check {
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
			x.summarised(s.Tell(ctx, x.birth.Title, steps))
		}
	}
}

// unsummarised returns the last steps of the agent if there were some since the last call.
func (x *run) unsummarised() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.activity.fresh {
		return nil
	}
	x.activity.fresh = false
	return append([]string(nil), x.activity.steps...)
}

// summarised keeps and tells what the agent is doing; "" is nothing new.
func (x *run) summarised(text string) {
	if text == "" {
		return
	}
	x.mu.Lock()
	x.activity.summary = text
	x.mu.Unlock()
	x.news(session.TaskWorks)
}
