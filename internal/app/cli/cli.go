// Package cli is the command line: one options struct for each sub-command, with its flags and its run
// method, and the help generated from both. It opens workspaces and conversations through package wire and
// hands them to front ends; what they are made of is left to wire.
package cli

import (
	"context"
	"slices"
	"strings"

	"adze/internal/agent"
	"adze/internal/app/setup"
	"adze/internal/platform/spell"
)

// options are the flags of one command and the function that runs it.
type options interface {
	flags() []flag
	run(ctx context.Context, env *Env, in invocation) error
}

// A command is a sub-command, such as adze models.
type command struct {
	name    string
	args    string // what follows the name, for the help text
	doc     string
	options func() options
}

func commands() []command {
	return []command{
		{"demo", "[--fast] [--keep]", "watch a scripted model fix a bug with real tools", made[demoOptions]},
		{"tool", "NAME [JSON]", "run one tool as a model's call would", made[toolOptions]},
		{"tools", "[--json]", "list the tools", made[toolsOptions]},
		{"models", "[--json]", "list the models with limits and prices", made[modelsOptions]},
		{"permissions", "[list|check TOOL [JSON]|check --stdin]", "list permission rules, or explain how a call would be decided", made[permissionsOptions]},
		{"memory", "[list|show NAME|check|path|edit NAME|rm NAME]", "show and edit the memories of this project", made[memoryOptions]},
		{"prompt", "show [--json]", "show what the model gets before the first prompt, and its size", made[promptOptions]},
		{"config", "[list|get KEY|set KEY VALUE|unset KEY|path|schema]", "show and change settings", made[configOptions]},
		{"trust", "[--list|--remove] [DIR]", "show what a workspace would enable, and trust it", made[trustOptions]},
		{"sandbox", "status [--json]", "show how commands are sandboxed, and test it", made[sandboxOptions]},
		{"sessions", "[list|show|search|export|fork|rename|tag|rm]", "list, find, export and remove sessions", made[sessionsOptions]},
		{"completion", "bash|zsh|fish", "print a completion script for a shell", made[completionOptions]},
		{"help", "", "print this help", made[helpOptions]},
		{"version", "", "print the version", made[versionOptions]},
	}
}

func made[T any, P interface {
	*T
	options
}]() options {
	return P(new(T))
}

// plannedCommands are commands that this version does not have. A single word among them is not a prompt.
var plannedCommands = [...]string{
	"acp", "agents", "auth", "doctor", "install", "login", "logout", "mcp",
	"plugin", "server", "setup-token", "update", "workflow",
}

// An Ended error says that a run failed and that the user has been told.
type Ended struct{ Reason agent.Reason }

func (e *Ended) Error() string { return "ended: " + string(e.Reason) }

// Run runs the command that the arguments name.
func Run(ctx context.Context, env *Env) error {
	if len(env.Args) > 0 {
		for _, c := range commands() {
			if c.name == env.Args[0] {
				return c.start(ctx, env)
			}
		}
	}
	o := &runOptions{}
	in, err := parse(o.flags(), env.Args)
	if err != nil {
		return err
	}
	switch {
	case o.version:
		return env.print(versionText(env))
	case o.help:
		return env.print(helpText())
	}
	if err := mistakenCommand(env.Args); err != nil {
		return err
	}
	return o.run(ctx, env, in)
}

// start reads the command's own flags and runs it.
func (c *command) start(ctx context.Context, env *Env) error {
	help, o := false, c.options()
	in, err := parse(append(o.flags(), helpFlag(&help)), env.Args[1:])
	if err != nil {
		return err
	}
	if help {
		return env.print(c.help())
	}
	return o.run(ctx, env, in)
}

// mistakenCommand returns an error if the only argument looks like a command rather than a prompt.
func mistakenCommand(args []string) error {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], " \t\n") {
		return nil
	}
	if slices.Contains(plannedCommands[:], args[0]) {
		return setup.Errorf("the command %s is not available in this version; to send the word as a prompt, use adze -p %s", args[0], args[0])
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if near := spell.Closest(args[0], names, 1); len(near) > 0 {
		return setup.Errorf("there is no command %s; did you mean %s? To send the word as a prompt, use adze -p %s", args[0], near[0], args[0])
	}
	return nil
}
