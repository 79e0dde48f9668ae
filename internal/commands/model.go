package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/permission"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
)

func modelCommand() Command {
	return Command{Name: "model", Kind: Change, Args: "[NAME]", Doc: "show or choose the model",
		Run: func(ctx context.Context, r *Registry, name string) (Answer, error) {
			if name != "" {
				return r.chooseModel(name)
			}
			list := List{
				Page:   Say("The model is " + r.ModelInWords(r.Session.Model()) + "."),
				Choose: func(ctx context.Context, c Choice) (Answer, error) { return takeModel(ctx, r, c) },
				Usage:  "/model NAME",
				Title:  "Model",
			}
			for _, alias := range r.Models.Catalog.Aliases() {
				m, _ := r.Models.Catalog.Lookup(alias) // ok: without an entry only the name is shown
				list.Choices = append(list.Choices, r.modelChoice(alias, m))
			}
			if r.Models.Here != nil {
				for _, m := range r.Models.Here(ctx) {
					list.Choices = append(list.Choices, r.modelChoice(m.ID, m))
				}
			}
			var all []Choice
			for _, m := range r.Models.Catalog.All() {
				all = append(all, r.modelChoice(m.ID, m))
			}
			list.Views = []View{{Name: "all", Choices: all}}
			if len(list.Choices) > 0 {
				list.Views = []View{{Name: "suggested", Choices: list.Choices}, {Name: "all", Choices: all}}
			}
			return list, nil
		},
		Complete: func(r *Registry, _ string) []string {
			names := r.Models.Catalog.Aliases()
			for _, m := range r.Models.Catalog.All() {
				names = append(names, m.ID)
			}
			return names
		}}
}

// takeModel returns the answer that changes the model to a choice, after changing the effort if
// the user has chosen one.
func takeModel(ctx context.Context, r *Registry, c Choice) (Answer, error) {
	answer, err := r.chooseModel(c.ID)
	if err != nil || c.Value < 0 || c.Value >= len(c.Values) {
		return answer, err
	}
	effort, err := chooseEffort(c.Values[c.Value])
	if err != nil {
		return nil, err
	}
	set, op := effort.(Operation), answer.(Operation)
	if err := r.Session.Submit(ctx, set.Op); err != nil {
		return nil, err
	}
	op.Page.Add(set.Page.Blocks...)
	return op, nil
}

// modelChoice returns a model by its name or alias, with its effort levels, context size and
// price. The effort stays unchanged unless the user chooses one.
func (r *Registry) modelChoice(name string, m catalog.Model) Choice {
	c := Choice{ID: name, Title: name, About: m.Name, Cells: []string{"", m.Name, "", "", ""}, Value: -1}
	for _, level := range m.Efforts() {
		c.Values = append(c.Values, string(level))
	}
	if len(c.Values) > 0 {
		c.Values, c.Cells[0] = append(c.Values, "auto"), "effort"
	}
	if m.ContextWindow > 0 {
		c.Cells[2] = amount.Rounded(m.ContextWindow) + " tokens"
	}
	if m.Price != nil {
		c.Cells[3] = "$" + amount.Price(m.Price.Input) + " in, $" + amount.Price(m.Price.Output) + " out"
	}
	if name == r.Session.Model() {
		c.Cells[4] = "now"
	}
	return c
}

// ModelInWords returns a model's display name, with its ID and the user's alias if they differ.
func (r *Registry) ModelInWords(name string) string {
	id := name
	if m, err := r.Preamble.Resolve(name); err == nil {
		id = m.ID
	}
	known, _ := r.Models.Catalog.Lookup(id) // ok: then it has no other name
	text := id
	if known.Name != "" && known.Name != id {
		text = known.Name + " (" + id + ")"
	}
	if name != id {
		text = name + ": " + text
	}
	return text
}

// chooseModel returns the answer that changes the model. A name outside the catalog may be
// known to the provider, unless it looks like a misspelling of one in the catalog.
func (r *Registry) chooseModel(name string) (Answer, error) {
	if _, err := r.Preamble.Resolve(name); err != nil {
		return nil, err
	}
	op := Operation{Op: session.SetModel{Name: name}, Entries: true, Result: "The model is now " + r.ModelInWords(name) + "."}
	if _, known := r.Models.Catalog.Lookup(name); known || strings.ContainsAny(name, ":/") { // known, or prefixed with a provider
		return op, nil
	}
	if near := r.Models.Catalog.Closest(name); len(near) > 0 {
		return nil, fmt.Errorf("unknown model %s; did you mean %s? The setting models can add others", name, strings.Join(near, " or "))
	}
	text := name + " is not in the table of models. It is used as named; if the provider does not know it, choose another with /model."
	op.Page, op.Result = Say(text), op.Result+"\n"+text
	return op, nil
}

