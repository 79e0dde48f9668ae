package plain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
)

// A printer writes session events.
type printer struct {
	writer
	status
	talk *controller.Conversation

	// The current response: the text written so far, by block. If a delta was missed, the rest
	// is written when the response is complete.
	spoken  map[int]string
	blocks  []int
	update  *int // thinking block being written; may be nil
	seq     session.Seq
	missed  bool
	shown   map[string]bool // tool uses whose change was shown with the question
	retried bool
	list    tool.Checklist // task list as last written

	used int // tokens in the window after the last response
}

// outputLines is the number of output lines written for a successful command, and failedLines
// for a failed one.
const (
	outputLines = 10
	failedLines = 200
)

func newPrinter(cfg Config) *printer {
	p := &printer{writer: newWriter(cfg), shown: map[string]bool{}}
	p.begin()
	return p
}

// begin starts a response.
func (p *printer) begin() {
	p.spoken, p.blocks, p.update, p.missed = map[int]string{}, nil, nil, false
}

func (p *printer) end() {
	p.fresh()
	p.idle()
	p.retried, p.shown = false, map[string]bool{}
}

// finished writes how a turn ended, unless it completed normally, and its cost.
func (p *printer) finished(ev session.Finished) {
	p.end()
	p.spent(ev)
	if o := ev.Local; o != nil && o.Err != nil {
		p.fail(o.Err)
	} else if o != nil {
		p.say(o.Text)
	}
	switch {
	case ev.Reason.OK(), ev.Err != nil: // the error has been written already
	case ev.Reason == agent.AbortedTools && ev.Detail != "": // the user said no
		p.say("What next?")
	case ev.Reason.Aborted():
		p.say("Stopped. What next?")
	case ev.Detail != "":
		p.say(ev.Detail)
	default:
		p.say("The turn ended: " + strings.ReplaceAll(string(ev.Reason), "_", " ") + ".")
	}
	if limit := p.talk.WarnUSD; limit > 0 && ev.Before.CostUSD < limit && ev.After.CostUSD >= limit {
		p.say("This session has cost " + amount.USD(ev.After.CostUSD) + " so far. /cost shows the details.")
	}
}

// spent writes a turn's usage: time, context window and cost.
func (p *printer) spent(ev session.Finished) {
	if ev.After.Usage.Output == ev.Before.Usage.Output {
		return
	}
	var parts []string
	if ev.Took >= time.Second {
		parts = append(parts, ev.Took.Round(time.Second).String())
	}
	if m, err := p.talk.Preamble.Resolve(p.talk.Model()); err == nil && m.Window > 0 && p.used > 0 {
		parts = append(parts, fmt.Sprintf("%d%% of the context", max(1, 100*p.used/m.Window)))
	}
	if cost := ev.After.CostUSD - ev.Before.CostUSD; cost > 0 {
		parts = append(parts, amount.USD(cost))
	}
	if len(parts) > 0 {
		p.line(draw.Span{Role: draw.Faint, Text: "(" + strings.Join(parts, ", ") + ")"})
	}
}

// changed writes the new model or permission mode.
func (p *printer) changed(ev session.Changed) {
	if ev.Model != "" {
		p.say("The model is now " + p.talk.ModelInWords(ev.Model) + ".")
	}
	if ev.Mode != "" {
		p.say("The permission mode is now " + commands.DescribeMode(ev.Mode) + ".")
	}
}

// count records the sequence number of the current entry, to detect missed entries.
func (p *printer) count(seq session.Seq) {
	if p.seq != 0 && seq != p.seq+1 {
		p.missed = true
	}
	p.seq = seq
}

// event writes an event of the agent loop.
func (p *printer) event(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Requesting:
		p.begin()
		p.phase("waiting for the model")
	case agent.Delta:
		p.delta(ev.Event)
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
	case agent.ToolProgress:
		p.progress(ev.ID, ev.Display)
	case agent.ToolDone:
		p.done(ev)
		p.phase("working")
	case agent.Retrying:
		p.retrying(ev.Retrying)
	case agent.Notice:
		p.say(ev.Text)
	case agent.Compacted:
		p.used = ev.After
		text := fmt.Sprintf("The conversation was shortened from about %d to %d tokens.", ev.Before, ev.After)
		if ev.Cleared {
			text = "Starting a new conversation; the previous one is saved on disk."
		}
		p.say(text)
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

// delta writes a piece of a response, or records that something arrived that is not shown.
func (p *printer) delta(ev model.Event) {
	switch d := ev.(type) {
	case model.TextDelta:
		p.arrived("writing", len(d.Text))
		if !p.missed {
			p.spoke(d)
		}
	case model.ThinkingDelta:
		if d.Update && d.Text != "" {
			p.arrived("writing", len(d.Text))
			p.updated(d)
			return
		}
		p.arrived("thinking", len(d.Text))
	case model.BlockDone:
		if _, ok := d.Part.(*msg.Thinking); ok && p.update != nil {
			p.fresh()
		}
	case model.InputDelta:
		p.arrived("preparing "+firstOf(d.Name, "a call"), len(d.JSON))
	}
}

// updated writes a piece of text between calls, which arrives as thinking.
func (p *printer) updated(d model.ThinkingDelta) {
	if p.update == nil || *p.update != d.Block {
		p.paragraph()
		p.update = &d.Block
	}
	p.speak(d.Text)
}

// spoke writes a delta of an answer.
func (p *printer) spoke(d model.TextDelta) {
	if _, ok := p.spoken[d.Block]; !ok {
		p.paragraph()
		p.blocks = append(p.blocks, d.Block)
	}
	p.spoken[d.Block] += d.Text
	p.speak(d.Text)
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
		p.speak(rest)
		p.fresh()
	}
	if u := e.Usage; u != nil {
		p.used = u.Input + u.CacheRead + u.CacheWrite + u.Output
	}
	p.begin()
}

