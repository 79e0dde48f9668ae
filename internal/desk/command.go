package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"adze/internal/platform/spell"
)

// commands returns all commands, in the order of /help. To add one, write its constructor in a file of its own and
// list it here.
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

// A Command is what the user types as /name. It is not sent to the model as it is typed.
type Command struct {
	Name    string
	Aliases []string
	Kind    Kind
	// Args names the arguments, and Doc says in a few words what the command does.
	Args, Doc string
	// Terminal reports whether the command needs a terminal.
	Terminal bool
	// Run does what needs no front end, and returns what the front end is to do. Its error is shown to the user.
	Run func(ctx context.Context, d *Desk, arg string) (Answer, error)
}

// A Kind classifies commands. A front end that queues commands with prompts submits the operation of a [Work] command
// at once, and runs a command of another kind when its turn comes.
type Kind uint8

const (
	// Show commands change nothing.
	Show Kind = iota
	// Change commands change something at once.
	Change
	// Work commands are operations that take the place of a turn.
	Work
	// Ask commands stand for a prompt.
	Ask
)

// Commands returns the commands that are available, in the order of /help.
func (d *Desk) Commands() []Command {
	return slices.DeleteFunc(slices.Clone(d.commands), func(c Command) bool { return c.Terminal && !d.Terminal })
}

// Lookup returns the command with that name or alias, ignoring case, whether it is available or not.
func (d *Desk) Lookup(name string) (*Command, bool) {
	is := func(other string) bool { return strings.EqualFold(other, name) }
	for i := range d.commands {
		if c := &d.commands[i]; is(c.Name) || slices.ContainsFunc(c.Aliases, is) {
			return c, true
		}
	}
	return nil, false
}

// Parse splits what the user typed into the name of a command and its argument. It reports false if the text does not
// begin with a slash, or is a path.
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

// unknown returns the error for a command that does not exist, with the closest name if there is one.
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

// Complete returns the command that text is a prefix of, or text if there is not exactly one.
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

// usage returns the command with its arguments.
func (c *Command) usage() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }
