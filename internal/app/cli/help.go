package cli

import (
	"context"
	"runtime/debug"
	"strings"

	"adze/internal/app/setup"
	"adze/internal/app/syntax"
	"adze/internal/platform/spell"
)

// helpOptions belong to adze help.
type helpOptions struct{}

func (*helpOptions) flags() []flag { return nil }

func (*helpOptions) run(_ context.Context, env *Env, in invocation) error {
	if len(in.Args) == 0 {
		return env.print(helpText())
	}
	if c := findCommand(in.Args[0]); c != nil {
		return env.print(c.help())
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if near := spell.Closest(in.Args[0], names, 1); len(near) > 0 {
		return setup.Errorf("there is no command %s; did you mean adze help %s?", in.Args[0], near[0])
	}
	return setup.Errorf("there is no command %s; the commands are %s", in.Args[0], strings.Join(names, ", "))
}

// offers completes the name of a command.
func (*helpOptions) offers(_ *Env, args []string) (list []offer) {
	if len(args) == 0 {
		for _, c := range commands() {
			list = append(list, offer{Word: c.name, Doc: c.doc})
		}
	}
	return list
}

// versionOptions belong to adze version.
type versionOptions struct{}

func (*versionOptions) flags() []flag { return nil }

func (*versionOptions) run(_ context.Context, env *Env, _ invocation) error {
	return env.print(versionText(env))
}

// versionText returns the output of --version: the version, with the commit if it is known.
func versionText(env *Env) string {
	version := env.Version
	if info, ok := debug.ReadBuildInfo(); ok {
		version += revision(info.Settings)
	}
	return version + " (adze)\n"
}

// revision returns the commit that the program was built from, as a suffix of its version, or "" if it is
// unknown.
func revision(settings []debug.BuildSetting) string {
	var commit, modified string
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = "+" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ".modified"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + modified
}

// helpText returns the output of --help. It is generated from the tables of flags and commands.
func helpText() string {
	var b strings.Builder
	b.WriteString(`adze is a coding agent for the terminal.

Usage:
  adze                      talk about the project in this directory
  adze "prompt"             the same, beginning with a prompt
  adze -p "prompt"          run one turn and print the answer
  command | adze -p "text"  the same, with the output of a command before the text
  adze COMMAND              see below; adze help COMMAND says more

Commands:
`)
	var rows [][2]string
	for _, c := range commands() {
		rows = append(rows, [2]string{strings.TrimSpace(c.name + " " + c.args), c.doc})
	}
	syntax.WriteRows(&b, rows)
	b.WriteString("\nFlags:\n")
	syntax.WriteFlags(&b, (&runOptions{}).supported())
	b.WriteString("\nEnvironment:\n")
	vars := mainVariables()
	syntax.WriteRows(&b, vars[:])
	b.WriteString("  adze config list --all lists every variable and setting, with its meaning.\n\nExit codes:\n")
	codes := exitCodes()
	syntax.WriteRows(&b, codes[:])
	return b.String()
}

// mainVariables are the variables that most users set, with their meaning.
func mainVariables() [4][2]string {
	return [...][2]string{
		{"ANTHROPIC_API_KEY", "the key for the Anthropic API"},
		{"ANTHROPIC_BASE_URL", "another server with the same API"},
		{"ADZE_MODEL", "the model to use"},
		{"ADZE_HOME", "where adze keeps its files; ~/.adze if not set"},
	}
}

// exitCodes are the exit codes, with their meaning.
func exitCodes() [5][2]string {
	return [...][2]string{
		{"0", "done"},
		{"1", "it failed, a limit was reached, or the output could not be written"},
		{"2", "nothing was run: the flags, the settings or what they name are wrong"},
		{"130", "interrupted, or the output was no longer read"},
		{"143", "terminated by a signal"},
	}
}

// An explainer adds a text to the help of its command.
type explainer interface{ explain() string }

// describe returns the command as the language of the command line has it.
func (c *command) describe(env *Env) syntax.Command {
	o := c.options()
	d := syntax.Command{Name: c.name, Args: c.args, Doc: c.doc, Flags: append(o.flags(), helpFlag(new(bool)))}
	if e, ok := o.(explainer); ok {
		d.Explain = e.explain()
	}
	if a, ok := o.(actor); ok {
		d.Actions = a.actions()
	}
	if a, ok := o.(offerer); ok {
		d.Offers = func(args []string) []syntax.Offer { return a.offers(env, args) }
	}
	return d
}

func (c *command) help() string {
	d := c.describe(nil)
	return d.Help()
}
