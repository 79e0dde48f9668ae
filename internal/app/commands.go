package app

import (
	"context"
	"slices"
	"strings"

	"adze/internal/platform/spell"
)

// A command is something the program does instead of a run.
type command struct {
	name  string
	args  string // what follows the name, for the help text
	doc   string
	flags func() []flag
	run   func(context.Context, *Env, *options) error
}

func commands() []command {
	return []command{
		{"demo", "[--fast] [--keep]", "watch a scripted model fix a bug with real tools", demoFlags, runDemo},
		{"tool", "NAME [JSON]", "run one tool as a model's call would", toolFlags, runTool},
		{"tools", "[--json]", "list the tools", toolsFlags, listTools},
		{"models", "[--json]", "list the models with limits and prices", modelsFlags, listModels},
		{"permissions", "[list|check TOOL [JSON]|check --stdin]", "list permission rules, or explain how a call would be decided", permissionFlags, runPermissions},
		{"memory", "[list|show NAME|check|path|edit NAME|rm NAME]", "show and correct what is remembered about this project", memoryFlags, runMemory},
		{"prompt", "show [--json]", "show what the model is told before the first prompt, with its size", promptFlags, runPrompt},
		{"config", "[list|get KEY|set KEY VALUE|unset KEY|path|schema]", "show and change settings", configFlags, runConfig},
		{"trust", "[--list|--remove] [DIR]", "show what a workspace would enable, and trust it", trustFlags, runTrust},
		{"sandbox", "status [--json]", "say what confines commands, and show it by trying", sandboxFlags, runSandbox},
		{"sessions", "[list|show|search|export|fork|rename|tag|rm]", "list, find, export and remove sessions", sessionFlags, runSessions},
		{"completion", "bash|zsh|fish", "print a completion script for a shell", helpFlags, printCompletion},
		{"help", "", "print this help", helpFlags, printHelp},
		{"version", "", "print the version", helpFlags, printVersion},
	}
}

// plannedCommands are names that other versions have; as a single word they are no prompt.
var plannedCommands = [...]string{
	"acp", "agents", "auth", "doctor", "install", "login", "logout", "mcp",
	"plugin", "server", "setup-token", "update", "workflow",
}

func dispatch(ctx context.Context, env *Env) error {
	if len(env.Args) > 0 {
		for _, c := range commands() {
			if c.name == env.Args[0] {
				return c.start(ctx, env)
			}
		}
	}
	o := &options{}
	if err := parseFlags(runFlags(), env.Args, o); err != nil {
		return err
	}
	switch {
	case o.version:
		return printVersion(ctx, env, o)
	case o.help:
		return printHelp(ctx, env, o)
	}
	if err := mistakenCommand(env.Args); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	return run(ctx, env, o)
}

// start reads the command's own flags and runs it.
func (c *command) start(ctx context.Context, env *Env) error {
	o := &options{}
	if err := parseFlags(c.flags(), env.Args[1:], o); err != nil {
		return err
	}
	if o.help {
		return env.print(c.help())
	}
	return c.run(ctx, env, o)
}

// mistakenCommand reports that a single word was meant as a command.
func mistakenCommand(args []string) error {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], " \t\n") {
		return nil
	}
	if slices.Contains(plannedCommands[:], args[0]) {
		return setupErrorf("this version does not have the command %s yet; to send the word as a prompt, write adze -p %s", args[0], args[0])
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if near := spell.Closest(args[0], names, 1); len(near) > 0 {
		return setupErrorf("there is no command %s; did you mean %s? To send the word as a prompt, write adze -p %s", args[0], near[0], args[0])
	}
	return nil
}
