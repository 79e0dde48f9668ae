package cli

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
)

// helpOptions belong to adze help.
type helpOptions struct{}

func (*helpOptions) flags() []flag { return nil }

func (*helpOptions) run(_ context.Context, env *Env, _ invocation) error {
	return env.print(helpText())
}

// versionOptions belong to adze version.
type versionOptions struct{}

func (*versionOptions) flags() []flag { return nil }

func (*versionOptions) run(_ context.Context, env *Env, _ invocation) error {
	return env.print(versionText(env))
}

// versionText returns the output of --version: the version, with the commit unless it is a release.
func versionText(env *Env) string {
	version := env.Version
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasSuffix(version, "-dev") {
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
  adze -p "prompt"          run one turn and print the answer
  command | adze -p "text"  the same, with the output of a command before the text
  adze COMMAND              see below

Commands:
`)
	var rows [][2]string
	for _, c := range commands() {
		rows = append(rows, [2]string{strings.TrimSpace(c.name + " " + c.args), c.doc})
	}
	writeRows(&b, rows)
	b.WriteString("\nFlags:\n")
	writeFlags(&b, (&runOptions{}).supported())
	b.WriteString(`
Environment:
  ANTHROPIC_API_KEY         the key for the Anthropic API
  ANTHROPIC_BASE_URL        another server that speaks its protocol
  ADZE_MODEL                the model to use
  ADZE_HOME                 where adze keeps its files; ~/.adze if not set
  The whole list is in docs/reference/settings.md.

Exit codes: 0 done; 1 failed or a limit was reached; 2 nothing was run, because flags or set-up are
wrong; 130 interrupted; 143 terminated.
`)
	return b.String()
}

// An explainer adds a text to the help of its command.
type explainer interface{ explain() string }

func (c *command) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "adze %s: %s\n\nUsage:\n  adze %s\n", c.name, c.doc, strings.TrimSpace(c.name+" "+c.args))
	o := c.options()
	if e, ok := o.(explainer); ok {
		b.WriteString("\n" + e.explain())
	}
	b.WriteString("\nFlags:\n")
	help := false
	writeFlags(&b, append(o.flags(), helpFlag(&help)))
	return b.String()
}

func writeFlags(b *strings.Builder, flags []flag) {
	var rows [][2]string
	for _, f := range flags {
		rows = append(rows, [2]string{f.usage(), f.doc})
	}
	writeRows(b, rows)
}

// usage returns the flag as it is typed.
func (f *flag) usage() string {
	s := "--" + f.name
	if f.short != "" {
		s = "-" + f.short + ", " + s
	}
	switch {
	case f.optional:
		s += "[=" + f.value + "]"
	case f.value != "":
		s += " " + f.value
	}
	return s
}

const (
	helpIndent = 28
	helpWidth  = 100
)

// writeRows writes one term and its meaning per row, with the meanings aligned and wrapped.
func writeRows(b *strings.Builder, rows [][2]string) {
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s", helpIndent-2, r[0])
		column := max(helpIndent, len(r[0])+2)
		if column >= helpIndent && len(r[0])+2 >= helpIndent {
			b.WriteString("\n" + strings.Repeat(" ", helpIndent))
			column = helpIndent
		}
		for i, word := range strings.Fields(r[1]) {
			switch {
			case i > 0 && column+1+len(word) > helpWidth:
				b.WriteString("\n" + strings.Repeat(" ", helpIndent))
				column = helpIndent
			case i > 0:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += len(word)
		}
		b.WriteByte('\n')
	}
}
