package desk

import (
	"context"
	"errors"
	"strings"

	"adze/internal/model"
	"adze/internal/permission"
	"adze/internal/session"
)

func modelCommand() Command {
	return Command{Name: "model", Kind: Change, Args: "[NAME]", Doc: "show or choose the model",
		Run: func(_ context.Context, d *Desk, name string) (Answer, error) {
			choose := func(name string) Answer {
				return Operation{Op: session.SetModel{Name: name}, Entries: true, Result: "The model is now " + name + "."}
			}
			if name != "" {
				return choose(name), nil
			}
			list := List{
				Page:   Say("The model is " + d.Session.Model() + "."),
				Choose: func(_ context.Context, c Choice) (Answer, error) { return choose(c.ID), nil },
				Usage:  "/model NAME",
			}
			for _, alias := range d.Catalog.Aliases() {
				m, _ := d.Catalog.Lookup(alias) // ok: without an entry only the name is shown
				list.Choices = append(list.Choices, Choice{ID: alias, Title: alias, About: m.ID})
			}
			return list, nil
		}}
}

func modeCommand() Command {
	return Command{Name: "mode", Kind: Change, Args: "[MODE]", Doc: "show or choose the permission mode",
		Run: func(_ context.Context, d *Desk, mode string) (Answer, error) {
			choose := func(mode string) Answer {
				return Operation{Op: session.SetMode{Mode: mode}, Entries: true, Result: "The permission mode is now " + mode + "."}
			}
			if mode != "" {
				return choose(mode), nil
			}
			list := List{
				Page:   Say("The permission mode is " + d.Permission.Mode() + "."),
				Choose: func(_ context.Context, c Choice) (Answer, error) { return choose(c.ID), nil },
				Usage:  "/mode MODE",
			}
			for _, m := range permission.Modes() {
				list.Choices = append(list.Choices, Choice{ID: string(m), Title: string(m)})
			}
			return list, nil
		}}
}

func effortCommand() Command {
	return Command{Name: "effort", Kind: Change, Args: "LEVEL", Doc: "set how hard the model works: low, medium, high, max or auto",
		Run: func(_ context.Context, _ *Desk, arg string) (Answer, error) {
			level := model.Effort(arg)
			switch level {
			case model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortMax:
			case "auto":
				level = ""
			default:
				return nil, errors.New("the effort must be low, medium, high, max or auto")
			}
			return Operation{
				Op:   session.SetEffort{Effort: level},
				Page: Say("The effort is now " + arg + ". To make it permanent: adze config set effort " + arg),
			}, nil
		}}
}

func thinkingCommand() Command {
	return Command{Name: "thinking", Kind: Change, Args: "on|off", Doc: "switch thinking before an answer on or off",
		Run: func(_ context.Context, _ *Desk, arg string) (Answer, error) {
			var how model.Thinking
			switch strings.ToLower(arg) {
			case "on":
				how.Mode = model.ThinkingAdaptive
			case "off":
			default:
				return nil, errors.New("usage: /thinking on or /thinking off")
			}
			return Operation{Op: session.SetThinking{Thinking: how}, Page: Say("Thinking is now " + arg + ".")}, nil
		}}
}
