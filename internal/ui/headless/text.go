package headless

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/session"
	"adze/internal/ui/streamjson"
)

// A textPrinter prints the last answer.
type textPrinter struct{ *notes }

func (p *textPrinter) End(r *streamjson.Result) {
	if problem := r.Problem(); problem != "" {
		p.f.warn(problem)
		if !r.Answered() {
			return
		}
	}
	if text := p.f.cfg.Shown(r.Text()); text != "" {
		p.f.out.Write([]byte(strings.TrimSuffix(text, "\n") + "\n"))
	}
}

// A jsonPrinter prints the result.
type jsonPrinter struct{ *notes }

func (p *jsonPrinter) End(r *streamjson.Result) { p.f.out.Write(r.Line(p.f.cfg.Session.ID())) }

// notes prints messages for the user on Stderr while a turn runs. For a chore, an operation in
// place of a turn, they are the result.
type notes struct{ f *Front }

func (n *notes) Begin(session.Started)   {}
func (n *notes) Changed(session.Changed) {}

func (n *notes) Event(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Notice:
		if !n.f.result.Chore {
			n.f.warn(ev.Text)
		}
	case agent.Retrying:
		n.retrying(ev.Retrying)
	case agent.ToolStarted:
		if n.f.cfg.Verbose {
			n.f.warn(ev.Title)
		}
	}
}

// A retry is reported if the wait is long, if it has already taken long, or from the third
// attempt on.
const (
	longWait     = 5 * time.Second
	reportedFrom = 3
)

func (n *notes) retrying(r model.Retrying) {
	var e *model.Error
	stalled := errors.As(r.Err, &e) && e.Lasting
	if r.Attempt < reportedFrom && r.After <= longWait && !stalled {
		return
	}
	doing := "retrying"
	if r.Whole {
		doing = "asking for the whole answer, which may take minutes,"
	}
	n.f.warn(fmt.Sprintf("%s; %s in %s (attempt %d of %d)", model.Cause(r.Err), doing, r.After.Round(100*time.Millisecond), r.Attempt, r.Max))
}
