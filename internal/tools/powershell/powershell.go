// Package powershell is the tool that runs PowerShell commands, where there is no shell of the other
// kind. It runs them and says how they ended; whether a command may run is decided before it gets here,
// and its output is bounded by the executor.
package powershell

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/osproc"
	"adze/internal/platform/task"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// Name is the name of the tool.
const Name = "PowerShell"

// A Config is what the tool needs to know. Only Dir is required.
type Config struct {
	// Dir returns the working directory, absolute. It is asked once per call, when the call is bound.
	Dir func() string
	// SetDir is told where a command ended, and returns where the next one starts. An empty dir means
	// that the current one is gone. Nil means that a change of directory does not outlast its command.
	SetDir func(dir string) string
	// Runner runs the commands, and its owner closes it when the session ends; nil means one of its own.
	Runner *osproc.Runner
	// Env returns the environment of a command; nil means our own without what no program may inherit.
	Env func() []string
	// Tasks keeps the output of commands, and those that run in the background; its owner closes it
	// before the runner. Nil means that nothing runs in the background.
	Tasks *task.Table
	// Budget is how long a command may hold up the conversation before it goes on in the background;
	// 0 means until its time limit.
	Budget time.Duration
	// TempDir is for what a command leaves for us, and for output if there are no Tasks; empty means the
	// system's.
	TempDir string
	// MaxChars bounds what the model reads of the output; 0 means 30,000.
	MaxChars int
	// Timeout is for commands that do not give one, and MaxTimeout for all; 0 means 2 and 10 minutes.
	Timeout, MaxTimeout time.Duration
	// Unwanted returns why the tool is not offered although there is a PowerShell; nil means that it is.
	Unwanted func() error

	limits command.Limits
	find   func() (string, error)
}

//go:embed powershell.md
var doc string

// An Input is what the model gives.
type Input struct {
	Command     string `json:"command"`
	Timeout     int    `json:"timeout,omitempty"`
	Description string `json:"description,omitempty"`
	Background  bool   `json:"run_in_background,omitempty"`
}

// Validate refuses commands that nothing could run.
func (in Input) Validate() error { return command.Check(in.Command) }

// Title returns the command, whole: the description is the model's word, not what will run.
func (in Input) Title() string { return "Run " + in.Command }

// Activity returns what a spinner shows.
func (in Input) Activity() string { return "Running " + in.Command }

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
	c.find = sync.OnceValues(func() (string, error) { return find(exec.LookPath) })
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    describe(c),
		Schema: json.RawMessage(command.InputSchema()),
		Traits: tool.Traits{
			Hint:      "run a PowerShell command",
			MaxChars:  c.MaxChars,
			KeepTail:  true,
			Cancel:    true,
			Clearable: true,
			Shell:     true,
			Output:    json.RawMessage(command.OutputSchema()),
			Enabled:   c.enabled,
		},
	}, func(in Input) (tool.Call, error) { return newCall(in, c), nil })
}

// enabled says why the tool is not offered, or returns nil.
func (c Config) enabled() error {
	if c.Unwanted != nil {
		if err := c.Unwanted(); err != nil {
			return err
		}
	}
	_, err := c.find()
	return err
}

// find returns the current PowerShell, or the one that Windows comes with.
func find(lookPath func(string) (string, error)) (string, error) {
	for _, name := range []string{"pwsh", "powershell"} {
		if path, err := lookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("PowerShell is not installed")
}

// windows reports whether the program is the one that Windows comes with, whose language is older.
func windows(path string) bool {
	return strings.HasPrefix(strings.ToLower(filepath.Base(strings.ReplaceAll(path, `\`, "/"))), "powershell")
}

// describe returns what the model is told, which depends on what there is. Nothing is looked for where
// the tool is not offered.
func describe(c Config) string {
	name, joining := "PowerShell", " Join commands that depend on each other with `&&`."
	if c.Unwanted == nil || c.Unwanted() == nil {
		if path, err := c.find(); err == nil && windows(path) {
			name, joining = "Windows PowerShell 5.1", " It has no `&&`: write `a; if ($?) { b }` for commands that depend on each other."
		}
	}
	dir := " Neither does `Set-Location`: use absolute paths."
	if c.SetDir != nil {
		dir = " A `Set-Location` does, as long as it stays within the directories you work in."
	}
	limit := "is ended"
	if c.limits.Background {
		limit = "goes on in the background"
	}
	text := strings.NewReplacer(
		"{{shell}}", name, "{{joining}}", joining, "{{dir}}", dir, "{{limit}}", limit, "{{chars}}", strconv.Itoa(c.MaxChars),
		"{{default}}", strconv.FormatInt(c.limits.Timeout.Milliseconds(), 10), "{{most}}", strconv.FormatInt(c.limits.MaxTimeout.Milliseconds(), 10),
	).Replace(strings.TrimSpace(doc))
	if c.limits.Background {
		text += "\n" + command.BackgroundDoc
	}
	return text
}
