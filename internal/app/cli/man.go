package cli

import (
	"context"
	"fmt"

	"adze/internal/app/cli/flags"
)

// manOptions holds the options of adze man.
type manOptions struct{}

func (*manOptions) flags() []flag { return nil }

// explain describes how to read and install the page.
func (*manOptions) explain() string {
	return "adze man | man -l - shows the page. To install it: adze man >~/.local/share/man/man1/adze.1\n"
}

func (*manOptions) run(_ context.Context, env *Env, _ invocation) error {
	return env.print(manPage(env.Version))
}

// manPage returns the manual page, generated from the flag and command tables.
func manPage(version string) string {
	m := &flags.Manual{}
	fmt.Fprintf(m, ".TH ADZE 1 \"\" \"adze %s\" \"User Commands\"\n", flags.Roff(version))
	m.Section("NAME")
	m.Text("adze - a coding agent for the terminal")
	m.Section("SYNOPSIS")
	for i, line := range [...]string{"[FLAGS] [PROMPT]", "-p [FLAGS] PROMPT", "COMMAND [ARGUMENTS] [FLAGS]"} {
		if i > 0 {
			m.WriteString(".br\n")
		}
		fmt.Fprintf(m, ".B adze\n%s\n", flags.Roff(line))
	}
	m.Section("DESCRIPTION")
	m.Text("Without -p, and at a terminal, adze talks with you about the project in the working directory: it reads, searches, edits and runs commands, and asks before it changes anything that no rule allows.")
	m.WriteString(".PP\n")
	m.Text("With -p it runs one turn and prints the answer. What is piped to it stands before the prompt.")
	m.Section("COMMANDS")
	for _, c := range commandTable() {
		m.Command(c.describe(nil))
	}
	m.Section("OPTIONS")
	m.Flags((&runOptions{}).supported())
	m.Section("ENVIRONMENT")
	for _, v := range mainVariables() {
		m.Entry(v[0], v[1])
	}
	m.Text("adze config list --all lists every variable and setting, with its meaning.")
	m.Section("FILES")
	for _, f := range [...][2]string{
		{"~/.config/adze/settings.json", "your settings"},
		{".adze/settings.json", "project settings, once you trust the project (adze trust)"},
		{"~/.local/state/adze/projects/", "sessions; see adze sessions"},
		{"~/.local/state/adze/file-history/", "earlier versions of changed files"},
		{"~/.adze/", "holds all of these if it exists, or on macOS and Windows; adze doctor names the directories"},
	} {
		m.Entry(f[0], f[1])
	}
	m.Section("EXIT STATUS")
	for _, e := range exitCodes() {
		m.Entry(e[0], e[1])
	}
	return m.String()
}
