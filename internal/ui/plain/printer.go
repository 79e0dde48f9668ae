package plain

import (
	"fmt"
	"io"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/desk"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A printer writes what happens in a session, one thing below the other.
type printer struct {
	cfg  Config
	w    io.Writer
	wrap draw.Wrapper
	talk *Conversation

	column   bool // the line that is written is not empty
	prompted bool // and it is the prompt, with what is typed

	// The response that arrives: its text by block, as far as it was written. A reader that missed a
	// piece waits for the whole.
	spoken  map[int]string
	blocks  []int
	seq     session.Seq
	missed  bool
	calls   []*running
	shown   map[string]bool // uses whose change was shown when it was asked about
	retried bool
}

// A running call is told of when it takes long.
type running struct {
	id, title string
	began     time.Time
	told      bool
}

func newPrinter(cfg Config) *printer {
	p := &printer{cfg: cfg, w: cfg.Out, shown: map[string]bool{}}
	p.begin()
	return p
}

// write writes text as it is. A prompt that is on the screen stays where it is.
func (p *printer) write(text string) {
	if text == "" {
		return
	}
	if p.prompted {
		text = "\n" + text
		p.prompted = false
	}
	p.edit(text)
	p.prompted = false
}

// edit writes the prompt, or what is typed behind it.
func (p *printer) edit(text string) {
	if text == "" {
		return
	}
	io.WriteString(p.w, text) // ok: when nobody sees it, the end of the input tells
	p.column = !strings.HasSuffix(text, "\n")
	p.prompted = true
}

// entered says that the line of the prompt is complete, and the next one is empty.
func (p *printer) entered() { p.column, p.prompted = false, false }

// fresh makes sure that the next text begins on a line of its own.
func (p *printer) fresh() {
	p.write(p.wrap.End())
	switch {
	case p.prompted:
		p.edit("\n")
		p.entered()
	case p.column:
		p.write("\n")
	}
}

// line writes one line, which must be safe already.
func (p *printer) line(text string) {
	p.fresh()
	p.write(text + "\n")
}

// say tells the person something.
func (p *printer) say(text string) {
	p.fresh()
	p.wrap.Width = p.width()
	p.write(p.wrap.Add(text))
	p.fresh()
}

func (p *printer) width() int {
	const comfortable = 100
	if w := p.cfg.Width(); w >= 20 {
		return min(w-1, comfortable)
	}
	return 79
}

// begin forgets the response that was there.
func (p *printer) begin() {
	p.spoken, p.blocks, p.missed = map[int]string{}, nil, false
}

func (p *printer) end() {
	p.fresh()
	p.calls, p.retried, p.shown = nil, false, map[string]bool{}
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
			p.say("(The answer broke off; it is asked for again.)")
		}
		p.begin()
	case agent.Appended:
		if ev.Entry.Message.Role == msg.Assistant {
			p.answer(ev.Entry)
		}
	case agent.ToolStarted:
		p.calls = append(p.calls, &running{id: ev.Use.ID, title: ev.Title, began: time.Now()})
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

// speak writes a piece of an answer.
func (p *printer) speak(d model.TextDelta) {
	if _, ok := p.spoken[d.Block]; !ok {
		p.paragraph()
		p.blocks = append(p.blocks, d.Block)
	}
	p.spoken[d.Block] += d.Text
	p.wrap.Width = p.width()
	p.write(p.wrap.Add(d.Text))
}

// paragraph leaves an empty line before an answer.
func (p *printer) paragraph() {
	p.fresh()
	p.write("\n")
	p.column = false
}

// answer writes what of an answer has not been written piece by piece.
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

// maxShown is how many lines of a display are written.
const maxShown = 40

// display writes a display, indented.
func (p *printer) display(d tool.Display) {
	p.page(desk.Page{Blocks: []desk.Block{desk.Output{Display: d}}})
}

// page writes a page.
func (p *printer) page(page desk.Page) { p.lines(draw.Page(page, p.options())) }

func (p *printer) lines(lines []string) {
	for _, line := range lines {
		p.line(line)
	}
}

func (p *printer) options() draw.Options {
	return draw.Options{Width: p.width(), Max: maxShown, Dir: p.cfg.Dir, Palette: p.cfg.Palette}
}

// whole writes a text that somebody is to agree to: nothing of it is left out or kept from sight.
func (p *printer) whole(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.say("  " + line)
	}
}

// waiting tells once of each call that takes longer than a second.
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
	p.say(fmt.Sprintf("(%s; trying again in %s, %d of %d)", strings.ReplaceAll(model.KindOf(r.Err).String(), "_", " "), r.After.Round(100*time.Millisecond), r.Attempt, r.Max))
}

// recall writes messages of an earlier conversation.
func (p *printer) recall(entries []msg.Entry) {
	for _, e := range entries {
		text := strings.TrimSpace(e.Message.Text())
		if text == "" || e.Hidden || strings.HasPrefix(text, "[Request interrupted") {
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
