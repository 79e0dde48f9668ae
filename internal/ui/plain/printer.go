package plain

import (
	"fmt"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/desk"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/amount"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A printer writes what happens in a session.
type printer struct {
	screen
	talk *Conversation

	// The current response: its text by block, as far as it is written. If a delta was missed, the rest is written when
	// the response is complete.
	spoken  map[int]string
	blocks  []int
	seq     session.Seq
	missed  bool
	calls   []*call
	shown   map[string]bool // uses whose change was shown with the question
	retried bool
}

// A call is running, and shown if it takes long.
type call struct {
	id, title string
	began     time.Time
	told      bool
}

func newPrinter(cfg Config) *printer {
	p := &printer{screen: screen{w: cfg.Out, cfg: cfg}, shown: map[string]bool{}}
	p.begin()
	return p
}

// begin starts a response.
func (p *printer) begin() {
	p.spoken, p.blocks, p.missed = map[int]string{}, nil, false
}

func (p *printer) end() {
	p.fresh()
	p.calls, p.retried, p.shown = nil, false, map[string]bool{}
}

// finished writes how a turn ended, unless it was completed.
func (p *printer) finished(ev session.Finished) {
	p.end()
	switch {
	case ev.Reason.OK(), ev.Err != nil: // the error has been written already
	case ev.Reason.Aborted():
		p.say("Interrupted. What should the model do instead?")
	case ev.Detail != "":
		p.say(ev.Detail)
	default:
		p.say("The turn ended: " + strings.ReplaceAll(string(ev.Reason), "_", " ") + ".")
	}
	if limit := p.talk.WarnUSD; limit > 0 && ev.Before.CostUSD < limit && ev.After.CostUSD >= limit {
		p.say("This session has cost " + amount.USD(ev.After.CostUSD) + " so far. /cost shows the details.")
	}
}

// changed writes the new model or permission mode.
func (p *printer) changed(ev session.Changed) {
	if ev.Model != "" {
		p.say("The model is now " + ev.Model + ".")
	}
	if ev.Mode != "" {
		p.say("The permission mode is now " + ev.Mode + ".")
	}
}

// farewell writes the cost of a session and how to continue it.
func (p *printer) farewell(c *Conversation) {
	if t := c.Totals(); t.Usage.Output > 0 {
		p.line(desk.Spent(t))
	}
	if len(c.Conversation()) > 0 {
		p.line("To continue this session: adze --resume " + c.ID())
	}
}

// event writes an event of the loop.
func (p *printer) event(seq session.Seq, ev agent.Event) {
	if p.seq != 0 && seq != p.seq+1 {
		p.missed = true
	}
	p.seq = seq
	switch ev := ev.(type) {
	case agent.Requesting:
		p.begin()
	case agent.Delta:
		if d, ok := ev.Event.(model.TextDelta); ok && !p.missed {
			p.speak(d)
		}
	case agent.Withdrawn:
		if len(p.blocks) > 0 {
			p.say("(The answer was cut off; asking again.)")
		}
		p.begin()
	case agent.Appended:
		if ev.Entry.Message.Role == msg.Assistant {
			p.answer(ev.Entry)
		}
	case agent.ToolStarted:
		p.calls = append(p.calls, &call{id: ev.Use.ID, title: ev.Title, began: time.Now()})
	case agent.ToolDone:
		p.done(ev)
	case agent.Retrying:
		p.retrying(ev.Retrying)
	case agent.Notice:
		p.say(ev.Text)
	case agent.Compacted:
		p.say(fmt.Sprintf("The conversation was shortened from about %d to %d tokens.", ev.Before, ev.After))
	case agent.Failed:
		p.say(p.explain(ev.Err))
	}
}

func (p *printer) explain(err error) string {
	if p.talk == nil || p.talk.Explain == nil {
		return err.Error()
	}
	return p.talk.Explain(err, p.talk.Model())
}

// speak writes a delta of an answer.
func (p *printer) speak(d model.TextDelta) {
	if _, ok := p.spoken[d.Block]; !ok {
		p.paragraph()
		p.blocks = append(p.blocks, d.Block)
	}
	p.spoken[d.Block] += d.Text
	p.wrap.Width = p.width()
	p.write(p.wrap.Add(d.Text))
}

// answer writes the part of an answer that was not written as deltas.
func (p *printer) answer(e msg.Entry) {
	n := 0
	for _, part := range e.Message.Parts {
		t, ok := part.(*msg.Text)
		if !ok {
			continue
		}
		spoken := ""
		if n < len(p.blocks) {
			spoken = p.spoken[p.blocks[n]]
		}
		n++
		rest, ok := strings.CutPrefix(t.Text, spoken)
		if !ok || spoken == "" {
			p.paragraph()
			rest = t.Text
		}
		p.wrap.Width = p.width()
		p.write(p.wrap.Add(rest))
		p.fresh()
	}
	p.begin()
}

// done writes a call with its outcome, on one line, and a change to a file in full.
func (p *printer) done(ev agent.ToolDone) {
	title := tool.OneLine(ev.Use.Name, 80)
	for i, c := range p.calls {
		if c.id == ev.Use.ID {
			title = c.title
			p.calls = append(p.calls[:i], p.calls[i+1:]...)
			break
		}
	}
	style, outcome := p.cfg.Palette.Good, draw.Outcome(ev.Display, ev.Result)
	switch {
	case ev.Denied:
		style, outcome = p.cfg.Palette.Bad, reason(ev)
	case ev.Result.IsError:
		style, outcome = p.cfg.Palette.Bad, "failed: "+reason(ev)
	}
	if ev.Elapsed >= time.Second {
		outcome += fmt.Sprintf(" (%s)", ev.Elapsed.Round(100*time.Millisecond))
	}
	p.line(style.Apply("* ") + p.cfg.Palette.Strong.Apply(term.Sanitize(title)) + ": " + term.Sanitize(outcome))
	if len(tool.Diffs(ev.Display)) > 0 && !ev.Result.IsError && !p.shown[ev.Use.ID] {
		p.display(ev.Display)
	}
}

// waiting writes each call that takes longer than a second, once.
func (p *printer) waiting() {
	for _, c := range p.calls {
		if !c.told && time.Since(c.began) > time.Second {
			c.told = true
			p.line(p.cfg.Palette.Faint.Apply("… " + term.Sanitize(c.title)))
		}
	}
}

func (p *printer) retrying(r model.Retrying) {
	if p.retried && r.After < 5*time.Second {
		return
	}
	p.retried = true
	p.say(fmt.Sprintf("(%s; retrying in %s, attempt %d of %d)", strings.ReplaceAll(model.KindOf(r.Err).String(), "_", " "), r.After.Round(100*time.Millisecond), r.Attempt, r.Max))
}

// recall writes messages of an earlier conversation.
func (p *printer) recall(entries []msg.Entry) {
	for _, e := range entries {
		text := desk.Said(e.Message)
		if text == "" || e.Hidden {
			continue
		}
		if e.Message.Role == msg.User {
			text = "> " + text
		}
		p.fresh()
		p.write("\n")
		p.say(text)
	}
}

// reason returns why a call was denied or failed, from its result.
func reason(ev agent.ToolDone) string {
	return tool.OneLine(msg.PlainText(ev.Result.Parts), 200)
}
