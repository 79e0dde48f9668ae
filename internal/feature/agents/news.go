package agents

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/commands"
	"adze/internal/platform/proc/task"
	"adze/internal/session"
)

// A publisher publishes agent activity to the session's followers and tracks nested agents. It
// is safe for concurrent use.
type publisher struct {
	session func() *session.Session

	mu    sync.Mutex
	below map[string]session.Task // running nested agents, by ID
}

func newPublisher(s func() *session.Session) *publisher {
	return &publisher{session: s, below: map[string]session.Task{}}
}

// tell submits an op to the session.
func (b *publisher) tell(op session.Op) {
	b.session().Submit(context.Background(), op) // ok: a closed session needs no notification
}

// pass forwards an agent's events about its own agents and commands. id is the agent's ID.
func (b *publisher) pass(id string, ev session.Event) {
	switch ev := ev.(type) {
	case session.SubagentEvent:
		ev.Parent = cmp.Or(ev.Parent, id)
		b.tell(ev)
	case session.Task:
		ev.Parent = cmp.Or(ev.Parent, id)
		b.note(ev)
		b.tell(ev)
	}
}

// note records the state of a nested agent.
func (b *publisher) note(t session.Task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case t.News == session.TaskEnded:
		delete(b.below, t.ID)
	case t.Type != "":
		b.below[t.ID] = t
	}
}

// end reports the end of nested agents of id that have not reported it themselves: they were
// stopped with it.
func (b *publisher) end(id string) {
	b.mu.Lock()
	var left []session.Task
	for _, t := range b.below {
		if t.Parent == id {
			left = append(left, t)
		}
	}
	b.mu.Unlock()
	for _, t := range left {
		b.end(t.ID)
		t.News, t.Status, t.Summary = session.TaskEnded, task.Killed, "It was stopped with the agent that it worked for"
		b.note(t)
		b.tell(t)
	}
}

// working returns the running nested agents, for the user.
func (b *publisher) working() (list []commands.RunningAgent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(b.below)) {
		t := b.below[id]
		list = append(list, commands.RunningAgent{ID: id, Parent: t.Parent, Type: t.Type, Title: t.Title, Calls: t.Used.Calls, Last: doing(t.Summary, t.Doing)})
	}
	return list
}

// news publishes the agent's state.
func (x *run) news(kind session.TaskNews) {
	if x.spec.ForHook {
		return
	}
	x.mu.Lock()
	t := session.Task{
		Tool: x.activity.tool, Doing: x.activity.title, Used: session.TaskUse{Tokens: x.outcome.Tokens, Calls: x.activity.calls, Took: time.Since(x.began)},
		Status: x.status(), Summary: x.activity.summary,
	}
	if x.worker != nil {
		t.Used.Tokens = x.worker.Tokens()
		if x.worker.Cost != nil {
			t.Used.CostUSD = x.worker.Cost()
		}
	}
	x.mu.Unlock()
	if x.task != nil {
		of := session.TaskOf(x.task, kind)
		t.Status, t.Background, t.OutputFile = of.Status, of.Background, of.OutputFile
		if kind == session.TaskEnded {
			t.Summary = of.Summary
		}
	}
	if kind == session.TaskBegan {
		t.Prompt = x.prompt
	}
	t.ID, t.Title, t.Use, t.Type, t.Depth = x.spec.ID, x.spec.Title, x.use, x.kind, x.agents.cfg.Depth+1
	t.News, t.Chore = kind, x.spec.MemoryTask != nil
	x.agents.publisher.tell(t)
}

// status returns the state of an agent that is not in the task table. The lock is held.
func (x *run) status() task.Status {
	switch {
	case x.outcome.ID == "":
		return task.Running
	case x.err != nil:
		return task.Failed
	}
	return task.Completed
}

// Working returns the running agents and their activity, for the user, including nested ones.
func (a *Agents) Working() []commands.RunningAgent {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []commands.RunningAgent
	for _, id := range slices.Sorted(maps.Keys(a.runs)) {
		x := a.runs[id]
		x.mu.Lock()
		if !x.ended {
			list = append(list, commands.RunningAgent{ID: id, Type: x.kind, Title: x.spec.Title, Calls: x.activity.calls, Last: doing(x.activity.summary, x.activity.title)})
		}
		x.mu.Unlock()
	}
	return append(list, a.publisher.working()...)
}

// doing returns an agent's activity: the model's summary if there is one, otherwise its last
// step.
func doing(summary, last string) string {
	if summary = strings.TrimSpace(summary); summary != "" {
		return summary
	}
	return last
}
