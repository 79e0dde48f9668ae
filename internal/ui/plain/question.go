package plain

import (
	"context"
	"fmt"

	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
)

// A dialog asks one kind of question, line by line.
type dialog interface {
	// draw writes the question.
	draw(p *printer)
	// prompt returns the prompt for the next line.
	prompt() string
	// enter handles a line of the answer. It returns nil if it needs another.
	enter(p *printer, text string) session.Reply
}

// dialogFor returns the dialog for a question.
func dialogFor(q session.Question) dialog {
	switch q := q.(type) {
	case session.Permission:
		return &permissionDialog{Permission: q}
	case session.Choices:
		return &choicesDialog{Choices: q}
	case session.Form:
		return &formDialog{Form: q, values: map[string]any{}}
	case session.Visit:
		return &visitDialog{q}
	case session.Sampling:
		return &samplingDialog{q}
	}
	panic(fmt.Sprintf("plain: unknown question %T", q))
}

// reply handles a line of the answer to the current question.
func (f *Front) reply(ctx context.Context, text string) {
	r := f.asked.enter(f.out, text)
	if r == nil {
		f.Ready()
		return
	}
	f.asked = nil
	f.Answer(ctx, r)
}

// declined is the input that declines to answer.
const declined = "/skip"

// A formDialog asks for one field after the other.
type formDialog struct {
	session.Form
	values map[string]any
	at     int
}

func (d *formDialog) draw(p *printer) {
	if d.at == 0 {
		if d.From != "" {
			p.say("\n" + ask.ServerAsks(d.From) + ":")
		}
		quote(p, d.Message)
	}
	if d.at == len(d.Fields) {
		return
	}
	f := d.Fields[d.at]
	quote(p, f.Description)
	drawOptions(p, f.Options)
}

func (d *formDialog) prompt() string {
	if d.at == len(d.Fields) { // a form without fields asks only for consent
		return "Agree? [y]es, [n]o: "
	}
	f := d.Fields[d.at]
	return draw.Clean(fmt.Sprintf("%s (%s; %s to decline): ", tool.OneLine(f.Label(), ask.MaxAbout), ask.Hint(f), declined))
}

func (d *formDialog) enter(p *printer, text string) session.Reply {
	if text == declined {
		return session.Filled{Action: session.Decline}
	}
	if d.at == len(d.Fields) {
		switch ask.ParseAnswer(text) {
		case ask.Yes:
			return session.Filled{Action: session.Accept}
		case ask.No:
			return session.Filled{Action: session.Decline}
		}
		return nil
	}
	if wrong := ask.Fill(d.Fields[d.at], text, d.values); wrong != "" {
		p.say(wrong)
		return nil
	}
	if d.at++; d.at == len(d.Fields) {
		return session.Filled{Action: session.Accept, Values: d.values}
	}
	d.draw(p)
	return nil
}
