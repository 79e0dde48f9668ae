package about

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"adze/internal/platform/proc/osproc"
	"adze/internal/tool"
)

// A Place is the environment a status line command runs in.
type Place struct {
	Runner  *osproc.Runner
	Dir     string
	Environ func() []string
	// Trusted reports whether the directory is trusted. The command is the user's own, but may
	// run tools that read the directory.
	Trusted func() bool
}

// NewStatusLine returns the status line of a command run at a place.
func NewStatusLine(command func() string, at Place) StatusLine {
	return StatusLine{Command: command, Run: func(ctx context.Context, command string, input []byte) ([]byte, error) {
		if !at.Trusted() {
			return nil, errors.New("it does not run, because the workspace is not trusted (adze trust)")
		}
		return runStatus(ctx, at.Runner, at.Dir, at.Environ(), command, input)
	}}
}

// runStatus runs a status line command in a directory and returns its output.
func runStatus(ctx context.Context, r *osproc.Runner, dir string, env []string, command string, input []byte) ([]byte, error) {
	shell, err := osproc.FindShell(exec.LookPath)
	if err != nil {
		return nil, err
	}
	var out, said limited
	exit, err := r.Run(ctx, osproc.Cmd{
		Path: shell.Path, Args: shell.Args(command), Dir: dir, Env: env,
		Input: input, Output: &out, Errors: &said, Timeout: StatusLimit, NoCore: true,
	})
	switch {
	case err != nil:
		return nil, err
	case exit.TimedOut:
		return nil, fmt.Errorf("it took longer than %s", StatusLimit)
	case exit.Code != 0:
		return nil, fmt.Errorf("it ended with %d: %s", exit.Code, tool.OneLine(string(said), 200))
	}
	return out, nil
}

// limited keeps the first MaxStatus bytes written to it.
type limited []byte

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	*l = append(*l, p[:min(len(p), MaxStatus-len(*l))]...)
	return len(p), nil
}
