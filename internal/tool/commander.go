package tool

import (
	"errors"

	"adze/internal/platform/gitrepo"
	"adze/internal/platform/shell"
)

// A Commander is a call that executes a command. Absent, with an access that executes, = nothing is known
// about the command; see [CommandOf].
type Commander interface {
	// Command returns what is known about the command: the same value each time, found out once per call,
	// so that what is judged is what runs.
	Command() *Command
}

// A Command is what is known about a command before it runs. Either Script or Foreign is set.
type Command struct {
	// Line is the command as the model wrote it.
	Line string
	// About is what it does, in the model's words; may be empty.
	About string
	// Script is the line as the shell that runs it reads it, without the value of any variable; see
	// [shell.Script.With].
	Script *shell.Script
	// Foreign speaks for a command in a language that only its tool reads.
	Foreign *Foreign

	// Doubt is why the command is not known to only read; nil if it is. What a foreign command reads is
	// then among the call's accesses.
	Doubt error
	// Jailed says that a command without doubt runs in a jail: the kernel keeps it from writing, from
	// executing other programs, from the network, and from reading outside the working directories.
	Jailed bool
	// Git returns why git commands of the line that only read must not run unasked, outside a jail, where they
	// would: the repository could make them do more. It finds out once. Nil means that nothing is known, so that
	// they must not.
	Git func() error
	// Repository returns a reader of the repository of a directory. Nil means that git cannot be asked.
	Repository func(dir string) (*gitrepo.Reader, error)
	// Warning is a line to show with what cannot be undone; empty means none.
	Warning string
	// Leaves says that the command asks to be run outside the sandbox.
	Leaves bool
	// Aliases returns the aliases that the shell knows before it reads the line: what each name stands for. May
	// be nil: it knows none.
	Aliases func() (map[string]string, error)
	// Edits returns the files that the call edits instead of running anything, absolute, or none if the
	// command is run. May be nil: the command is run.
	Edits func() []string
	// Free tells a call that would run in a jail that it may run without one: it is allowed for other reasons
	// than that it only reads. May be nil.
	Free func()
	// Judged tells the call that it is judged, and what its paths led to then: it runs under no other
	// conditions. May be nil.
	Judged func([]JudgedPath)
}

// Programs returns the names of the programs that the command runs, as far as they are known, for the user.
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

// A JudgedPath is a path of a command as it was judged.
type JudgedPath struct {
	Path  string   // absolute, as the command names it
	Leads []string // everything that it led through
	Real  string   // where it led
	// Names says that only the names in the directory were judged, to find what a wildcard stands for.
	Names bool
}

// A Foreign is what rules need to know about a command in a language that only its tool reads.
type Foreign struct {
	// Dynamic says that which programs it runs may be known only when it runs.
	Dynamic bool
	// Mentions are all words of it, any of which may be a path. Packs says that what is below a directory
	// goes with it.
	Mentions []string
	Packs    bool
	// Removes is what it may remove, Unsure that there may be more.
	Removes []string
	Unsure  bool
	// Suggest are contents of rules that would allow it.
	Suggest []string

	// Suspected reports whether a rule that denies or asks speaks of anything in it, and of what.
	Suspected func(content string) (text string, ok bool)
	// Covered reports whether rules that allow cover all of it.
	Covered func(contents []string) bool
}

// CommandOf returns what is known about the command that c executes, or nil if it executes none.
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

// unknownCommand returns a command about which nothing is known: every rule may speak of it, and none
// allows it.
func unknownCommand(line string) *Command {
	return &Command{
		Line: line, Doubt: errors.New("nothing is known about what it executes"),
		Foreign: &Foreign{
			Dynamic: true, Unsure: true,
			Suspected: func(string) (string, bool) { return line, true },
			Covered:   func([]string) bool { return false },
		},
	}
}
