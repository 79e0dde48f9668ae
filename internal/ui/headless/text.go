package headless

import (
	"fmt"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/session"
)

// A textPrinter prints the last answer and nothing else.
type textPrinter struct{ *notes }

func (p *textPrinter) end(r *result) {
	if problem := r.problem(); problem != "" {
		p.f.warn(problem)
		return
	}
	if text := p.f.cfg.Shown(r.answered()); text != "" {
		p.f.out.write([]byte(strings.TrimSuffix(text, "\n") + "\n"))
	}
}

// A jsonPrinter prints the result.
type jsonPrinter struct{ *notes }

func (p *jsonPrinter) end(r *result) { p.f.emit(r.record()) }

// notes say on standard error what the user should know while a turn runs. What an operation in place of a turn
// says is its result.
type notes struct {
	f     *Front
	chore bool
}

func (n *notes) begin(s session.Started) { n.chore = s.Chore }
func (n *notes) changed(session.Changed) {}

func (n *notes) event(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Notice:
		if n.chore {
			n.f.result.say(ev.Text)
			return
		}
		n.f.warn(ev.Text)
	case agent.Compacted:
		if n.chore {
			n.f.result.say(fmt.Sprintf("The conversation was shortened from about %d to %d tokens.", ev.Before, ev.After))
		}
	case agent.Retrying:
		n.retrying(ev.Retrying)
	case agent.ToolStarted:
		if n.f.cfg.Verbose {
			n.f.warn(ev.Title)
		}
	}
}

// A wait is told when it is long, or when it is not the first.
const (
	longWait  = 5 * time.Second
	toldTries = 3
)

func (n *notes) retrying(r model.Retrying) {
	if r.Attempt < toldTries && r.After <= longWait {
		return
	}
	n.f.warn(fmt.Sprintf("%s; trying again in %s (%d of %d)", cause(r.Err), r.After.Round(100*time.Millisecond), r.Attempt, r.Max))
}

// cause names an error in a few words.
func cause(err error) string {
	switch kind := model.KindOf(err); kind {
	case model.Overloaded:
		return "the model is overloaded"
	case model.RateLimited:
		return "the rate limit is reached"
	case model.Network:
		return "there is no connection"
	case model.ServerFault:
		return "the server has a fault"
	default:
		return strings.ReplaceAll(kind.String(), "_", " ")
	}
}
