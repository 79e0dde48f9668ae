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
		keysCommand(),
		clearCommand(),
		resumeCommand(),
		rewindCommand(),
		renameCommand(),
		exportCommand(),
		copyCommand(),
		diffCommand(),
		modelCommand(),
		modeCommand(),
		planCommand(),
		effortCommand(),
		thinkingCommand(),
		initCommand(),
		reviewCommand(),
		compactCommand(),
		snipCommand(),
		summaryCommand(),
		memoryCommand(),
		contextCommand(),
		hooksCommand(),
		mcpCommand(),
		permissionsCommand(),
		addDirCommand(),
		configCommand(),
		statusCommand(),
		doctorCommand(),
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
	// Complete returns arguments that may begin with what was typed of one; it may be nil.
	Complete func(d *Desk, arg string) []string
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
	all := slices.Clone(d.commands)
	if d.Surroundings.Commands != nil {
		all = append(all, d.Surroundings.Commands(false)...)
	}
	return slices.DeleteFunc(all, func(c Command) bool { return c.Terminal && !d.Terminal })
}

// Lookup returns the command with that name or alias, ignoring case, whether it is available or not.
func (d *Desk) Lookup(name string) (*Command, bool) {
	if c := find(d.commands, name); c != nil {
		return c, true
	}
	if d.Surroundings.Commands == nil {
		return nil, false
	}
	c := find(d.Surroundings.Commands(true), name)
	return c, c != nil
}

// find returns the command with that name or alias, in the same case if there is one, or nil.
func find(all []Command, name string) *Command {
	is := func(other string) bool { return strings.EqualFold(other, name) }
	i := slices.IndexFunc(all, func(c Command) bool { return c.Name == name })
	if i < 0 {
		i = slices.IndexFunc(all, func(c Command) bool { return is(c.Name) || slices.ContainsFunc(c.Aliases, is) })
	}
	if i < 0 {
		return nil
	}
	return &all[i]
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

// usage returns the command with its arguments.
func (c *Command) usage() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }
