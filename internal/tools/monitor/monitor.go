// Package monitor implements the tool that watches a command in the background and notifies the
// model of its output lines. The shell tool runs the command, so its rules apply.
package monitor

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// Name is the tool's name.
const Name = "Monitor"

var (
	//go:embed monitor.md
	doc string
	//go:embed monitor.zh.md
	chinese string
	//go:embed monitor.schema.json
	inputSchema string
	//go:embed monitor.output.json
	outputSchema string
)

// Durations of a watch.
const (
	defaultTimeout = 5 * time.Minute
	maxTimeout     = 30 * time.Minute
)

// Config configures the tool.
type Config struct {
	// Shell is the tool that runs commands; it takes a [command.Input].
	Shell tool.Tool
	// Tasks holds the background tasks of that tool; nil means none.
	Tasks *task.Table
}

// Input is the tool's input.
type Input struct {
	Command     string `json:"command,omitempty"`
	Path        string `json:"path,omitempty"`
	Description string `json:"description"`
	Timeout     int64  `json:"timeout_ms,omitempty"`
}

// Validate rejects a watch of nothing or of two things.
func (in Input) Validate() error {
	if (in.Command == "") == (in.Path == "") {
		return errors.New("give either a command or a path to watch")
	}
	if strings.ContainsRune(in.Path, 0) {
		return errors.New("the path contains a null byte")
	}
	return nil
}

// limit returns the duration of the watch.
func (in Input) limit() time.Duration {
	if in.Timeout == 0 {
		return defaultTimeout
	}
	return time.Duration(min(in.Timeout, maxTimeout.Milliseconds())) * time.Millisecond
}

// line returns the watched command.
func (in Input) line() string {
	if in.Command != "" {
		return in.Command
	}
	path := in.Path
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return "tail -n 0 -F '" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// Output is the structured result.
type Output struct {
	TaskID     string `json:"taskId"`
	TimeoutMs  int64  `json:"timeoutMs"`
	OutputFile string `json:"outputFile,omitempty"`
}

// New returns the tool.
func New(c Config) tool.Tool {
	return tool.NewBound(tool.Def{
		Name: Name, Doc: strings.TrimSpace(doc), Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{
			Params: tool.Params{Paths: []string{"path"}, Commands: []string{"command"}, Texts: []string{"description"}},
			Hint:   "watch a command or log file and report new lines", Enabled: c.enabled, Translate: tool.InChinese(chinese),
			Output: json.RawMessage(strings.TrimSpace(outputSchema)),
		},
	}, c.bind)
}

// enabled returns an error if watching is not available.
func (c Config) enabled() error {
	if err := command.NoTasks(c.Tasks); err != nil {
		return err
	}
	if e := c.Shell.Traits().Enabled; e != nil {
		return e()
	}
	return nil
}

// bind creates the shell tool's call for the watch.
func (c Config) bind(in Input) (tool.Call, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	given, err := json.Marshal(command.Input{
		Command: in.line(), Description: in.Description, Background: true, Timeout: int(in.limit().Milliseconds()),
	})
	if err != nil {
		return nil, err
	}
	inner, err := c.Shell.Bind(given)
	if err != nil {
		return nil, err
	}
	return &call{config: c, in: in, inner: inner}, nil
}

// A call is a watched command. It delegates questions about the command to the inner call.
type call struct {
	config Config
	in     Input
	inner  tool.Call
}

func (c *call) Input() any { return c.in }

// StandsFor returns the shell tool's name, so that its rules and hooks apply.
func (c *call) StandsFor() string { return c.config.Shell.Spec().Name }

// Command returns the analysis of the command.
func (c *call) Command() *tool.Command { return tool.CommandOf(c.inner) }

// Access reports that the command is executed.
func (c *call) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Execute, Target: c.in.line()}}
}

// Match reports whether a condition on commands applies.
func (c *call) Match(content string) (bool, error) { return tool.Matches(c.inner, content) }

// ReadOnly reports whether the command is read-only.
func (c *call) ReadOnly() bool { return tool.FactsOf(c.inner).ReadOnly }

// Destructive reports whether the command may do something irreversible.
func (c *call) Destructive() bool { return tool.FactsOf(c.inner).Destructive }

// OpenWorld reports whether the command may reach beyond this machine.
func (c *call) OpenWorld() bool { return tool.FactsOf(c.inner).OpenWorld }

// Title returns the command, not the description, which the model chooses.
func (c *call) Title() string { return "Watch " + c.in.line() }

// Activity returns the spinner text.
func (c *call) Activity() string { return "Starting to watch" }

// Run starts the command in the background and watches its output.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	r, err := c.inner.Run(ctx, report)
	if err != nil {
		return r, err
	}
	out, _ := r.Structured.(command.Output)
	t, err := c.config.Tasks.Get(out.TaskID)
	if err != nil { // ran in the foreground, such as an in-place edit
		return tool.Result{}, errors.New("this is not a command that can be watched: run it with " + c.StandsFor())
	}
	limit := c.in.limit()
	go newWatch(t, c.in.Description, limit).run()
	text := fmt.Sprintf("Watching as task %s, for %v at most. You will be notified of new lines and when it ends; continue working. All output goes to %s.",
		t.ID, limit, t.Output.Path())
	if int64(limit/time.Millisecond) < c.in.Timeout {
		text += fmt.Sprintf(" (%v is the longest there is; start it again then.)", maxTimeout)
	}
	r = tool.Text(text)
	r.Structured = Output{TaskID: t.ID, TimeoutMs: limit.Milliseconds(), OutputFile: t.Output.Path()}
	r.Display = tool.Plain{Text: "watching in the background as " + t.ID}
	return r, nil
}
