package commands

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"adze/internal/domain/skill"
	"adze/internal/platform/text/rank"
	"adze/internal/tool"
)

// A Section is a group of commands in /help.
type Section struct {
	Name     string
	Commands []Command
}

// sections returns all built-in commands, in the order of /help. To add one, write its
// constructor in its own file and list it here.
func sections() []Section {
	return []Section{
		{"Conversation", []Command{
			clearCommand(),
			resumeCommand(),
			rewindCommand(),
			renameCommand(),
			exportCommand(),
			copyCommand(),
			diffCommand(),
			tasksCommand(),
		}},
		{"Model", []Command{
			modelCommand(),
			effortCommand(),
			thinkingCommand(),
			outputStyleCommand(),
		}},
		{"Context", []Command{
			contextCommand(),
			compactCommand(),
			snipCommand(),
			summaryCommand(),
			btwCommand(),
			addDirCommand(),
		}},
		{"Permissions", []Command{
			modeCommand(),
			planCommand(),
		}},
		{"Extensions", nil}, // see package extensions
		{"Program", []Command{
			helpCommand(),
			keysCommand(),
			vimCommand(),
			configCommand(),
			statusCommand(),
			doctorCommand(),
			loginCommand(),
			logoutCommand(),
			costCommand(),
			versionCommand(),
			exitCommand(),
		}},
	}
}

// merge adds the commands of more to the sections of the same name.
func merge(all, more []Section) []Section {
	for _, s := range more {
		i := slices.IndexFunc(all, func(other Section) bool { return other.Name == s.Name })
		if i < 0 {
			all = append(all, s)
			continue
		}
		all[i].Commands = append(all[i].Commands, s.Commands...)
	}
	return all
}

// A Command is a command the user types as /name. It is not sent to the model as typed.
type Command struct {
	Name    string
	Aliases []string
	Kind    Kind
	// Args names the arguments, and Doc briefly describes the command.
	Args, Doc string
	// Terminal reports whether the command needs a terminal. Instead names the alternative
	// without one; it may be empty.
	Terminal bool
	Instead  string
	// Switch is the setting that must be true for the command to be available; it may be empty.
	Switch string
	// If Rare is true, lists of commands other than that of /help all omit the command.
	Rare bool
	// Origin describes where a command that is not built in comes from, such as the project. It
	// is empty for built-in commands.
	Origin string
	// Run executes the part that needs no front end, and returns the answer for the front end
	// to execute. Its error is shown to the user.
	Run func(ctx context.Context, r *Registry, arg string) (Answer, error)
	// Complete returns possible arguments for the typed prefix; it may be nil.
	Complete func(r *Registry, arg string) []string
}

// A Kind classifies commands. At a terminal all run immediately, even while the model works; a
// command's prompt gets its own turn after the running one. A front end that queues commands
// with prompts runs a command when its turn comes; the operation of a [Work] command is that
// turn.
type Kind uint8

const (
	// Show commands change nothing.
	Show Kind = iota
	// Change commands take effect immediately.
	Change
	// Work commands are operations that replace a turn.
	Work
	// Ask commands expand to a prompt.
	Ask
)

// Commands returns the available commands, in the order of /help.
func (r *Registry) Commands() []Command {
	all := append(r.builtIn(), r.dynamic(false)...)
	return slices.DeleteFunc(all, func(c Command) bool { return r.unavailable(&c) != nil })
}

// dynamic returns the dynamic commands, see [Env]. The length of their descriptions is
// limited.
func (r *Registry) dynamic(wait bool) []Command {
	if r.Env.Commands == nil {
		return nil
	}
	const maxDoc, maxArgs = 250, 100
	all := slices.Clone(r.Env.Commands(wait))
	for i := range all {
		all[i].Doc, all[i].Args = short(all[i].Doc, maxDoc), short(all[i].Args, maxArgs)
	}
	return all
}

// short returns text on one line, with at most n bytes.
func short(text string, n int) string {
	if len(text) <= n && !strings.ContainsAny(text, "\n\r\t") {
		return text
	}
	return tool.OneLine(text, n)
}

// unavailable returns why a command cannot be used here, or nil.
func (r *Registry) unavailable(c *Command) error {
	switch {
	case c.Terminal && !r.Terminal && c.Instead != "":
		return fmt.Errorf("/%s is available at a terminal only; use %s", c.Name, c.Instead)
	case c.Terminal && !r.Terminal:
		return fmt.Errorf("/%s is available at a terminal only", c.Name)
	case c.Switch != "" && r.Env.Enabled != nil && !r.Env.Enabled(c.Switch):
		if r.Env.Disabled != nil {
			if name := r.Env.Disabled(c.Switch); name != "" {
				return fmt.Errorf("/%s is turned off by the variable %s; unset it to use the command", c.Name, name)
			}
		}
		return fmt.Errorf("/%s is not enabled; the setting %s enables it: adze config set %s true", c.Name, c.Switch, c.Switch)
	}
	return nil
}

