package powershell

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/shell/pwsh"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// A call is a command in the directory that was current when it was bound.
type call struct {
	in     Input
	here   command.Workdir
	config Config
	line   *pwsh.Line
	// command is memoized: it is called often and expensive.
	command func() *tool.Command
	ended   string // directory where it ended, or "" if unknown
}

func newCall(in Input, c Config) *call {
	call := &call{in: in, here: c.Here(), config: c, line: pwsh.Parse(in.Command)}
	call.command = sync.OnceValue(call.findCommand)
	return call
}

func (c *call) Input() any { return c.in }

// Access returns the paths that the command reads, if it is proven read-only, and the
// execution.
func (c *call) Access() []tool.Access {
	access := c.in.Access()
	if c.ReadOnly() {
		for _, path := range c.line.Reads() {
			access = append(access, tool.Access{Verb: tool.Read, Target: path})
		}
	}
	return access
}

// ReadOnly reports whether the command is proven read-only.
func (c *call) ReadOnly() bool { return c.command().Doubt == nil }

// Concurrent reports whether the command may run in parallel.
func (c *call) Concurrent() bool { return c.ReadOnly() }

// Destructive reports whether the command may do something irreversible.
func (c *call) Destructive() bool { return c.command().Warning != "" }

// OpenWorld reports whether the command may reach beyond this machine. Read-only commands do
// not.
func (c *call) OpenWorld() bool { return !c.ReadOnly() }

// Match reports whether a hook's condition applies: to any command in the line, and always to a
// line that cannot be parsed.
func (c *call) Match(content string) (bool, error) {
	pattern, err := pwsh.ParsePattern(content)
	if err != nil || !c.line.Simple {
		return true, err
	}
	_, ok := c.line.Suspected(pattern)
	return ok, nil
}

// Command returns the analysis of the command for the gates.
func (c *call) Command() *tool.Command { return c.command() }

// findCommand analyzes the command.
func (c *call) findCommand() *tool.Command {
	return &tool.Command{
		Line: c.in.Command, About: c.in.Description, Foreign: c.foreign(),
		Doubt: c.line.ReadOnly(), Warning: c.line.Warning(),
	}
}

// foreign returns the facts that rules need.
func (c *call) foreign() *tool.Foreign {
	removes, certain := c.line.Removals()
	return &tool.Foreign{
		Dynamic:  c.line.Dynamic(),
		Mentions: c.line.Mentions(), Packs: c.line.Packs(),
		Removes: removes, Unsure: !certain,
		Suggest: c.line.Suggest(),
		Suspected: func(content string) (string, bool) {
			pattern, err := pwsh.ParsePattern(content)
			if err != nil { // an invalid rule matches everything
				return c.in.Command, true
			}
			return c.line.Suspected(pattern)
		},
		Covered: func(contents []string) bool {
			var patterns []pwsh.Pattern
			for _, content := range contents {
				if pattern, err := pwsh.ParsePattern(content); err == nil {
					patterns = append(patterns, pattern)
				}
			}
			return c.line.Covered(patterns)
		},
	}
}

// Run runs the command. If ctx is canceled, the result contains the output so far.
func (c *call) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	if err := c.here.Check(); err != nil {
		return tool.Result{}, err
	}
	cmd := command.Command{
		Limits: c.config.Limits, Input: c.in,
		Stays: c.waits(), Quiet: c.ReadOnly(),
		Execute: c.execute, Ended: c.remarks,
	}
	return cmd.Run(ctx, report)
}

// waits reports whether the command's purpose is to wait.
func (c *call) waits() bool {
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(c.in.Command)), " ")
	return name == "sleep" || name == "start-sleep"
}

// execute runs the command, in its proven form if it is read-only.
func (c *call) execute(ctx context.Context, out io.Writer, limit time.Duration) (osproc.Exit, error) {
	path, err := c.config.find()
	if err != nil {
		return osproc.Exit{}, err
	}
	report, err := c.newReport()
	if err != nil {
		return osproc.Exit{}, err
	}
	defer os.Remove(report.Name()) // ok: nothing depends on it
	defer report.Close()           // ok: only read

	text, env := c.in.Command, append(c.config.Env(), "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb")
	if proven, err := c.line.Proven(); err == nil {
		text, env = proven, readOnlyEnv(env)
	}
	exit, err := c.config.Runner.Run(ctx, osproc.Cmd{
		Path: path, Args: arguments(), Dir: c.here.Path,
		Env:    append(env, handedOver(text, report.Name())...),
		Output: out, Timeout: limit, Reaped: !c.ReadOnly(),
	})
	if ended, readErr := io.ReadAll(io.LimitReader(report, maxReport)); readErr == nil {
		c.ended = string(ended)
	}
	return exit, err
}

// newReport creates the file where the command writes its final directory.
func (c *call) newReport() (*os.File, error) {
	const pattern = "adze-dir-*"
	if dir := c.config.TempDir; dir != "" && fsys.MkdirPrivate(dir) == nil {
		return os.CreateTemp(dir, pattern)
	}
	return os.CreateTemp("", pattern)
}

// maxReport is the maximum length of a directory name.
const maxReport = 64 << 10

// remarks makes the final directory the working directory of the next command. The note
// mentions if that failed, or if a variable was missing.
func (c *call) remarks(t *task.Task, exit osproc.Exit, _ string) command.Remarks {
	name, _, _ := strings.Cut(strings.TrimSpace(c.in.Command), " ")
	missing := c.config.Missing(c.in.Command, []string{name}, exit.Code != 0)
	return command.Remarks{Note: command.Join(c.here.Arrive(t, c.ended), missing)}
}
