package plain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// A question is a question of the session with its dialog.
type question struct {
	id string
	dialog
}

// questions are without an answer yet. The first one is shown.
type questions []question

// An inquiry is what the user is to answer.
type inquiry struct {
	asked  questions        // without an answer yet
	held   bool             // they are not shown yet: the user is typing, or see effect
	effect <-chan time.Time // when the last answer has had its effect on the others; may be nil
}

// asking reports whether the user is to answer a question.
func (q *inquiry) asking() bool { return len(q.asked) > 0 && !q.held }

// prompt returns the prompt for the first question, or for input if there is none.
func (q questions) prompt() string {
	if len(q) == 0 {
		return "> "
	}
	return q[0].prompt()
}

// A dialog asks one kind of question, line by line.
type dialog interface {
	// draw writes the question.
	draw(p *printer)
	// prompt returns the prompt for the next line.
	prompt() string
	// enter takes a line of the answer. It returns nil if it needs another.
	enter(p *printer, text string) session.Reply
}

// dialogFor returns the dialog for a kind of question.
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

// askNext writes the first question.
func (f *Front) askNext() {
	f.out.fresh()
	f.asked[0].draw(f.out)
}

// reply takes a line of the answer to the first question.
func (f *Front) reply(ctx context.Context, text string) {
	q := f.asked[0]
	r := q.enter(f.out, text)
	if r == nil {
		f.prompt()
		return
	}
	f.asked = f.asked[1:]
	if err := f.talk.Submit(ctx, session.Answer{ID: q.id, Reply: r}); err != nil {
		f.out.say("The question has already been answered.")
	}
	if len(f.asked) == 0 {
		return
	}
	if d, ok := r.(session.Decision); ok && len(d.Updates) > 0 {
		f.held, f.effect = true, time.After(effectTime)
		return
	}
	f.askNext()
	f.prompt()
}

// effectTime is how long the next question waits after an answer that may have answered it, too.
const effectTime = 250 * time.Millisecond

// settled removes a question that was answered elsewhere or withdrawn.
func (f *Front) settled(ev session.Settled) {
	for i, q := range f.asked {
		if q.id != ev.ID {
			continue
		}
		f.asked = append(f.asked[:i], f.asked[i+1:]...)
		if i == 0 && !f.leave && !f.held {
			f.out.say("The question no longer needs an answer.")
		}
		if i == 0 && len(f.asked) > 0 && !f.held {
			f.askNext()
		}
		return
	}
}

// declined is what the user enters to decline to answer.
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
			p.say("\n" + serverAsks(d.From))
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
	hint := string(f.Type)
	switch {
	case f.Type == session.BooleanField:
		hint = "yes or no"
	case f.Type == session.ChoiceField:
		hint = "number"
	case f.Type == session.ListField:
		hint = "numbers separated by commas"
	case f.Format != "":
		hint = string(f.Format)
	case f.Type == session.TextField:
		hint = "text"
	}
	switch {
	case f.Default != nil:
		hint += ", default " + tool.OneLine(spelled(f.Default), maxAbout)
	case !f.Required:
		hint += ", optional"
	}
	return draw.Clean(fmt.Sprintf("%s (%s; %s to decline): ", tool.OneLine(f.Label(), maxAbout), hint, declined))
}

// spelled returns a value as the user would type it.
func spelled(v any) string {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, ", ")
	case bool:
		if v {
			return "yes"
		}
		return "no"
	}
	return fmt.Sprint(v)
}

func (d *formDialog) enter(p *printer, text string) session.Reply {
	if text == declined {
		return session.Filled{Action: session.Decline}
	}
	if d.at == len(d.Fields) {
		switch wordOf(text) {
		case saysYes:
			return session.Filled{Action: session.Accept}
		case saysNo:
			return session.Filled{Action: session.Decline}
		}
		return nil
	}
	f := d.Fields[d.at]
	switch {
	case text == "" && f.Default != nil:
		d.values[f.Name] = f.Default
	case text == "" && f.Required:
		p.say("A value is required.")
		return nil
	case text != "":
		v, err := f.Parse(text)
		if err != nil {
			p.say("Invalid value: " + tool.OneLine(err.Error(), maxAbout) + ".")
			return nil
		}
		d.values[f.Name] = v
	}
	if d.at++; d.at == len(d.Fields) {
		return session.Filled{Action: session.Accept, Values: d.values}
	}
	d.draw(p)
	return nil
}
