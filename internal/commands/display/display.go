// Package display implements the built-in commands for the theme and the terminal's capabilities.
package display

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/commands"
)

// Config configures the commands.
type Config struct {
	// Getenv returns the terminal's environment variables.
	Getenv func(string) string
	// Ask runs a program and returns its output; it may be nil.
	Ask func(ctx context.Context, name string, args ...string) (string, error)
}

// Sections returns the commands in their /help section.
func Sections(c Config) []commands.Section {
	return []commands.Section{{Name: "Program", Commands: []commands.Command{themeCommand(c.Getenv), setupCommand(c)}}}
}

// Theme is the setting for the colors.
const Theme = "theme"

// Themes returns the available themes.
func Themes() []commands.Choice {
	list := []commands.Choice{
		{ID: "auto", About: "dark or light, as your terminal's background"},
		{ID: "ansi", About: "the sixteen colours of your terminal"},
		{ID: "dark", About: "for dark backgrounds"},
		{ID: "light", About: "for light backgrounds"},
		{ID: "dark-colour-blind", About: "blue and orange in place of green and red"},
		{ID: "light-colour-blind", About: "the same for light backgrounds"},
		{ID: "none", About: "no colours"},
	}
	for i := range list {
		list[i].Title = list[i].ID
	}
	return list
}

func themeCommand(getenv func(string) string) commands.Command {
	return commands.Command{Name: "theme", Kind: commands.Change, Args: "[NAME]", Doc: "choose the colours", Terminal: true, Instead: "adze config set theme NAME",
		Run: func(ctx context.Context, r *commands.Registry, name string) (commands.Answer, error) {
			if name != "" {
				return choose(ctx, r, name)
			}
			list := commands.List{
				Title: "Theme", Verb: "chooses",
				Page: commands.Say("The theme is " + current(r) + "."), Choices: Themes(), Usage: "/theme NAME",
				Preview: func(_ context.Context, c commands.Choice) (commands.Page, error) {
					return commands.Page{Blocks: []commands.Block{commands.Swatch(c.ID)}}, nil
				},
				Choose: func(ctx context.Context, c commands.Choice) (commands.Answer, error) { return choose(ctx, r, c.ID) },
			}
			if getenv("NO_COLOR") != "" {
				list.Page.Add(commands.Text("NO_COLOR is set, so colours stay off."))
			}
			return list, nil
		},
		Complete: func(*commands.Registry, string) []string {
			var names []string
			for _, c := range Themes() {
				names = append(names, c.ID)
			}
			return names
		}}
}

// current returns the name of the current theme.
func current(r *commands.Registry) string {
	options := r.Env.Options(true)
	i := slices.IndexFunc(options, func(o commands.Option) bool { return o.Key == Theme })
	if i < 0 {
		return "auto"
	}
	return strings.Trim(options[i].Value, `"`)
}

// choose changes the theme in the user's settings. It reports if other settings override it.
func choose(ctx context.Context, r *commands.Registry, name string) (commands.Answer, error) {
	if !slices.ContainsFunc(Themes(), func(c commands.Choice) bool { return c.ID == name }) {
		return nil, fmt.Errorf("unknown theme %q; /theme lists them", name)
	}
	said, err := r.Env.Change(ctx, Theme, &name)
	if err != nil {
		return nil, err
	}
	if current(r) != name {
		return commands.Say(said), nil
	}
	return commands.Say("The theme is now " + name + "."), nil
}
