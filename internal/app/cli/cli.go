// Package cli implements the command line: one options struct per sub-command, with its flags
// and run method, and the help generated from both. It opens workspaces and conversations
// through package wire and passes them to front ends.
package cli

import (
	"context"
	"slices"
	"strings"

	"adze/internal/agent"
	"adze/internal/app/cli/flags"
	"adze/internal/commands"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/rank"
	"adze/internal/setup"
)

// options is implemented by the options of each command.
type options interface {
	flags() []flag
	run(ctx context.Context, env *Env, in invocation) error
}

// A command is a sub-command, such as adze models.
type command struct {
	group   string
	name    string
	args    string // arguments after the name, for the help text
	doc     string
	options func() options
}

// Aliases for syntax types.
type (
	action     = flags.Action
	flag       = flags.Flag
	invocation = flags.Invocation
	offer      = flags.Offer
)

// An actor is a command with actions.
type actor interface{ actions() []action }

// An adviser is a command that can explain arguments that fail to parse.
type adviser interface{ advice(args []string) string }

// Groups of commands, in the help.
const (
	groupSetUp   = "set up"
	groupControl = "control what may run"
	groupExtend  = "extend"
	groupHistory = "look back and ahead"
	groupInspect = "look inside"
	groupShell   = "for the shell"
	groupLearn   = "learn"
)

// commandTable lists the commands by group.
func commandTable() []command {
	return []command{
		{groupSetUp, "auth", "[login|logout|status]", "store and remove API keys, and show which provider is configured", made[authOptions]},
		{groupSetUp, "models", "[--json]", "list the models with limits and prices", made[modelsOptions]},
		{groupSetUp, "config", "[list|get KEY|set KEY VALUE|unset KEY|path|schema]", "show and change settings", made[configOptions]},
		{groupSetUp, "doctor", "[--online] [--json]", "check the installation, the settings and the workspace for problems", made[doctorOptions]},
		{groupSetUp, "import", "[--json]", "show other tools' configuration and what adze picks up from it", made[importOptions]},
		{groupSetUp, "update", "[VERSION] [--check] [--rollback] [--channel NAME] [--json]", "replace this program with a newer version", made[updateOptions]},
		{groupControl, "permissions", "[list|check|check TOOL [JSON]|check --stdin]", "list permission rules, find those without effect, or explain how a call would be decided", made[permissionsOptions]},
		{groupControl, "trust", "[--list [--json]|--remove] [DIR]", "list a workspace's configuration, and trust it", made[trustOptions]},
		{groupControl, "sandbox", "status [--json]", "show how commands are sandboxed, and test it", made[sandboxOptions]},
		{groupExtend, "mcp", "[list|get NAME|add NAME ...|remove NAME|...]", "list, add and remove MCP servers", made[mcpOptions]},
		{groupExtend, "plugin", "[list|install NAME|enable NAME|disable NAME|update|uninstall NAME|...]", "install, update and remove plugins, and show their contents", made[pluginOptions]},
		{groupExtend, "acp", "", "serve an editor that speaks the Agent Client Protocol, on standard input and output", made[acpOptions]},
		{groupExtend, "agents", "[list|show NAME|create NAME|edit NAME|rm NAME]", "list the agents; create, edit and remove agent files", made[agentsOptions]},
		{groupExtend, "memory", "[list|show NAME|check|path|edit NAME|rm NAME]", "show and edit the memories of this project", made[memoryOptions]},
		{groupHistory, "sessions", "[list|show|search|export|fork|rename|tag|rm]", "list, find, export and remove sessions", made[sessionsOptions]},
		{groupHistory, "schedule", "[list|delete ID...]", "list and delete the prompts scheduled in this directory", made[scheduleOptions]},
		{groupInspect, "prompt", "show [--json]", "show the initial request to the model, and its size", made[promptOptions]},
		{groupInspect, "tools", "[--json] [--mcp]", "list the tools", made[toolsOptions]},
		{groupInspect, "tool", "[--as-model] NAME [JSON]", "run one tool; naming it allows it", made[toolOptions]},
		{groupShell, "completion", "bash|zsh|fish|powershell", "print a completion script for a shell", made[completionOptions]},
		{groupShell, "shell-init", "bash|zsh|fish [--key KEYS]", "print a script that binds a key of the shell to adze", made[shellInitOptions]},
		{groupShell, "man", "", "print the manual page; adze man | man -l - shows it", made[manOptions]},
		{groupLearn, "demo", "[--fast] [--keep] [--svg FILE [--animated] [--theme NAME]]", "watch a scripted model fix a bug with real tools", made[demoOptions]},
		{groupLearn, "help", "[COMMAND|flags|commands]", "print help: an overview, or that of a command, all flags or all commands", made[helpOptions]},
		{groupLearn, "version", "[--json]", "print the version", made[versionOptions]},
	}
}

func made[T any, P interface {
	*T
	options
}]() options {
	return P(new(T))
}

// An Ended error reports that a run failed and that the user has already been notified.
type Ended struct{ Reason agent.Reason }

func (e *Ended) Error() string { return "ended: " + string(e.Reason) }