func modeCommand() Command {
	return Command{Name: "mode", Kind: Change, Args: "[MODE]", Doc: "show or choose the permission mode",
		Run: func(_ context.Context, r *Registry, mode string) (Answer, error) {
			if mode != "" {
				return chooseMode(mode), nil
			}
			list := List{
				Page:   Say("The permission mode is " + r.Permission.Mode() + "."),
				Choose: func(_ context.Context, c Choice) (Answer, error) { return chooseMode(c.ID), nil },
				Usage:  "/mode MODE",
				Title:  "Mode",
			}
			for _, m := range permission.Modes() {
				list.Choices = append(list.Choices, Choice{ID: string(m), Title: string(m), About: m.About()})
			}
			return list, nil
		},
		Complete: func(*Registry, string) []string {
			var names []string
			for _, m := range permission.Modes() {
				names = append(names, string(m))
			}
			return names
		}}
}

func planCommand() Command {
	return Command{Name: "plan", Kind: Change, Doc: "switch to plan mode: the model explores and makes a plan, but changes nothing",
		Run: func(_ context.Context, _ *Registry, arg string) (Answer, error) {
			if arg != "" { // the words would be lost
				return nil, errors.New("usage: /plan. Describe the task in the next message")
			}
			return chooseMode(string(permission.Plan)), nil
		}}
}

// chooseMode returns the answer that changes the permission mode.
func chooseMode(mode string) Answer {
	return Operation{Op: session.SetMode{Mode: mode}, Entries: true, Result: "The permission mode is now " + DescribeMode(mode) + "."}
}

// DescribeMode returns a permission mode with its description.
func DescribeMode(mode string) string {
	about := permission.Mode(mode).About()
	if about == "" {
		return mode
	}
	return mode + " (" + about + ")"
}

func effortCommand() Command {
	return Command{Name: "effort", Kind: Change, Args: "[LEVEL]", Doc: "set the model's effort: low, medium, high, xhigh, max or auto",
		Run: func(_ context.Context, r *Registry, arg string) (Answer, error) {
			if arg == "" {
				return r.effortList(), nil
			}
			return chooseEffort(arg)
		},
		Complete: words("low", "medium", "high", "xhigh", "max", "auto")}
}

// effortList lists the model's effort levels.
func (r *Registry) effortList() List {
	list := List{
		Page:   Say("How hard should " + r.ModelInWords(r.Session.Model()) + " work?"),
		Choose: func(_ context.Context, c Choice) (Answer, error) { return chooseEffort(c.ID) },
		Usage:  "/effort LEVEL",
		Title:  "Effort",
	}
	id := r.Session.Model()
	if m, err := r.Preamble.Resolve(id); err == nil {
		id = m.ID
	}
	set := r.Env.Settings().Effort
	add := func(level model.Effort, about string) {
		if level == set {
			about = "as set by flags and settings"
		}
		list.Choices = append(list.Choices, Choice{ID: string(level), Title: string(level), About: about})
	}
	known, _ := r.Models.Catalog.Lookup(id) // ok: then it has no known levels
	for _, level := range known.Efforts() {
		add(level, "")
	}
	add("auto", "left to the model")
	return list
}

func chooseEffort(name string) (Answer, error) {
	level := model.Effort(name)
	switch level {
	case model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax:
	case "auto":
		level = ""
	default:
		return nil, errors.New("the effort must be low, medium, high, xhigh, max or auto")
	}
	return Operation{
		Op:   session.SetEffort{Effort: level},
		Page: Say("The effort is now " + name + ". To make it permanent: adze config set effort " + name),
	}, nil
}

// thinkingList lets the user choose an argument of the command.
func thinkingList() List {
	return List{
		Page:   Say("Should the model think before it answers?"),
		Choose: func(_ context.Context, c Choice) (Answer, error) { return chooseThinking(c.ID) },
		Usage:  "/thinking on or /thinking off", Title: "Thinking",
		Choices: []Choice{
			{ID: "on", Title: "on", About: "as long as the question needs"},
			{ID: "off", Title: "off", About: "it answers at once, if the model can"},
		},
	}
}

func chooseThinking(arg string) (Answer, error) {
	var how model.Thinking
	switch strings.ToLower(arg) {
	case "on":
		how.Mode = model.ThinkingAdaptive
	case "off":
		how.UserRequested = true
	default:
		return nil, errors.New("usage: /thinking on or /thinking off")
	}
	return Operation{Op: session.SetThinking{Thinking: how}, Page: Say("Thinking is now " + arg + ".")}, nil
}

func thinkingCommand() Command {
	return Command{Name: "thinking", Kind: Change, Args: "[on|off]", Doc: "switch thinking before an answer on or off",
		Run: func(_ context.Context, _ *Registry, arg string) (Answer, error) {
			if arg == "" {
				return thinkingList(), nil
			}
			return chooseThinking(arg)
		},
		Complete: words("on", "off")}
}
