package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/brief"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A contextPage is what fills the context window of a session.
type contextPage struct {
	*promptPage
	model    string
	window   int
	messages int // of the conversation
	talk     int // their tokens
	reported int // tokens of the last request, as the provider counted them; 0 if it did not
	breaks   []brief.Break
}

// context says what fills the context window, for a person.
func (d *desk) context(context.Context) (string, error) {
	p, err := d.builder.contextPage(d.session.Model(), d.session.ToolSpecs(), d.session.Conversation())
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

// contextPage measures what the next request says before the person does. What the provider reported of
// the last one corrects the estimates.
func (b *builder) contextPage(name string, specs []msg.ToolSpec, entries []msg.Entry) (*contextPage, error) {
	m, err := b.resolve(name)
	if err != nil {
		return nil, err
	}
	specs = b.describeTools(specs)
	gauge := tokens.New(m.ID)
	messages := b.sent(gauge, m.ID, entries)
	p := &contextPage{promptPage: newPage(gauge, b.prompts, m, specs), model: m.ID, window: m.Window, breaks: b.watch.Breaks()}
	first := 0
	if b.announcer != nil {
		said := b.announcer.Preview()
		first = gauge.Parts(said...)
		p.Context = append(p.Context, newItem(gauge, "instructions, memories, date", msg.PlainText(said)))
		for _, problem := range b.announcer.Problems() {
			p.Problems = append(p.Problems, problem.Path+" "+problem.Text)
		}
	}
	if len(messages) > 0 {
		p.messages, p.talk = len(messages), max(0, gauge.Messages(messages...)-first)
	}
	if _, u := b.watch.Last(); !u.Estimated {
		p.reported = u.Input + u.CacheRead + u.CacheWrite
	}
	return p, nil
}

// sent returns the messages of the conversation as they were sent last, with the answer to them, and lets
// the gauge learn from what was reported of them.
func (b *builder) sent(g *tokens.Gauge, model string, entries []msg.Entry) []msg.Message {
	req, u := b.watch.Last()
	if req == nil || len(entries) == 0 {
		var conv msg.Conversation
		for _, e := range entries {
			conv.Add(e.Message)
		}
		messages, _ := conv.Messages()
		return messages
	}
	if req.Model == model && !u.Estimated {
		g.Report(g.Count(req.System, req.Tools, req.Messages), u.Input+u.CacheRead+u.CacheWrite)
	}
	messages := req.Messages
	if last := entries[len(entries)-1].Message; last.Role == msg.Assistant {
		messages = append(messages, last)
	}
	return messages
}

// columns is the width that the page fits into.
const columns = 80

// String returns the page.
func (p *contextPage) String() string {
	system, tools, first := 0, sumTokens(p.Tools), sumTokens(p.Context)
	for _, block := range p.System {
		system += sumTokens(block.Sections)
	}
	used := system + tools + first + p.talk
	var b strings.Builder
	line := func(indent int, n int, name string) {
		share := "     "
		if indent == 0 && p.window > 0 {
			share = fmt.Sprintf("%3d %%", (n*100+p.window/2)/p.window)
		}
		head := fmt.Sprintf("%9s  %s  %s", grouped(n), share, strings.Repeat("  ", indent))
		b.WriteString(head + tool.OneLine(name, columns-len(head)) + "\n")
	}
	b.WriteString(tool.OneLine(fmt.Sprintf("About %s of %s tokens of %s are in use:", grouped(used), grouped(p.window), p.model), columns) + "\n")
	line(0, system, "system prompt")
	for _, block := range p.System {
		for _, s := range block.Sections {
			line(1, s.Tokens, s.Name)
		}
	}
	line(0, tools, "tools")
	bySize := func(a, b promptItem) int { return b.Tokens - a.Tokens }
	for _, t := range slices.SortedStableFunc(slices.Values(p.Tools), bySize) {
		line(1, t.Tokens, t.Name)
	}
	for _, c := range p.Context {
		line(0, c.Tokens, c.Name)
	}
	line(0, p.talk, "conversation, "+count(p.messages, "message"))
	line(0, max(0, p.window-used), "free")
	if p.reported > 0 {
		fmt.Fprintf(&b, "The provider counted %s tokens in the last request.\n", grouped(p.reported))
	}
	for _, problem := range p.Problems {
		b.WriteString(wrapped("Note: " + problem))
	}
	for _, lost := range p.breaks {
		b.WriteString(wrapped("Cache: " + lost.String()))
	}
	return b.String()
}

func sumTokens(items []promptItem) int {
	n := 0
	for _, it := range items {
		n += it.Tokens
	}
	return n
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// wrapped breaks a text into lines that fit.
func wrapped(text string) string {
	w := draw.Wrapper{Width: columns}
	return w.Add(text) + w.End() + "\n"
}