// Run runs the command named by the arguments.
func Run(ctx context.Context, env *Env) error {
	env.done = ctx.Done()
	if len(env.Args) > 0 {
		if c := findCommand(env.Args[0]); c != nil {
			return c.start(ctx, env)
		}
	}
	if err := mistakenCommand(env.Args); err != nil {
		return err
	}
	o := &runOptions{}
	in, err := flags.Parse(o.flags(), env.Args)
	if err != nil {
		return err
	}
	if !o.print && o.input != inputStream && len(in.Rest) == 0 {
		if err := foreignCommand(in.Args); err != nil {
			return err
		}
	}
	switch {
	case o.version:
		return env.print(versionText(env))
	case o.help:
		return env.print(helpText(env.helpWidth()))
	case env.Lost != nil:
		return env.lost()
	}
	return o.run(ctx, env, in)
}

// start parses the command's own flags and runs it.
func (c *command) start(ctx context.Context, env *Env) error {
	help, o := false, c.options()
	in, err := flags.Parse(append(o.flags(), helpFlag(&help)), env.Args[1:])
	if err != nil {
		if a, ok := o.(adviser); ok {
			return setup.Errorf("%v%s", err, a.advice(env.Args[1:]))
		}
		return err
	}
	switch {
	case help || len(in.Args) == 1 && in.Args[0] == "help" && c.name != "help" && !fsys.IsDir("help"):
		return env.page(c.help(env.helpWidth()))
	case len(in.Args) > 0 && !c.positional():
		return setup.Errorf("adze %s takes no arguments; remove %q (adze %s --help shows its flags)", c.name, strings.Join(in.Args, " "), c.name)
	case env.Lost != nil && !slices.Contains(anywhere[:], c.name):
		return env.lost()
	}
	return o.run(ctx, env, in)
}

// actionOf returns the action named by the arguments, by default usual, and its own arguments.
func actionOf(in invocation, usual string) (name string, args []string) {
	if len(in.Args) == 0 {
		return usual, nil
	}
	return in.Args[0], in.Args[1:]
}

// anywhere lists the commands that need no working directory.
var anywhere = [...]string{"completion", "help", "man", "shell-init", "update", "version"}

// positional reports whether the command takes positional arguments.
func (c *command) positional() bool {
	return slices.ContainsFunc(strings.Fields(c.args), func(word string) bool { return !strings.HasPrefix(strings.TrimLeft(word, "["), "-") })
}

// findCommand returns the named command, or nil.
func findCommand(name string) *command {
	for _, c := range commandTable() {
		if c.name == name {
			return &c
		}
	}
	return nil
}

// mistakenCommand returns an error if the arguments look like a mistyped command rather than a
// prompt: a single word similar to a command name, or such a word before a flag of that command
// or a word such as list.
func mistakenCommand(args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], " \t\n") {
		return nil
	}
	if err := foreignCommand(args); err != nil {
		return err
	}
	word, rest := args[0], args[1:]
	prompt := asPrompt(args)
	all := commandTable()
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	near := rank.Closest(word, names, 1)
	if len(near) == 0 {
		return nil
	}
	meant := all[slices.Index(names, near[0])]
	if len(rest) > 0 && !meant.takes(rest[0]) {
		return nil
	}
	return setup.Errorf("unknown command %s; did you mean adze %s? To send the words as a prompt, use %s",
		word, strings.Join(append([]string{near[0]}, rest...), " "), prompt)
}

// asPrompt returns the command line that sends words as a prompt.
func asPrompt(args []string) string {
	if len(args) == 1 && !strings.ContainsAny(args[0], " \t\n\"'$\\") {
		return "adze -p " + args[0]
	}
	return "adze -p \"" + strings.Join(args, " ") + "\""
}

// foreignCommand returns an error if the arguments look like a command of adze or another agent
// that is spelled differently here. Such words are not sent to a model without confirmation.
func foreignCommand(args []string) error {
	if len(args) == 0 || strings.ContainsAny(args[0], " \t\n") {
		return nil
	}
	word := strings.ToLower(args[0])
	v, ok := verbs()[word]
	if !ok && len(args) == 1 && commands.IsBuiltIn(nil)(word) {
		v, ok = verb{use: "type /" + word + " in a conversation", always: true}, true
	}
	if !ok || !v.always && len(args) > 2 {
		return nil
	}
	use := v.use
	if v.rest && len(args) > 1 {
		use += " " + strings.Join(args[1:], " ")
	}
	return setup.Errorf("unknown command %s: %s. To send the words as a prompt, use %s", word, use, asPrompt(args))
}

// A verb is a word that users of other agents type as a command.
type verb struct {
	use    string // replacement command
	rest   bool   // append the other arguments to it
	always bool   // even before several words; no prompt starts like that
}

