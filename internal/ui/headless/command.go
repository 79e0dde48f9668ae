package headless

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/ui/draw"
)

// commands returns the commands that can be sent instead of a prompt.
func (f *Front) commands() []commands.Command {
	if f.cfg.Commands == nil {
		return nil
	}
	return f.cfg.Commands.Commands()
}

// interpret returns the prompt to submit or, if p is a command, the operation to submit
// instead.
func (f *Front) interpret(ctx context.Context, p session.Prompt) (session.Prompt, session.Op) {
	name, arg, ok := f.command(p)
	if !ok {
		return p, nil
	}
	c, known := f.cfg.Commands.Lookup(name)
	if !known && !commands.Names(name) {
		return p, nil
	}
	run := func(ctx context.Context) (commands.Answer, error) { return f.cfg.Commands.Run(ctx, name, arg) }
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
			return f.execute(ctx, answer)
		}}, nil
	}}
}

// command parses a prompt as a command name and argument. It reports false if the prompt is not
// a command.
func (f *Front) command(p session.Prompt) (name, arg string, ok bool) {
	if f.cfg.Commands == nil || len(p.Parts) != 1 {
		return "", "", false
	}
	text, ok := p.Parts[0].(*msg.Text)
	if !ok {
		return "", "", false
	}
	return commands.Parse(text.Text)
}

// execute executes a command's answer and returns the text to print.
func (f *Front) execute(ctx context.Context, answer commands.Answer) (string, error) {
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
		if err := f.cfg.Session.Submit(ctx, a.Op); err != nil {
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
