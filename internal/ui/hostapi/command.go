package hostapi

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/ui/draw"
)

// Interpret returns the prompt to submit or, if p is a command of r, the operation to submit
// instead.
func Interpret(ctx context.Context, r *commands.Registry, p session.Prompt) (session.Prompt, session.Op) {
	name, arg, ok := command(p)
	if !ok {
		return p, nil
	}
	c, known := r.Lookup(name)
	if !known && !commands.Names(name) {
		return p, nil
	}
	run := func(ctx context.Context) (commands.Answer, error) { return r.Run(ctx, name, arg) }
	if known && c.Kind == commands.Ask {
		answer, err := run(ctx)
		if a, ok := answer.(commands.Prompt); ok {
			said := a.Said()
			said.ID = p.ID
			return said, nil
		}
		run = func(context.Context) (commands.Answer, error) { return answer, err }
	}
	return p, session.Later{ID: p.ID, Make: func(ctx context.Context) (session.Op, error) {
		answer, err := run(ctx)
		if a, ok := answer.(commands.Operation); ok && known && c.Kind == commands.Work {
			return a.Op, err
		}
		return session.Local{Do: func(ctx context.Context) (string, error) {
			if err != nil {
				return "", err
			}
			return execute(ctx, r.Session, answer)
		}}, nil
	}}
}

// command parses a prompt as a command name and argument. It reports false if the prompt is not
// a command.
func command(p session.Prompt) (name, arg string, ok bool) {
	if len(p.Parts) != 1 {
		return "", "", false
	}
	text, ok := p.Parts[0].(*msg.Text)
	if !ok {
		return "", "", false
	}
	return commands.Parse(text.Text)
}

// execute executes a command's answer and returns the text to show.
func execute(ctx context.Context, s *session.Session, answer commands.Answer) (string, error) {
	switch a := answer.(type) {
	case commands.Page:
		return pageText(a), nil
	case commands.List:
		text := draw.Palette{}.Text(draw.Choices(a, draw.Options{}))
		if a.Usage != "" && len(a.Choices) > 0 {
			text += "\nTo choose: " + a.Usage
		}
		return text, nil
	case commands.Operation:
		if err := s.Submit(ctx, a.Op); err != nil {
			return "", err
		}
		if len(a.Blocks) > 0 {
			return pageText(a.Page), nil
		}
		return a.Result, nil
	case commands.Copy:
		return a.Text, nil
	case commands.Follow:
		return pageText(a.Page), nil
	case commands.Edit:
		return "", commands.NoEditor(a.Path)
	case commands.Program:
		return "", fmt.Errorf("this asks at a terminal; use adze %s", strings.Join(a.Args, " "))
	}
	return "", fmt.Errorf("this needs a terminal")
}

func pageText(p commands.Page) string { return draw.Palette{}.Text(draw.Page(p, draw.Options{})) }