// verbs returns the words rejected as the first word of a prompt, alone or before one more
// word.
func verbs() map[string]verb {
	return map[string]verb{
		"resume":            {use: "use adze --resume", rest: true, always: true},
		"continue":          {use: "use adze --continue"},
		"fork":              {use: "use adze --fork-session --resume", rest: true},
		"attach":            {use: "use adze --resume", rest: true, always: true},
		"rm":                {use: "use adze sessions rm", rest: true, always: true},
		"ls":                {use: "use adze sessions list", always: true},
		"list":              {use: "use adze sessions list"},
		"history":           {use: "use adze sessions list"},
		"ps":                {use: "use adze sessions list; /tasks lists background commands in a conversation", always: true},
		"logs":              {use: "use adze sessions show", rest: true, always: true},
		"log":               {use: "use adze sessions show", rest: true},
		"show":              {use: "use adze sessions show", rest: true},
		"export":            {use: "use adze sessions export", rest: true},
		"share":             {use: "use adze sessions export", rest: true},
		"search":            {use: "use adze sessions search", rest: true},
		"rename":            {use: "use adze sessions rename", rest: true},
		"delete":            {use: "use adze sessions rm", rest: true},
		"stop":              {use: "/tasks stops background commands in a conversation"},
		"kill":              {use: "/tasks stops background commands in a conversation"},
		"run":               {use: "use adze -p", rest: true},
		"exec":              {use: "use adze -p", rest: true, always: true},
		"ask":               {use: "use adze -p", rest: true},
		"query":             {use: "use adze -p", rest: true},
		"prompt-file":       {use: "use adze -p with the file on standard input"},
		"new":               {use: "start a new conversation with adze"},
		"start":             {use: "start a conversation with adze"},
		"chat":              {use: "start a conversation with adze"},
		"repl":              {use: "start a conversation with adze", always: true},
		"tui":               {use: "start a conversation with adze", always: true},
		"shell":             {use: "start a conversation with adze; ! runs a command in it"},
		"init":              {use: "type /init in a conversation"},
		"serve":             {use: "use adze acp for an editor, adze mcp serve to offer tools to MCP clients, or --input-format stream-json for a host", always: true},
		"server":            {use: "use adze acp for an editor, adze mcp serve to offer tools to MCP clients, or --input-format stream-json for a host"},
		"daemon":            {use: "use --input-format stream-json for a host", always: true},
		"web":               {use: "adze has no web interface; start a conversation with adze"},
		"login":             {use: "use adze auth login", rest: true},
		"logout":            {use: "use adze auth logout", rest: true},
		"signin":            {use: "use adze auth login", rest: true},
		"whoami":            {use: "use adze auth status", always: true},
		"setup-token":       {use: "use adze auth login --with-token", always: true},
		"setup":             {use: "use adze auth login"},
		"key":               {use: "use adze auth login"},
		"keys":              {use: "use adze auth status"},
		"status":            {use: "use adze auth status, adze doctor or adze sandbox status"},
		"check":             {use: "use adze doctor"},
		"usage":             {use: "type /cost or /usage in a conversation"},
		"cost":              {use: "type /cost in a conversation"},
		"upgrade":           {use: "use adze update"},
		"install":           {use: "use adze plugin install", rest: true},
		"uninstall":         {use: "use adze plugin uninstall", rest: true},
		"add":               {use: "use adze mcp add or adze plugin install"},
		"remove":            {use: "use adze mcp remove, adze plugin uninstall or adze sessions rm"},
		"migrate":           {use: "use adze import"},
		"migrate-installer": {use: "use adze import", always: true},
		"set":               {use: "use adze config set", rest: true},
		"get":               {use: "use adze config get", rest: true},
		"unset":             {use: "use adze config unset", rest: true},
		"settings":          {use: "use adze config"},
		"workflow":          {use: "workflows run in a conversation; docs/workflows.md describes them"},
		"apply":             {use: "type /diff in a conversation to see the changes"},
		"cloud":             {use: "adze runs on this machine only"},
		"rewind":            {use: "type /rewind in a conversation, or use --rewind-files with --resume"},
		"undo":              {use: "type /rewind in a conversation"},
		"clear":             {use: "start a new conversation with adze"},
		"quit":              {use: "there is nothing to leave"},
		"exit":              {use: "there is nothing to leave"},
	}
}

// takes reports whether a word looks like the command's first argument: a flag of the command,
// or an action.
func (c *command) takes(arg string) bool {
	name, dashed := strings.CutPrefix(arg, "--")
	if !dashed {
		return subcommand(arg)
	}
	name, _, _ = strings.Cut(name, "=")
	help := false
	return slices.ContainsFunc(append(c.options().flags(), helpFlag(&help)), func(f flag) bool {
		return !shared(f.Name) && (f.Name == name || slices.Contains(f.Aliases, name))
	})
}

// shared reports whether the run command also has the flag, so that it does not identify the
// intended command.
func shared(name string) bool {
	return name != "help" && slices.ContainsFunc((&runOptions{}).flags(), func(f flag) bool { return f.Name == name })
}

// subcommand reports whether a word is an action in the help text, such as "list" in
// "[list|show NAME]".
func subcommand(word string) bool {
	for _, c := range commandTable() {
		for _, part := range strings.FieldsFunc(c.args, func(r rune) bool { return strings.ContainsRune("[]| ", r) }) {
			if part == word && part == strings.ToLower(part) {
				return true
			}
		}
	}
	return false
}