// done writes a call with its outcome and its output or changes.
func (p *printer) done(ev agent.ToolDone) {
	title := tool.OneLine(ev.Use.Name, 80)
	if c := p.forget(ev.Use.ID); c != nil {
		title = c.title
	}
	if list, ok := ev.Display.(tool.Checklist); ok && !ev.Denied && !ev.Result.IsError {
		p.tasks(list)
		return
	}
	output, printed := ev.Display.(tool.Output)
	role, outcome, lines := draw.Good, draw.Outcome(ev.Display, ev.Result), []string(nil)
	switch {
	case ev.Denied:
		role, outcome = draw.Bad, "not run: "+tool.OneLine(ev.Refusal, 200)
	case ev.Result.IsError && printed:
		role = draw.Bad
	case ev.Result.IsError:
		role = draw.Bad
		outcome, lines = reason(ev)
		outcome = "failed: " + outcome
	}
	if ev.Elapsed >= time.Second {
		outcome += fmt.Sprintf(" (%s)", ev.Elapsed.Round(100*time.Millisecond))
	}
	p.outcome(role, title, outcome)
	switch {
	case printed:
		most := outputLines
		if ev.Result.IsError {
			most = failedLines
		}
		if whole := msg.PlainText(ev.Result.Parts); output.File == "" && len(whole) > len(output.Text) && output.Lines > strings.Count(output.Text, "\n")+1 {
			output.Text = whole // the model received more than is stored here
		}
		p.output(output, most)
	case len(lines) > 0:
		p.output(tool.Output{Text: strings.Join(lines, "\n"), Lines: len(lines)}, failedLines)
	case len(tool.Diffs(ev.Display)) > 0 && !p.shown[ev.Use.ID]:
		p.display(ev.Display)
	}
}

// tasks writes the task list entries that have changed since the list was last written.
func (p *printer) tasks(list tool.Checklist) {
	changed := slices.DeleteFunc(slices.Clone(list), func(c tool.Check) bool { return slices.Contains(p.list, c) })
	p.list = list
	if len(changed) > 0 {
		p.display(changed)
	}
}

// outcome writes one line about something that has ended.
func (p *printer) outcome(role draw.Role, title, outcome string) {
	p.line(draw.Span{Role: role, Text: "* "}, draw.Span{Role: draw.Strong, Text: draw.Clean(title)}, draw.Span{Text: ": " + draw.Clean(outcome)})
}

// output writes at most the given number of lines from the end of a command's output, and where
// to find more.
func (p *printer) output(d tool.Output, most int) {
	o := p.options()
	o.Max, o.Width = most, 0 // lines stay whole, to be copied
	if p.cfg.Verbose {
		o.Max = 0
	}
	d.Exit, d.Elapsed = nil, 0
	if strings.HasPrefix(d.Note, "Exit code") || draw.Runs(d) {
		d.Note = "" // the line before shows it
	}
	p.lines(draw.Page(commands.Page{Blocks: []commands.Block{commands.Output{Display: d}}}, o))
}

func (p *printer) retrying(r model.Retrying) {
	p.phase("waiting to try again")
	if p.retried && r.After < 5*time.Second {
		return
	}
	p.retried = true
	p.say(fmt.Sprintf("(%s; retrying in %s, attempt %d of %d)", model.Cause(r.Err), r.After.Round(100*time.Millisecond), r.Attempt, r.Max))
}

// recall writes the last turns of an earlier conversation.
func (p *printer) recall(events []agent.Event) {
	for _, ev := range events {
		if a, ok := ev.(agent.Appended); ok && a.Entry.Message.Role == msg.User {
			p.paragraph()
			text := commands.MessageText(a.Entry.Message)
			if command, output, ran := msg.RanCommand(text); ran {
				p.say("> !" + command)
				p.output(tool.Output{Text: output, Lines: strings.Count(output, "\n") + 1}, outputLines)
				continue
			}
			if len(a.Entry.Pasted) > 0 {
				text = strings.TrimSpace(edit.DraftOf(msg.TypedTexts(a.Entry.Message)[0], a.Entry.Pasted).Brief())
			}
			p.say("> " + text)
			continue
		}
		p.event(ev)
	}
	p.idle()
	p.calls, p.list = nil, nil
}

// reason returns why a call failed, from its result: the first line, and all lines if there are
// more.
func reason(ev agent.ToolDone) (first string, lines []string) {
	text := strings.TrimSpace(msg.PlainText(ev.Result.Parts))
	lines = strings.Split(text, "\n")
	if len(lines) == 1 {
		return tool.OneLine(text, 600), nil
	}
	return tool.OneLine(lines[0], 200), lines[1:]
}
