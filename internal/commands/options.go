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
func optionsList(d *Desk) List {
	load := func(all bool) func(context.Context) ([]Choice, error) {
		return func(context.Context) ([]Choice, error) { return optionChoices(d.Env.Options(all)), nil }
	}
	set := optionChoices(d.Env.Options(false))
	return List{
		Page: configPage(d.Env.Options(false)), Title: "Settings",
		Views: []View{
			{Name: "all", Choices: optionChoices(d.Env.Options(true)), Load: load(true)},
			{Name: "set", Choices: set, Load: load(false), Empty: "Nothing is set: every setting has its default."},
		},
		Preview: func(_ context.Context, c Choice) (Page, error) { return describeOption(d, c.ID), nil },
		Set: func(ctx context.Context, c Choice) (string, error) {
			return d.Env.Change(ctx, c.ID, &c.Values[c.Value])
		},
		Actions: []Action{
			{Key: "enter", Name: "changes", Ask: "New value:", Text: func(c Choice) string { return bare(optionNamed(d, c.ID).Value) },
				Run: func(ctx context.Context, c Choice, text string) (Answer, error) {
					return setOption(ctx, d, c.ID, &text)
				}},
			{Key: "ctrl+x", Name: "resets", Run: func(ctx context.Context, c Choice, _ string) (Answer, error) {
				return setOption(ctx, d, c.ID, nil)
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

// optionNamed returns a setting, or an empty one if it does not exist.
func optionNamed(d *Desk, key string) Option {
	all := d.Env.Options(true)
	if i := slices.IndexFunc(all, func(o Option) bool { return o.Key == key }); i >= 0 {
		return all[i]
	}
	return Option{}
}

// describeOption describes a setting.
func describeOption(d *Desk, key string) Page {
	o := optionNamed(d, key)
	return Say(o.Doc, cmp.Or(o.Value, "not set")+", from "+cmp.Or(o.Origin, "the default"))
}
