// Package bash is the tool that runs shell commands. It runs them and says how they ended; whether a
// command may run is decided before it gets here, and its output is bounded by the executor.
package bash

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/platform/osproc"
	"adze/internal/tool"
)

// A Config is what the tool needs to know. Only Dir is required.
type Config struct {
	// Dir returns the working directory, absolute. It is asked once per call, when the call is bound.
	Dir func() string
	// Runner runs the commands, and its owner closes it when the session ends; nil means one of its own.
	Runner *osproc.Runner
	// Env returns the environment of a command; nil means our own without what no program may inherit.
	Env func() []string
	// TempDir is where long output is kept until it has been read; empty means the system's.
	TempDir string
	// Timeout is for commands that do not give one, and MaxTimeout for all; 0 means 2 and 10 minutes.
	Timeout, MaxTimeout time.Duration
}

const (
	defaultTimeout    = 2 * time.Minute
	defaultMaxTimeout = 10 * time.Minute
	// maxCommand bounds a command; the kernel would refuse a longer one less clearly.
	maxCommand = 100_000
	// maxChars bounds what the model reads of the output.
	maxChars = 30_000
)

//go:embed bash.md
var doc string

//go:embed bash.schema.json
var inputSchema string

//go:embed bash.output.json
var outputSchema string

// An Input is what the model gives.
type Input struct {
	Command     string `json:"command"`
	Timeout     int    `json:"timeout,omitempty"`
	Description string `json:"description,omitempty"`
}

// Validate refuses commands that no shell could run.
func (in Input) Validate() error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return errors.New("the command is empty: give a command to run")
	case strings.ContainsRune(in.Command, 0):
		return errors.New("the command contains a null byte")
	case utf8.RuneCountInString(in.Command) > maxCommand:
		return errors.New("the command is longer than 100000 characters: write it to a script file and run that")
	}
	return nil
}

// Title returns the command, whole: the description is the model's word, not what will run.
func (in Input) Title() string { return "Run " + in.Command }

// Activity returns what a spinner shows.
func (in Input) Activity() string { return "Running " + in.Command }

// Access says that the command is executed.
func (in Input) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Execute, Target: in.Command}}
}

// Match reports whether a rule's content quotes the command exactly. Patterns match nothing: without
// understanding the command a prefix says nothing about what it does.
func (in Input) Match(content string) (bool, error) {
	return strings.TrimSpace(content) == strings.TrimSpace(in.Command), nil
}

// New returns the tool.
func New(c Config) tool.Tool {
	if c.Runner == nil {
		c.Runner = new(osproc.Runner)
	}
	if c.Env == nil {
		c.Env = func() []string { return osproc.ScrubEnv(os.Environ()) }
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxTimeout == 0 {
		c.MaxTimeout = defaultMaxTimeout
	}
	shell := sync.OnceValues(findShell)
	return tool.NewBound(tool.Def{
		Name:   "Bash",
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Aliases:   []string{"Shell"},
			Hint:      "run a command in the shell",
			MaxChars:  maxChars,
			KeepTail:  true,
			Cancel:    true,
			Clearable: true,
			Shell:     true,
			Output:    json.RawMessage(strings.TrimSpace(outputSchema)),
			Enabled: func() error {
				_, err := shell()
				return err
			},
		},
	}, func(in Input) (tool.Call, error) {
		return &call{in: in, dir: c.Dir(), shell: shell, config: c}, nil
	})
}

func findShell() (string, error) {
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("neither bash nor sh is installed")
}

// A call is one command in the directory that was current when it was bound.
type call struct {
	in     Input
	dir    string
	shell  func() (string, error)
	config Config
}

func (c *call) Input() any { return c.in }

// Run runs the command. If ctx is cancelled meanwhile, the result says what there was until then.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	shell, err := c.shell()
	if err != nil {
		return tool.Result{}, err
	}
	if info, err := os.Stat(c.dir); err != nil || !info.IsDir() {
		return tool.Result{}, errors.New("the working directory " + c.dir + " does not exist any more")
	}
	out := newOutput(c.config.TempDir)
	stop := out.watch(c.in.Command, report)
	limit, clamped := c.limit()
	exit, err := c.config.Runner.Run(ctx, osproc.Cmd{
		Path:    shell,
		Args:    []string{"-c", c.in.Command},
		Dir:     c.dir,
		Env:     append(c.config.Env(), "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb"),
		Output:  out.cleaner,
		Timeout: limit,
	})
	stop()
	if err != nil && exit == (osproc.Exit{}) { // it did not start
		out.spool.Close()
		return tool.Result{}, err
	}
	if closing := out.cleaner.Close(); err == nil {
		err = closing
	}
	end := ending{Exit: exit, limit: limit, clamped: clamped, lost: err}
	return out.result(c.in.Command, end), nil
}

// limit returns how long the command may run, and whether that is less than was asked for.
func (c *call) limit() (limit time.Duration, clamped bool) {
	if c.in.Timeout == 0 {
		return min(c.config.Timeout, c.config.MaxTimeout), false
	}
	// Compared in milliseconds: a huge number would overflow a duration.
	if most := c.config.MaxTimeout; int64(c.in.Timeout) > most.Milliseconds() {
		return most, true
	}
	return time.Duration(c.in.Timeout) * time.Millisecond, false
}
