package confine

import (
	"fmt"
	"slices"

	"adze/internal/platform/proc/environ"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/platform/sandbox/jail"
	"adze/internal/platform/shell"
)

// Wrap confines a command. End must be called when the command has ended, with its output; it
// returns a block for the model about the limits the command hit, and the effects that were
// undone, or "".
func (f *Confinement) Wrap(cmd osproc.Cmd) (confined osproc.Cmd, end func(printed string) (limits, undone string), err error) {
	keep := f.settings.Load().PassEnv
	env, _ := environ.Withhold(cmd.Env, keep)
	env = environ.WithoutPasswords(env, keep)
	c, err := f.box.Wrap(f.ctx, sandbox.Command{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: env})
	if err != nil {
		return osproc.Cmd{}, nil, fmt.Errorf("%w; the command was not run", err)
	}
	return started(cmd, c), c.End, nil
}

// Read confines a read-only command: it runs in the jail, inside the sandbox. End must be
// called when it has ended.
func (f *Confinement) Read(cmd osproc.Cmd, p *jail.Policy) (confined osproc.Cmd, end func(), err error) {
	c, err := f.box.Wrap(f.ctx, sandbox.Command{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Reading: p})
	if err != nil {
		return osproc.Cmd{}, nil, fmt.Errorf("%w; the command was not run", err)
	}
	return started(cmd, c), func() { c.End("") }, nil
}

// started returns cmd as started in the sandbox. Its extra files keep their descriptors.
func started(cmd osproc.Cmd, c *sandbox.Confined) osproc.Cmd {
	files := c.Files
	if len(cmd.Files) > len(files) {
		files = append(slices.Clone(files), cmd.Files[len(files):]...)
	}
	cmd.Path, cmd.Name, cmd.Args, cmd.Dir, cmd.Env = c.Path, "", c.Args, c.Dir, c.Env
	cmd.Files, cmd.Start, cmd.Terminate, cmd.Reaped, cmd.NoCore = files, c.Start, c.Terminate, !c.Contained, true
	return cmd
}

// Aside allows protected names to appear until resume is called, because the user consented to
// a command outside the sandbox.
func (f *Confinement) Aside() (resume func()) { return f.box.Aside() }

// Scratch returns a directory that confined commands may write to.
func (f *Confinement) Scratch() (string, error) { return f.box.Temp() }

// Leaves reports whether the model may request a command outside the sandbox.
func (f *Confinement) Leaves() bool { return f.settings.Load().AllowUnsandboxed }

// Outside returns a predicate for commands that run outside the sandbox, by the current
// settings and rules.
func (f *Confinement) Outside() func(*shell.Script) bool {
	s, policy := f.settings.Load(), f.gate.Policy()
	return func(script *shell.Script) bool {
		switch {
		case !s.Enabled:
			return true
		case f.test().problem != nil:
			return !s.Required // Wrap reports a required sandbox that does not work
		}
		return policy.Excluded(script)
	}
}
