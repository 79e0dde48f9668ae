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

// Detail holds the additional counts of a detailed report.
type Detail struct {
	// Failed lists tools by number of failed or denied calls.
	Failed []Use
	// Hours counts prompts by hour of the day.
	Hours [24]int
	// Projects lists the directories where sessions started, by cost.
	Projects []ProjectUse
	// Calls lists the calls made in the directory [StatsOptions.Calls], by frequency.
	Calls []CallUse
}

// ProjectUse is the work done in a project.
type ProjectUse struct {
	Dir string
	Work
}

// A Call is a tool and its input.
type Call struct{ Tool, Input string }

// CallUse is the number of times a call was made.
type CallUse struct {
	Call
	Times int
}

const (
	maxCalls     = 20_000 // limit on distinct calls
	maxInputSize = 2000   // limit on a call's input, in bytes
)

// detailCount accumulates a Detail.
type detailCount struct {
	failed   map[string]int
	hours    [24]int
	projects map[string]Work
	calls    map[Call]int
}

func newCloseCount() *detailCount {
	return &detailCount{failed: map[string]int{}, projects: map[string]Work{}, calls: map[Call]int{}}
}

func (c *detailCount) add(more *detailCount) {
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

// called counts a call unless the limit of distinct calls is reached.
func (c *detailCount) called(call Call, times int) {
	if _, known := c.calls[call]; known || len(c.calls) < maxCalls && len(call.Input) <= maxInputSize {
		c.calls[call] += times
	}
}

// A detailReader collects the detail of one session.
type detailReader struct {
	*detailCount
	wanted string            // the directory whose calls are counted
	dir    string            // the directory the session started in
	made   map[string]string // tools of calls without a result, by call ID
}

// message counts the contents of a message. The prompt flag marks a user prompt.
func (l *detailReader) message(at time.Time, rec *store.Record, parts []msg.Part, prompt bool) {
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

// spent adds w to the project.
func (l *detailReader) spent(w Work) {
	if _, known := l.projects[l.dir]; l.dir != "" && (known || len(l.projects) < maxNames) {
		book(l.projects, l.dir, w)
	}
}

// detail returns the sorted counts.
func (c *detailCount) detail() *Detail {
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
