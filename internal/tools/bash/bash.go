// Package bash is the tool that runs shell commands. It runs them and says how they ended; whether a
// command may run is decided before it gets here, and its output is bounded by the executor.
package bash

import (
	_ "embed"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/osproc"
	"adze/internal/platform/shell"
	"adze/internal/platform/task"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tool/command"
)

// Name is the name of the tool.
const Name = "Bash"

// A Config is what the tool needs to know. Only Dir is required.
type Config struct {
	// Dir returns the working directory, absolute. It is asked once per call, when the call is bound.
	Dir func() string
	// SetDir is told where a command ended, and returns where the next one starts: there, or elsewhere
	// if that is no place to be. An empty dir means that the current one is gone. Nil means that a cd
	// does not outlast its command.
	SetDir func(dir string) string
	// Runner runs the commands, and its owner closes it when the session ends; nil means one of its own.
	Runner *osproc.Runner
	// Env returns the environment of a command; nil means our own without what no program may inherit.
	Env func() []string
	// Keep are the names of variables that read-only commands get as well: those of the settings.
	Keep []string
	// Roots returns the working directories: read-only commands run no program that lies in one. Nil
	// means that there is only the current one.
	Roots func() []string
	// MayRead reports whether the rules let what is at a path be read unasked; nil means that read-only
	// commands are not looked at again when they run.
	MayRead func(path string) bool
	// Snapshot returns a file with the person's aliases and functions for bash to read, or ""; nil means
	// none. See [TakeSnapshot].
	Snapshot func() string
	// Wrap puts a command that is not proven to only read into a sandbox, or says why that cannot be
	// done: then it does not run. When it has ended, end is given the last of what it printed and returns
	// what the model has to know about the limits it met, or "". Nil means that there is no sandbox.
	Wrap func(osproc.Cmd) (cmd osproc.Cmd, end func(printed string) string, err error)
	// Scratch returns a directory that commands can write to in the sandbox; nil means TempDir.
	Scratch func() (string, error)
	// Confines reports whether commands are to be confined at the moment; nil means that they are if there
	// is a Wrap.
	Confines func() bool
	// Outside returns which commands the settings let run outside the sandbox at the moment: nil, or a nil
	// function, means none. Settings may change: a command is outside if it was when it was bound, which
	// is before it was judged, and still is when it runs.
	Outside func() func(*shell.Script) bool
	// MayLeave offers the model to ask for a command outside the sandbox. It is then asked about. Leaves
	// reports whether that still holds; nil means that it does.
	MayLeave bool
	Leaves   func() bool
	// Files makes the changes of a simple sed -i, which runs no program; nil means that it does.
	Files *change.Files
	// Tasks keeps the output of commands, and those that run in the background; its owner closes it
	// before the runner. Nil means that nothing runs in the background.
	Tasks *task.Table
	// Budget is how long a command may hold up the conversation before it goes on in the background;
	// 0 means until its time limit.
	Budget time.Duration
	// TempDir is where output is kept if there are no Tasks; empty means the system's.
	TempDir string
	// MaxChars bounds what the model reads of the output; 0 means 30,000.
	MaxChars int
	// Timeout is for commands that do not give one, and MaxTimeout for all; 0 means 2 and 10 minutes.
	Timeout, MaxTimeout time.Duration

	limits command.Limits
	find   func() (Program, error) // the shell; asked once
}

//go:embed bash.md
var doc string

// An Input is what the model gives.
type Input struct {
	Command     string `json:"command"`
	Timeout     int    `json:"timeout,omitempty"`
	Description string `json:"description,omitempty"`
	Background  bool   `json:"run_in_background,omitempty"`
}

// An Output is the structured result.
type Output = command.Output

// Validate refuses commands that no shell could run.
func (in Input) Validate() error { return command.Check(in.Command) }

// Title returns the command, whole: the description is the model's word, not what will run.
func (in Input) Title() string { return "Run " + in.Command }

// Activity returns what a spinner shows.
func (in Input) Activity() string { return "Running " + in.Command }

// Access says that the command is executed.
func (in Input) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Execute, Target: in.Command}}
}

// New returns the tool.
func New(c Config) tool.Tool {
	if c.Runner == nil {
		c.Runner = new(osproc.Runner)
	}
	if c.Env == nil {
		c.Env = func() []string { return osproc.ScrubEnv(os.Environ()) }
	}
	if c.MaxChars == 0 {
		c.MaxChars = command.DefaultMaxChars
	}
	background := c.Tasks != nil
	if c.Tasks == nil {
		if c.TempDir == "" {
			c.TempDir = os.TempDir()
		}
		c.Tasks = task.New(c.TempDir, nil)
	}
	c.limits = command.Limits{Tasks: c.Tasks, Background: background, Budget: c.Budget, Timeout: c.Timeout, MaxTimeout: c.MaxTimeout}
	c.limits.Fill()
	c.find = sync.OnceValues(Find)
	def := tool.Def{
		Name:   Name,
		Doc:    describe(c),
		Schema: schemaOf(c),
		Traits: tool.Traits{
			Aliases:   []string{"Shell"},
			Hint:      "run a command in the shell",
			MaxChars:  c.MaxChars,
			KeepTail:  true,
			Cancel:    true,
			Clearable: true,
			Shell:     true,
			Output:    json.RawMessage(command.OutputSchema()),
			Enabled: func() error {
				_, err := c.find()
				return err
			},
		},
	}
	if c.MayLeave {
		return tool.NewBound(def, func(in LeavingInput) (tool.Call, error) {
			call := newCall(in.Input, c)
			call.leave = in.Leave
			return call, nil
		})
	}
	return tolerant{tool.NewBound(def, func(in Input) (tool.Call, error) {
		return newCall(in, c), nil
	})}
}

// dialect returns the grammar of the shell; that of bash if there is none.
func (c Config) dialect() shell.Dialect {
	if c.find == nil {
		return shell.Bash
	}
	program, _ := c.find() // ok: nothing is run then
	return program.Dialect
}

// describe returns what the model is told, which depends on what there is.
func describe(c Config) string {
	dir := " Neither does `cd`: use absolute paths, or `cd dir && command`."
	if c.SetDir != nil {
		dir = " A `cd` does, as long as it stays within the directories you work in."
	}
	limit := "is ended"
	if c.limits.Background {
		limit = "goes on in the background"
	}
	program := "bash"
	if c.dialect() == shell.POSIX {
		program = "sh, since there is no bash (so keep to what every POSIX shell knows),"
	}
	text := strings.NewReplacer(
		"{{shell}}", program, "{{dir}}", dir, "{{limit}}", limit, "{{chars}}", strconv.Itoa(c.MaxChars),
		"{{default}}", strconv.FormatInt(c.limits.Timeout.Milliseconds(), 10), "{{most}}", strconv.FormatInt(c.limits.MaxTimeout.Milliseconds(), 10),
	).Replace(strings.TrimSpace(doc))
	if c.limits.Background {
		text += "\n" + command.BackgroundDoc
	}
	if c.confines() {
		text += "\n- " + sandboxDoc
		if c.MayLeave {
			text += "\n- " + leaveDoc
		}
	}
	return text
}
