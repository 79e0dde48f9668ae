// Package transcript shows what happens in a session as rows: what was said, calls with their outcomes, and what goes on
// just now. Rows that are final are given out once; a few live ones change. All of it is kept for a pager. It knows kinds
// of display and no tools. Where rows go, and when, is left to the caller.
package transcript

import (
	"slices"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/platform/amount"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
	"adze/internal/ui/screen"
)

// A Config says how a transcript looks. The zero value will do for a test.
type Config struct {
	Glyphs draw.Glyphs // the zero value means [draw.Unicode]
	// Marks and Links are those of [markdown.Stream].
	Marks, Links bool
	// Dir is the working directory: paths in it are shown relative to it.
	Dir string
	// Thinking reports whether to show what the model thinks, and not only that it does; nil means no.
	Thinking func() bool
	// Verbose shows all that commands print.
	Verbose bool
	// Explain returns what an error means to the user; it may be nil.
	Explain func(err error) string
	// ModelName returns the name of a model for the user; it may be nil.
	ModelName func(name string) string
	// PlanFile returns the file of the plan, whose changes are shown when the plan is presented; it may be nil.
	PlanFile func() string
	// Keys returns the keys that hints name; it may be nil.
	Keys func() Keys
	// WarnUSD returns the cost of a session at which the user is warned, once; 0 means never. It may be nil.
	WarnUSD func() float64
	// Now returns the time; nil means [time.Now].
	Now func() time.Time
}

// Keys are the names of keys that hints name. An empty one is not hinted at.
type Keys struct {
	Stop       string // stops the turn
	Background string // moves a command to the background
	All        string // shows all there is
}

// A Transcript is the record of a session. It belongs to one goroutine.
type Transcript struct {
	record
	response
	calls    calls
	activity activity
	crew     crew
	asked    int                   // questions that wait for an answer
	waiting  map[string]string     // uses that wait for the answer to a question, by the id of the question
	shown    map[string][]draw.Row // subjects of questions, by the use that they are about
	// checklist is the task list, if it changed in this turn.
	checklist tool.Checklist
	held      []agent.ToolDone // calls that ended during a question, which stays below its subject
}

// New returns an empty transcript.
func New(cfg Config) *Transcript {
	if cfg.Glyphs == (draw.Glyphs{}) {
		cfg.Glyphs = draw.Unicode()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Transcript{record: record{cfg: cfg}, shown: map[string][]draw.Row{}, waiting: map[string]string{}}
}

// Entry takes an entry of the session. Entries come in their order; live ones may be left out.
func (t *Transcript) Entry(e session.Entry) {
	t.response.count(e.Seq)
	switch ev := e.Event.(type) {
	case session.Started:
		t.begin()
		t.activity.phase("Working", t.cfg.Now())
	case session.Loop:
		t.event(ev.Event)
	case session.Task:
		t.task(ev)
	case session.Asked:
		t.asked++
		if q, ok := ev.Question.(session.Permission); ok {
			t.waiting[ev.ID] = q.ID
		}
	case session.Settled:
		t.asked = max(0, t.asked-1)
		if c := t.calls.find(t.waiting[ev.ID]); c != nil { // it runs from now on
			c.began = t.cfg.Now()
		}
		delete(t.waiting, ev.ID)
		if t.asked == 0 {
			t.release()
		}
	case session.Finished:
		t.release()
		t.finished(ev)
	case session.Changed:
		if ev.Model != "" && t.cfg.ModelName != nil {
			t.Say("The model is now " + t.cfg.ModelName(ev.Model) + ".")
		}
	}
}

// release shows the calls that ended during a question.
func (t *Transcript) release() {
	for _, ev := range t.held {
		t.done(ev)
	}
	t.held = nil
}

// event takes an event of the loop.
func (t *Transcript) event(ev agent.Event) {
	now := t.cfg.Now()
	switch ev := ev.(type) {
	case agent.Requesting:
		t.begin()
		t.activity.phase("Waiting for the model", now)
	case agent.Delta:
		t.delta(ev.Event)
	case agent.Withdrawn:
		t.withdraw()
	case agent.Appended:
		t.appended(ev.Entry)
	case agent.ToolStarted:
		t.calls = append(t.calls, &call{ToolStarted: ev, began: now})
	case agent.ToolProgress:
		if c := t.calls.find(ev.ID); c != nil {
			c.progress(ev.Display)
		}
	case agent.ToolDone:
		if t.asked > 0 {
			t.held = append(t.held, ev)
			return
		}
		t.done(ev)
		t.activity.phase("Working", now)
	case agent.Retrying:
		t.activity.retry(ev.Retrying, now)
	case agent.Notice:
		if ev.Compacting { // what comes of it is told when it is done
			t.activity.phase("Summarising the conversation", now)
			return
		}
		role := draw.Faint
		if ev.Warning {
			role = draw.Warning
		}
		t.put(&note{role: role, text: ev.Text})
	case agent.Compacted:
		text := "The conversation was shortened from about " + tokens(ev.Before) + " to " + tokens(ev.After) + "."
		if ev.Cleared {
			text = "The conversation starts over; what was said before is kept on disk."
		}
		t.put(&note{role: draw.Faint, text: text})
	case agent.Failed:
		t.failed(ev.Err)
	}
}

// Rows returns the live rows: what is written just now, and what goes on. They are what follows the rows that [Final] has
// returned, so it is called first.
func (t *Transcript) Rows(w, h int) []draw.Row {
	v := t.view(w)
	var rows []draw.Row
	last := t.last
	for _, p := range t.queue {
		live := p.live(v, p.closed)
		if len(live) == 0 {
			continue
		}
		if !p.begun && last != nothing && apart(last, p.group()) {
			rows = append(rows, nil)
		}
		rows, last = append(rows, live...), p.group()
	}
	below := t.goings(v, min(h, maxBelow))
	if last != nothing && (len(below) == 0 || apart(last, callGroup)) {
		below = append([]draw.Row{nil}, below...)
	}
	below = below[:min(len(below), h)]
	if over := len(rows) + len(below) - h; over > 0 {
		rows = rows[over:]
	}
	rows = append(rows, below...)
	for i, row := range rows {
		rows[i] = v.cut(row, v.w)
	}
	return rows
}

// Bounds of the live rows: their width, and the number of progress rows.
const (
	maxLive  = screen.Widest
	maxBelow = 12
	maxTasks = 5
)

// Settle makes what there is final, before the terminal is left to another program.
func (t *Transcript) Settle() {
	t.settle()
	for _, p := range t.queue {
		p.closed = true
	}
}

// goings returns the rows about what goes on: calls, sub-agents, or what the model does. None is shown beside a question.
func (t *Transcript) goings(v view, h int) []draw.Row {
	if t.asked > 0 {
		return nil
	}
	var list []draw.Row
	if len(t.checklist) > 0 {
		list = (&checklist{t.checklist}).rows(v, maxTasks)
	}
	rows := t.calls.rows(v, max(1, h-len(list)), t.crew)
	waits := len(rows) > 0 || slices.ContainsFunc(t.crew, func(h *helper) bool { return !h.Background })
	if rows = append(rows, t.crew.rows(v)...); !waits {
		rows = append(rows, t.activity.rows(v)...)
	}
	return append(list, rows...)
}

// Began shows that something runs for the user beside the turn, such as a command that was typed, until it is over.
func (t *Transcript) Began(id, title string) {
	t.calls = append(t.calls, &call{ToolStarted: agent.ToolStarted{Use: &msg.ToolUse{ID: id}, Title: title, Object: title}, began: t.cfg.Now(), beside: true})
}

// Progress shows what it prints.
func (t *Transcript) Progress(id string, d tool.Display) {
	if c := t.calls.find(id); c != nil {
		c.progress(d)
	}
}

// Over says that it has ended. What came of it is shown by the caller.
func (t *Transcript) Over(id string) { t.calls.forget(id) }

// Shown notes that a question showed its subject, so that the change is not shown again.
func (t *Transcript) Shown(use string, subject []draw.Row) { t.shown[use] = subject }

// finished shows how a turn ended, unless it was completed.
func (t *Transcript) finished(ev session.Finished) {
	t.Settle()
	t.activity = activity{}
	t.calls = slices.DeleteFunc(t.calls, func(c *call) bool { return !c.beside })
	t.shown = map[string][]draw.Row{}
	t.asked = 0
	if len(t.checklist) > 0 {
		t.put(&checklist{t.checklist})
		t.checklist = nil
	}
	if o := ev.Local; o != nil && o.Err != nil {
		t.Fail(o.Err)
	} else if o != nil && o.Markdown {
		t.put(&letter{text: o.Text})
	} else if o != nil {
		t.Say(o.Text)
	}
	switch {
	case ev.Reason.OK(), ev.Err != nil: // the error was shown already
	case ev.Reason == agent.AbortedTools && ev.Detail != "": // the user said no
		t.faint("What next?")
	case ev.Unsaid:
		t.faint("Cancelled. Your message is back in the input.")
	case ev.Reason.Aborted():
		t.faint("Stopped. What next?")
	case ev.Detail != "":
		t.Say(ev.Detail)
	default:
		t.Say("The turn ended: " + strings.ReplaceAll(string(ev.Reason), "_", " ") + ".")
	}
	if ev.Took >= longTurn && ev.After.Usage.Output > ev.Before.Usage.Output {
		t.faint("Took " + elapsed(ev.Took) + ".")
	}
	if t.cfg.WarnUSD == nil {
		return
	}
	if limit := t.cfg.WarnUSD(); limit > 0 && ev.Before.CostUSD < limit && ev.After.CostUSD >= limit {
		t.put(&note{role: draw.Warning, text: "This session has cost " + amount.USD(ev.After.CostUSD) + " so far. /cost shows the details."})
	}
}

// longTurn is how long a turn has to take for that to be said.
const longTurn = 30 * time.Second
