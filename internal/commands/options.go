package commands

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"adze/internal/tool"
)

// optionsList lists the settings, to be changed in place. Line-based front ends get the page of
// the settings that are set.
func (r *Registry) optionsList() List {
	load := func(all bool) func(context.Context) ([]Choice, error) {
		return func(context.Context) ([]Choice, error) { return optionChoices(r.Env.Options(all)), nil }
	}
	set := optionChoices(r.Env.Options(false))
	return List{
		Full: true,
		Page: configPage(r.Env.Options(false)), Title: "Settings",
		Views: []View{
			{Name: "all", Choices: optionChoices(r.Env.Options(true)), Load: load(true)},
			{Name: "set", Choices: set, Load: load(false), Empty: "Nothing is set: every setting has its default."},
		},
		Preview: func(_ context.Context, c Choice) (Page, error) { return r.describeOption(c.ID), nil },
		Set: func(ctx context.Context, c Choice) (string, error) {
			return r.Env.Change(ctx, c.ID, &c.Values[c.Value])
		},
		Actions: []Action{
			{Key: "enter", Name: "changes", Ask: "New value:", Text: func(c Choice) string { return bare(r.option(c.ID).Value) },
				Run: func(ctx context.Context, c Choice, text string) (Answer, error) {
					return setOption(ctx, r, c.ID, &text)
				}},
			{Key: "ctrl+x", Name: "resets", Run: func(ctx context.Context, c Choice, _ string) (Answer, error) {
				return setOption(ctx, r, c.ID, nil)
			}},
		},
	}
}

func optionChoices(options []Option) []Choice {
	choices := []Choice{}
	for _, o := range options {
		c := Choice{ID: o.Key, Title: o.Key, Values: o.Values, Cells: []string{tool.OneLine(o.Value, 40), o.Origin}}
		c.Value = slices.Index(o.Values, bare(o.Value))
		choices = append(choices, c)
	}
	return choices
}

// bare returns a setting's value without JSON quotes.
func bare(value string) string { return strings.Trim(value, `"`) }

// option returns a setting, or an empty one if it does not exist.
func (r *Registry) option(key string) Option {
	all := r.Env.Options(true)
	if i := slices.IndexFunc(all, func(o Option) bool { return o.Key == key }); i >= 0 {
		return all[i]
	}
	return Option{}
}

// describeOption describes a setting.
func (r *Registry) describeOption(key string) Page {
	o := r.option(key)
	return Say(o.Doc, cmp.Or(o.Value, "not set")+", from "+cmp.Or(o.Origin, "the default"))
}
