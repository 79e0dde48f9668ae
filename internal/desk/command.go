package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"adze/internal/platform/spell"
)

// commands returns every command, in the order of /help. To add one, write a file with its constructor and name
// it here.
func commands() []Command {
	return []Command{
		helpCommand(),
		clearCommand(),
		resumeCommand(),
		renameCommand(),
		exportCommand(),
		modelCommand(),
		modeCommand(),
		effortCommand(),
		thinkingCommand(),
		reviewCommand(),
		compactCommand(),
		snipCommand(),
		summaryCommand(),
		memoryCommand(),
		contextCommand(),
		hooksCommand(),
		permissionsCommand(),
		tasksCommand(),
		costCommand(),
		versionCommand(),
		exitCommand(),
	}
}

// A Command is something that the user types as /name and that does not go to the model as it is.
type Command struct {
	Name    string
	Aliases []string
	Kind    Kind
	// Args hints at the arguments, and Doc says what the command does, in a few words.
	Args, Doc string
	// Terminal says that the command needs a user at a terminal.
	Terminal bool
	// Run carries the command out as far as it can without the front end, and returns what is left to do. An
	// error is for the user.
	Run func(ctx context.Context, d *Desk, arg string) (Answer, error)
}

// A Kind says what a command is about. A front end that runs commands in the order of prompts submits the
// operation of a [Work] command at once, and runs a command of another kind when its turn comes.
type Kind uint8

const (
	// Show shows something and changes nothing.
	Show Kind = iota
	// Change changes something at once.
	Change
	// Work is an operation that takes the place of a turn.
	Work
	// Ask is a prompt in other words.
	Ask
)

// Commands returns the commands that are available, in the order of /help.
func (d *Desk) Commands() []Command {
	return slices.DeleteFunc(slices.Clone(d.commands), func(c Command) bool { return c.Terminal && !d.Terminal })
}

// Lookup returns the command of that name or alias, in any case of letters, whether it is available or not.
func (d *Desk) Lookup(name string) (*Command, bool) {
	is := func(other string) bool { return strings.EqualFold(other, name) }
	for i := range d.commands {
		if c := &d.commands[i]; is(c.Name) || slices.ContainsFunc(c.Aliases, is) {
			return c, true
		}
	}
	return nil, false
}

// Parse divides what the user typed into the name of a command and its argument. It reports false for what is
// not meant as a command: a path, or text that begins otherwise.
func Parse(text string) (name, arg string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, arg = rest[:i], strings.TrimSpace(rest[i:])
	}
	return name, arg, !strings.Contains(name, "/")
}

// Run runs the command of that name.
func (d *Desk) Run(ctx context.Context, name, arg string) (Answer, error) {
	c, ok := d.Lookup(name)
	switch {
	case !ok:
		return nil, d.unknown(name)
	case c.Terminal && !d.Terminal:
		return nil, fmt.Errorf("/%s is available at a terminal only", c.Name)
	}
	return c.Run(ctx, d, arg)
}

// unknown says that there is no such command, and which one may be meant.
func (d *Desk) unknown(name string) error {
	var names []string
	for _, c := range d.Commands() {
		names = append(names, c.Name)
	}
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		return fmt.Errorf("unknown command /%s; did you mean /%s?", name, near[0])
	}
	return fmt.Errorf("unknown command /%s; /help lists the commands", name)
}

// Complete returns the command that text is the only beginning of, or text.
func (d *Desk) Complete(text string) string {
	if !strings.HasPrefix(text, "/") {
		return text
	}
	var found []string
	for _, c := range d.Commands() {
		if strings.HasPrefix("/"+c.Name, text) {
			found = append(found, "/"+c.Name)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return text
}

// usage returns how a command is written.
func (c *Command) usage() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }
