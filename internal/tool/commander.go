package tool

import (
	"errors"

	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/shell"
)

// A Commander is a call that executes a command. If it is absent and the call has an execute
// access, nothing is known about the command; see [CommandOf].
type Commander interface {
	// Command returns information about the command: the same value each time, computed once
	// per call, so that the command that runs is the command that was judged.
	Command() *Command
}

// A Command describes a command before it runs. Either Script or Foreign is set.
type Command struct {
	// Line is the command as the model wrote it.
	Line string
	// About is the model's description; may be empty.
	About string
	// Script is the line as parsed by its shell, without variables' values; see
	// [shell.Script.With].
	Script *shell.Script
	// Foreign describes a command in a language that only its tool can parse.
	Foreign *Foreign

	// Doubt is the reason the command is not known to be read-only; nil if it is. The files a
	// read-only foreign command reads are among the call's accesses.
	Doubt error
	// Jailed means that a command without doubt runs in a jail: the kernel keeps it from
	// writing, executing other programs, using the network, and reading outside the working
	// directories.
	Jailed bool
	// Git returns the reason that the line's read-only git commands must not run outside a jail
	// without asking: the repository could make them do more. It computes the answer once. Nil
	// means unknown, so that they must not.
	Git func() error
	// Repository returns a reader for a directory's repository. Nil means that git cannot be
	// queried.
	Repository func(dir string) (*gitrepo.Reader, error)
	// Warning is a line to show with an irreversible command; empty means none.
	Warning string
	// Leaves means that the command asks to run outside the sandbox.
	Leaves bool
	// Aliases returns the shell's aliases, defined before it reads the line, with their
	// expansions. Nil means none.
	Aliases func() (map[string]string, error)
	// Edits returns the absolute paths of the files that the call edits instead of running the
	// command, or none if it runs. May be nil: the command runs.
	Edits func() []string
	// Free is called if a jailed call may run without its jail, because it is allowed for
	// reasons other than being read-only. May be nil.
	Free func()
	// Judged is called when the call has been judged, with the resolved paths: it runs under no
	// other conditions. May be nil.
	Judged func([]JudgedPath)
}

// Programs returns the names of the programs the command is known to run, for the user.
func (c *Command) Programs() []string {
	if c.Script == nil {
		return nil
	}
	names := c.Script.Named()
	if c.Script.Unknown() != "" {
		names = append(names, "a program computed at run time")
	}
	return names
}

// A JudgedPath is a command's path as it was judged.
type JudgedPath struct {
	Path  string   // absolute, as given in the command
	Leads []string // every path it resolved through
	Real  string   // resolved path
	// Names means that only the names in the directory were judged, to expand a wildcard.
	Names bool
}

// A Foreign describes, for rules, a command in a language that only its tool can parse.
type Foreign struct {
	// Dynamic means that some of its programs may be determined only at run time.
	Dynamic bool
	// Mentions holds all of its words, any of which may be a path. Packs means that a
	// directory's contents are included.
	Mentions []string
	Packs    bool
	// Removes holds the paths it may remove; Unsure means that there may be more.
	Removes []string
	Unsure  bool
	// Suggest holds rule contents that would allow it.
	Suggest []string

	// Suspected reports whether a deny or ask rule matches anything in it, and the matching
	// text.
	Suspected func(content string) (text string, ok bool)
	// Covered reports whether allow rules cover all of it.
	Covered func(contents []string) bool
}

// CommandOf returns information about the command that c executes, or nil if it executes none.
func CommandOf(c Call) *Command {
	var line string
	executes := false
	for _, a := range ask(c, nil, func(a Accesser) []Access { return a.Access() }, nil) {
		if a.Verb == Execute {
			line, executes = a.Target, true
		}
	}
	var unknown *Command
	if _, ok := As[Commander](c); ok || executes {
		unknown = unknownCommand(line)
	}
	return ask(c, unknown, func(own Commander) *Command { return own.Command() }, unknown)
}

// unknownCommand returns a command about which nothing is known: every rule may apply to it,
// and none allows it.
func unknownCommand(line string) *Command {
	return &Command{
		Line: line, Doubt: errors.New("its child processes are unknown"),
		Foreign: &Foreign{
			Dynamic: true, Unsure: true,
			Suspected: func(string) (string, bool) { return line, true },
			Covered:   func([]string) bool { return false },
		},
	}
}
