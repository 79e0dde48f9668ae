package desk

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/model"
	"adze/internal/platform/spell"
)

func configCommand() Command {
	return Command{Name: "config", Aliases: []string{"settings"}, Kind: Change, Args: "[KEY [VALUE]]",
		Doc: "show what is set, or one setting, or change it in your settings; unset KEY removes it",
		Run: func(ctx context.Context, d *Desk, arg string) (Answer, error) { return runConfig(ctx, d, arg) },
		Complete: func(d *Desk, _ string) []string {
			var names []string
			for _, s := range d.Surroundings.Options(true) {
				names = append(names, s.Key)
			}
			return names
		}}
}

// Surroundings are what a session runs in: settings, programs, directories.
type Surroundings struct {
	// Options returns the settings that are set, or all that a file can hold.
	Options func(all bool) []Option
	// Change sets a value, or removes it if it is nil, in the user's settings. It returns what to tell the user.
	Change func(ctx context.Context, key string, value *string) (string, error)
	// About returns what to show of them, and Examine looks for what is wrong; both may be nil.
	About   func() Fields
	Examine func(ctx context.Context) []Check
	// Commands returns further commands, which come and go, such as prompts of servers; where no user is at a terminal it
	// may wait for them. Resources returns what may be
	// meant by a mention that is being typed, such as server:uri; one that ends in a colon goes on. Both may be nil.
	Commands  func(wait bool) []Command
	Resources func(ctx context.Context, typed string) []string
	// Limits returns the rate limits of the model's provider, as far as they are known; it may be nil.
	Limits func() []model.Limit
}

// An Option is one setting.
type Option struct {
	Key, Value, Doc string
	// Origin is where the value comes from; empty for the default.
	Origin string
}

// runConfig shows or changes settings.
func runConfig(ctx context.Context, d *Desk, arg string) (Answer, error) {
	key, value, changes := strings.Cut(arg, " ")
	value = strings.TrimSpace(value)
	switch {
	case arg == "" || arg == "list":
		return configPage(d.Surroundings.Options(false)), nil
	case key == "set" || key == "get":
		key, value, changes = strings.Cut(value, " ")
		value = strings.TrimSpace(value)
	case key == "unset":
		return d.setOption(ctx, value, nil)
	}
	if changes && value != "" {
		return d.setOption(ctx, key, &value)
	}
	for _, o := range d.Surroundings.Options(true) {
		if strings.EqualFold(o.Key, key) {
			origin := o.Origin
			if origin == "" {
				origin = "the default"
			}
			return Page{Blocks: []Block{Fields{{o.Key, o.Value}, {"from", origin}, {"about", o.Doc}}}}, nil
		}
	}
	return nil, unknownOption(d.Surroundings.Options(true), key)
}

// unknownOption returns the error for a setting that does not exist.
func unknownOption(all []Option, key string) error {
	var names []string
	for _, o := range all {
		names = append(names, o.Key)
	}
	if near := spell.Closest(key, names, 1); len(near) > 0 {
		return fmt.Errorf("there is no setting %s; did you mean %s?", key, near[0])
	}
	return fmt.Errorf("there is no setting %s", key)
}

// configPage lists what is set.
func configPage(options []Option) Page {
	if len(options) == 0 {
		return Say("Nothing is set: every setting has its default. /config KEY VALUE changes one.")
	}
	table := Table{Columns: []Column{{Name: "Setting"}, {Name: "value", Cut: true}, {Name: "from"}}}
	for _, o := range options {
		table.Rows = append(table.Rows, []string{o.Key, o.Value, o.Origin})
	}
	return Page{Blocks: []Block{table, Text("/config KEY shows a setting, /config KEY VALUE changes it in your settings, /config unset KEY removes it.")}}
}

// errTerminal says why a command that changes what is allowed or kept is refused: a prompt may hold words of others.
var errTerminal = errors.New("this can be changed at a terminal only")

// setOption changes a setting.
func (d *Desk) setOption(ctx context.Context, key string, value *string) (Answer, error) {
	if !d.Terminal {
		return nil, errTerminal
	}
	text, err := d.Surroundings.Change(ctx, key, value)
	if err != nil {
		return nil, err
	}
	return Say(text), nil
}