// Lookup returns the command with that name or alias, whether it is available or not. An exact
// match takes precedence over a case-insensitive one, and a built-in command over others.
func (r *Registry) Lookup(name string) (*Command, bool) {
	for _, s := range r.sections {
		if c := find(s.Commands, func(other string) bool { return other == name }); c != nil {
			return c, true
		}
	}
	dynamic := r.dynamic(true)
	if c := find(dynamic, func(other string) bool { return other == name }); c != nil {
		return c, true
	}
	fold := func(other string) bool { return strings.EqualFold(other, name) }
	for _, s := range r.sections {
		if c := find(s.Commands, fold); c != nil {
			return c, true
		}
	}
	c := find(dynamic, fold)
	return c, c != nil
}

// find returns the first command with a matching name or alias, or nil.
func find(all []Command, is func(name string) bool) *Command {
	i := slices.IndexFunc(all, func(c Command) bool { return is(c.Name) })
	if i < 0 {
		i = slices.IndexFunc(all, func(c Command) bool { return slices.ContainsFunc(c.Aliases, is) })
	}
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Parse splits input into a command name and its argument. It reports false if the text does
// not begin with a slash and a name, as in a path or a comment.
func Parse(text string) (name, arg string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, arg = rest[:i], strings.TrimSpace(rest[i:])
	}
	return name, arg, name == "" || skill.ValidName(name)
}

// Names reports whether an unknown name was probably meant as a command: there must not be a
// file of that name, such as /tmp.
func Names(name string) bool {
	_, err := os.Lstat("/" + name)
	return err != nil
}

// Run runs the named command.
func (r *Registry) Run(ctx context.Context, name, arg string) (Answer, error) {
	c, ok := r.Lookup(name)
	if !ok {
		return nil, r.unknown(name)
	}
	if err := r.unavailable(c); err != nil {
		return nil, err
	}
	return c.Run(ctx, r, arg)
}

// maxWord limits how much of the input an error message repeats.
const maxWord = 60

// unknown returns the error for a command that does not exist, with the closest name if there
// is one.
func (r *Registry) unknown(name string) error {
	if offered := r.offered.Load(); offered != nil && slices.Contains(*offered, "/"+name) {
		return fmt.Errorf("/%s no longer exists: its file or server is gone", name)
	}
	var names []string
	for _, c := range r.Commands() {
		names = append(names, c.Name)
	}
	if why := absent()[strings.ToLower(name)]; why != "" {
		return fmt.Errorf("no /%s: %s", strings.ToLower(name), why)
	}
	near := rank.Closest(name, names, 1)
	name = tool.OneLine(name, maxWord)
	if len(near) > 0 {
		return fmt.Errorf("unknown command /%s; did you mean /%s?", name, near[0])
	}
	return fmt.Errorf("unknown command /%s; /help lists the commands", name)
}

// absent returns commands of other agents that adze lacks, with the reason or an alternative.
func absent() map[string]string {
	return map[string]string{
		"fast":                  "no provider of adze documents a fast mode; /model and /effort choose a faster model",
		"extra-usage":           "it is about the bill of one vendor; /usage shows the limits that a provider reports",
		"share":                 "adze uploads nothing; /export writes the conversation to a file",
		"init-verifiers":        "/verify finds out itself how the project runs",
		"bughunter":             "/review and /security-review look for bugs",
		"autofix-pr":            "adze cannot be started by events from outside",
		"perf-issue":            "--pprof and /heapdump measure, /issue bundles",
		"break-cache":           "nothing in adze needs a cache miss on purpose",
		"teleport":              "adze has no remote sessions; adze sessions export copies a session",
		"oauth-refresh":         "adze refreshes tokens when it uses them",
		"proactive":             "adze has no assistant mode; /loop repeats a prompt",
		"brief":                 "adze has no assistant mode",
		"assistant":             "adze has no assistant mode; /loop repeats a prompt",
		"remote-control":        "adze has no remote sessions",
		"rc":                    "adze has no remote sessions",
		"bridge":                "adze has no remote sessions",
		"remote-control-server": "adze has no remote sessions",
		"install-github-app":    "it installs the application of one vendor",
		"voice":                 "adze does not record sound",
		"desktop":               "it opens another product of one vendor",
		"mobile":                "it opens another product of one vendor",
		"chrome":                "it opens another product of one vendor",
		"bug":                   "/feedback shows where to report problems, /issue collects the details",
		"upgrade":               "install the new version the way you installed this one",
		"update":                "install the new version the way you installed this one",
		"approvals":             "/permissions shows the rules, /mode changes the mode",
		"new":                   "/clear starts a new conversation; this one is kept",
		"undo-all":              "/rewind goes back",
		"sessions":              "/resume lists the sessions",
		"history":               "/resume lists the sessions, Up and Ctrl-R find earlier messages",
		"settings":              "/config shows the settings",
		"tools":                 "adze tools lists the tools, /permissions the rules about them",
		"yolo":                  "/mode changes the permission mode",
	}
}

// usage returns the command with its arguments.
func (c *Command) usage() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }
