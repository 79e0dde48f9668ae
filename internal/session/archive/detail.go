package archive

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/session/store"
)

// A Detail is what is counted besides, for a closer look.
type Detail struct {
	// Failed are tools by how many of their calls failed or were refused.
	Failed []Use
	// Hours are prompts by the hour of the day.
	Hours [24]int
	// Projects are the directories in which sessions began, by what they cost.
	Projects []ProjectUse
	// Calls are those that were made in the directory of [StatsOptions.Calls], by how often they were.
	Calls []CallUse
}

// A ProjectUse is what was done in a project.
type ProjectUse struct {
	Dir string
	Work
}

// A Call is a tool and its input.
type Call struct{ Tool, Input string }

// A CallUse says how often a call was made.
type CallUse struct {
	Call
	Times int
}

const (
	maxCalls     = 20_000 // that are told apart
	maxInputSize = 2000   // of one that is, in bytes
)

// A closeCount is what was counted of the detail.
type closeCount struct {
	failed   map[string]int
	hours    [24]int
	projects map[string]Work
	calls    map[Call]int
}

func newCloseCount() *closeCount {
	return &closeCount{failed: map[string]int{}, projects: map[string]Work{}, calls: map[Call]int{}}
}

func (c *closeCount) add(more *closeCount) {
	for name, n := range more.failed {
		used(c.failed, name, n)
	}
	for h, n := range more.hours {
		c.hours[h] += n
	}
	for dir, w := range more.projects {
		if _, known := c.projects[dir]; known || len(c.projects) < maxNames {
			book(c.projects, dir, w)
		}
	}
	for call, n := range more.calls {
		c.called(call, n)
	}
}

// called counts a call, if there are not too many.
func (c *closeCount) called(call Call, times int) {
	if _, known := c.calls[call]; known || len(c.calls) < maxCalls && len(call.Input) <= maxInputSize {
		c.calls[call] += times
	}
}

// A closeLook looks closely at one session.
type closeLook struct {
	*closeCount
	wanted string            // the directory whose calls are counted
	dir    string            // in which the session began
	made   map[string]string // the tools of calls without a result, by the ids
}

// message counts what a message holds; prompt says that it is one.
func (l *closeLook) message(at time.Time, rec *store.Record, parts []msg.Part, prompt bool) {
	if l.dir == "" && len(rec.Dir) <= maxNameSize {
		l.dir = strings.Clone(rec.Dir)
	}
	if prompt {
		l.hours[at.Hour()]++
		l.spent(Work{Prompts: 1})
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.ToolUse:
			l.made[p.ID] = p.Name
			if rec.Dir == l.wanted && l.wanted != "" {
				l.called(Call{strings.Clone(p.Name), string(p.Input)}, 1)
			}
		case *msg.ToolResult:
			if name := l.made[p.ID]; name != "" && p.IsError {
				used(l.failed, name, 1)
			}
			delete(l.made, p.ID)
		}
	}
}

// spent counts work of the project.
func (l *closeLook) spent(w Work) {
	if _, known := l.projects[l.dir]; l.dir != "" && (known || len(l.projects) < maxNames) {
		book(l.projects, l.dir, w)
	}
}

// detail returns the counts in order.
func (c *closeCount) detail() *Detail {
	if c == nil {
		return nil
	}
	d := &Detail{Failed: byTimes(c.failed), Hours: c.hours}
	for _, dir := range slices.Sorted(maps.Keys(c.projects)) {
		d.Projects = append(d.Projects, ProjectUse{dir, c.projects[dir]})
	}
	slices.SortStableFunc(d.Projects, func(a, b ProjectUse) int {
		return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.Prompts, a.Prompts))
	})
	for call, n := range c.calls {
		d.Calls = append(d.Calls, CallUse{call, n})
	}
	slices.SortFunc(d.Calls, func(a, b CallUse) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.Input, b.Input), strings.Compare(a.Tool, b.Tool))
	})
	return d
}
