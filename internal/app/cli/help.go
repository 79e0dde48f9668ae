package cli

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/platform/text/rank"
	"adze/internal/setup"
)

// helpOptions holds the options of adze help.
type helpOptions struct{}

func (*helpOptions) flags() []flag { return nil }

func (*helpOptions) run(_ context.Context, env *Env, in invocation) error {
	if len(in.Args) == 0 {
		return env.print(helpText(env.helpWidth()))
	}
	switch in.Args[0] {
	case "flags":
		return env.page(flagsText(env.helpWidth()))
	case "commands":
		return env.page(commandsText(env.helpWidth()))
	}
	if c := findCommand(in.Args[0]); c != nil {
		return env.page(c.help(env.helpWidth()))
	}
	var names []string
	for _, c := range commandTable() {
		names = append(names, c.name)
	}
	if near := rank.Closest(in.Args[0], names, 1); len(near) > 0 {
		return setup.Errorf("unknown command %s; did you mean adze help %s?", in.Args[0], near[0])
	}
	return setup.Errorf("unknown command %s; the commands are %s", in.Args[0], strings.Join(names, ", "))
}

func (*helpOptions) offers(_ *Env, args []string) (list []offer) {
	if len(args) == 0 {
		for _, c := range commandTable() {
			list = append(list, offer{Word: c.name, Doc: c.doc})
		}
		list = append(list, offer{Word: "flags", Doc: "all flags, variables and exit codes"}, offer{Word: "commands", Doc: "all commands"})
	}
	return list
}

// versionOptions holds the options of adze version.
type versionOptions struct{ json bool }

func (o *versionOptions) flags() []flag { return []flag{jsonFlag(&o.json)} }

func (o *versionOptions) run(_ context.Context, env *Env, _ invocation) error {
	if o.json {
		info, _ := debug.ReadBuildInfo() // ok: the rest is known without
		return env.printJSON(buildOf(env.Version, info))
	}
	return env.print(versionText(env))
}

// versionText returns the output of --version: the version, with the commit if known.
func versionText(env *Env) string {
	info, _ := debug.ReadBuildInfo() // ok: the version suffices
	return buildOf(env.Version, info).String() + " (adze)\n"
}

// A build describes how this program was built, as far as is known.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // from files that differ from Commit
	Date     string `json:"date,omitempty"`     // of Commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// buildOf returns the build of a version. info may be nil.
func buildOf(version string, info *debug.BuildInfo) build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns the version with the commit as a suffix.
func (b build) String() string {
	text := b.Version
	if b.Commit != "" {
		text += "+" + b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			text += ".modified"
		}
	}
	return text
}

// helpText returns the output of --help: how to start, and where to find the rest.
func helpText(width int) string {
	var b strings.Builder
	b.WriteString("adze is a coding agent for the terminal.\n\nUsage:\n")
	flags.WriteRows(&b, [][2]string{
		{"adze [PROMPT]", "talk about the project in this directory"},
		{"adze -p PROMPT", "run one turn and print the answer"},
		{"command | adze -p PROMPT", "the same, after the output of a command"},
		{"adze COMMAND", "run a command; adze help COMMAND explains it"},
	}, width)
	b.WriteString("\nCommands (adze help commands explains them):\n")
	var rows [][2]string
	for _, c := range commandTable() {
		if len(rows) == 0 || rows[len(rows)-1][0] != c.group {
			rows = append(rows, [2]string{c.group, c.name})
		} else {
			rows[len(rows)-1][1] += ", " + c.name
		}
	}
	flags.WriteRows(&b, rows, width)
	b.WriteString("\nFlags (adze help flags lists all):\n")
	rows = nil
	all := (&runOptions{}).supported()
	for _, row := range mainFlags {
		rows = append(rows, [2]string{flags.Find(all, "--"+row[0]).Usage(), row[1]})
	}
	flags.WriteRows(&b, rows, width)
	return b.String()
}

// mainFlags are listed in the short help, with brief descriptions.
var mainFlags = [...][2]string{
	{"continue", "continue the last session in this directory"},
	{"resume", "continue another session"},
	{"model", "the model to use"},
	{"permission-mode", "such as plan or acceptEdits"},
	{"allowed-tools", "calls to run without asking: \"Bash(git:*)\""},
	{"output-format", "with -p: text, json or stream-json"},
	{"help", "print this help"},
}

// flagsText returns the output of adze help flags, generated from the flag table.
func flagsText(width int) string {
	var b strings.Builder
	b.WriteString("Flags of adze and adze -p. adze help COMMAND lists those of a command.\n")
	flags.WriteGroups(&b, (&runOptions{}).supported(), width)
	b.WriteString("\nEnvironment:\n")
	vars := mainVariables()
	flags.WriteRows(&b, vars[:], width)
	b.WriteString(flags.Fold("  adze config list --all lists every variable and setting, with its meaning.\n", width) + "\nExit codes:\n")
	codes := exitCodes()
	flags.WriteRows(&b, codes[:], width)
	return b.String()
}

// commandsText returns the output of adze help commands.
func commandsText(width int) string {
	var b strings.Builder
	group := ""
	for _, c := range commandTable() {
		if c.group != group {
			if group != "" {
				b.WriteByte('\n')
			}
			group = c.group
			b.WriteString(strings.ToUpper(group[:1]) + group[1:] + ":\n")
		}
		flags.WriteRows(&b, [][2]string{{strings.TrimSpace(c.name + " " + c.args), c.doc}}, width)
	}
	return b.String()
}

// helpWidth returns the width of help texts.
func (env *Env) helpWidth() int {
	if w := env.width(); env.StdoutTerminal && w > 0 {
		return w - 1
	}
	return flags.Width
}

// mainVariables returns the most common variables and their meaning.
func mainVariables() [4][2]string {
	return [...][2]string{
		{"ANTHROPIC_API_KEY", "the key for the Anthropic API"},
		{"ANTHROPIC_BASE_URL", "another server with the same API"},
		{"ADZE_MODEL", "the model to use"},
		{"ADZE_HOME", "where adze keeps all its files; see adze doctor"},
	}
}

// exitCodes returns the exit codes and their meaning.
func exitCodes() [5][2]string {
	return [...][2]string{
		{"0", "done"},
		{"1", "it failed, a limit was reached, or the output could not be written"},
		{"2", "invalid flags or settings; nothing was run"},
		{"130", "interrupted, or the reader closed the output"},
		{"143", "terminated by a signal"},
	}
}

// An explainer adds text to its command's help.
type explainer interface{ explain() string }

// describe converts the command to a flags.Command.
func (c *command) describe(env *Env) flags.Command {
	o := c.options()
	d := flags.Command{Name: c.name, Args: c.args, Doc: c.doc, Flags: append(o.flags(), helpFlag(new(bool)))}
	if e, ok := o.(explainer); ok {
		d.Explain = e.explain()
	}
	if a, ok := o.(actor); ok {
		d.Actions = a.actions()
	}
	if a, ok := o.(completer); ok {
		d.Offers = func(args []string) []flags.Offer { return a.offers(env, args) }
	}
	return d
}

func (c *command) help(width int) string {
	d := c.describe(nil)
	return d.Help(width)
}
