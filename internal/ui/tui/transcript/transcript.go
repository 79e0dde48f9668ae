// Package transcript renders a session's events as rows: messages, calls with their outcomes,
// and current activity. Final rows are returned once; a few live rows change. Everything is
// kept for a pager.
package transcript

import (
	"slices"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// Config configures a Transcript. The zero value is sufficient for a test.
type Config struct {
	Glyphs draw.Glyphs // the zero value means [draw.Unicode]
	// Marks and Links are passed to [markdown.Stream].
	Marks, Links bool
	// Dir is the working directory. Paths in it are shown relative to it.
	Dir string
	// Thinking reports whether to show the text of the model's thinking; nil means no.
	Thinking func() bool
	// Verbose shows all command output.
	Verbose bool
	// Explain returns a user-facing explanation of an error; it may be nil.
	Explain func(err error) string
	// ModelName returns the display name of a model; it may be nil.
	ModelName func(name string) string
	// PlanFile returns the plan file, whose changes are shown when the plan is presented; it
	// may be nil.
	PlanFile func() string
	// Keys returns the keys named in hints; it may be nil.
	Keys func() Keys
	// WarnUSD returns the session cost at which the user is warned, once; 0 means never. It may
	// be nil.
	WarnUSD func() float64
	// Moving reports whether the glyph of the current activity moves; nil means no.
	Moving func() bool
	// Now returns the time; nil means [time.Now].
	Now func() time.Time
}

// Keys holds the names of keys for hints. An empty name disables the hint.
type Keys struct {
	Stop       string // stops the turn
	Background string // moves a command to the background
	All        string // shows the full transcript
}

// A Transcript is the record of a session. It is not safe for concurrent use.
type Transcript struct {
	record
	response
	calls    calls
	activity activity
	crew     runningTasks
	asked    int                   // number of open questions
	waiting  map[string]string     // tool uses that wait for an answer, by question ID
	shown    map[string][]draw.Row // subjects of questions, by tool use
	// checklist is the task list, if it changed in this turn.
	checklist tool.Checklist
	moves     bool // the last rows contain a moving glyph
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

// Entry handles an entry of the session. Entries arrive in order; live ones may be dropped.
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
		if c := t.calls.find(t.waiting[ev.ID]); c != nil { // the call starts running now
			c.began = t.cfg.Now()
		}
		delete(t.waiting, ev.ID)
	case session.Finished:
		t.finished(ev)
	case session.Changed:
		if ev.Model != "" && t.cfg.ModelName != nil {
			t.Say("The model is now " + t.cfg.ModelName(ev.Model) + ".")
		}
	}
}

// event handles an event of the agent loop.
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
		t.done(ev)
		t.activity.phase("Working", now)
	case agent.Retrying:
		t.activity.retry(ev.Retrying, now)
	case agent.Notice:
		if ev.Compacting { // the result is shown when it is done
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
			text = "Starting a new conversation; the previous one is saved on disk."
		}
		t.put(&note{role: draw.Faint, text: text})
	case agent.Failed:
		t.failed(ev.Err)
	}
}

// Rows returns the live rows: the text being written and the current activity. They follow the
// rows returned by [Final], which must be called first.
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
	below := t.activityRows(v, min(h, maxBelow))
	t.moves = v.moves && t.active()
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

// active reports whether the last rows show a current activity.
func (t *Transcript) active() bool {
	return t.asked == 0 && (t.activity.doing != "" || len(t.calls) > 0)
}

// Moves returns the time until a glyph in the last rows moves, or 0 if there is none.
func (t *Transcript) Moves() time.Duration {
	if !t.moves {
		return 0
	}
	return spinTime - time.Duration(t.cfg.Now().UnixNano())%spinTime
}

// Limits on the number of progress rows, and of rows of the task list.
const (
	maxBelow = 12
	maxTasks = 5
)

// Settle makes everything final before another program takes over the terminal.
func (t *Transcript) Settle() {
	t.settle()
	for _, p := range t.queue {
		p.closed = true
	}
}

// activityRows returns the rows about current activity: calls, sub-agents, or the model. It returns
// nothing while a question is open.
func (t *Transcript) activityRows(v view, h int) []draw.Row {
	if t.asked > 0 {
		return nil
	}
	var list []draw.Row
	if len(t.checklist) > 0 {
		list = (&checklist{t.checklist}).rows(v, maxTasks)
	}
	rows := t.calls.rows(v, max(1, h-len(list)), t.crew)
	waits := len(rows) > 0 || slices.ContainsFunc(t.crew, func(h *runningTask) bool { return !h.Background })
	if rows = append(rows, t.crew.rows(v)...); !waits {
		rows = append(rows, t.activity.rows(v)...)
	}
	return append(list, rows...)
}

// Began shows that something is running for the user alongside the turn, such as a typed
// command, until it is over.
func (t *Transcript) Began(id, title string) {
	t.calls = append(t.calls, &call{ToolStarted: agent.ToolStarted{Use: &msg.ToolUse{ID: id}, Title: title, Object: title}, began: t.cfg.Now(), beside: true})
}

// Progress shows its output.
func (t *Transcript) Progress(id string, d tool.Display) {
	if c := t.calls.find(id); c != nil {
		c.progress(d)
	}
}

// Over records that it has ended. The caller shows the result.
func (t *Transcript) Over(id string) { t.calls.forget(id) }

// Shown records that a question showed its subject, so that the change is not shown again.
func (t *Transcript) Shown(use string, subject []draw.Row) { t.shown[use] = subject }

// finished shows how a turn ended, unless it completed normally.
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
		t.put(&sideAnswer{text: o.Text})
	} else if o != nil {
		t.Say(o.Text)
	}
	switch {
	case ev.Reason.OK(), ev.Err != nil: // the error was shown already
	case ev.Reason == agent.AbortedTools && ev.Detail != "": // the user said no
		t.faint("What next?")
	case ev.Withdrawn:
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

// longTurn is the minimum duration of a turn for showing its duration.
const longTurn = 30 * time.Second
