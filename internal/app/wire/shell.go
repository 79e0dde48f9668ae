package wire

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"adze/internal/app/shells"
	"adze/internal/app/variables"
	"adze/internal/platform/osproc"
	"adze/internal/session"
)

// openShell makes what commands share. Nothing is written before the first of them.
func (c *Conversation) openShell(ctx context.Context) (err error) {
	cfg := shells.Config{
		Dir: c.dir.Dir, Env: c.ws.environment(), Record: c.record, Home: c.ws.Project.Home, Program: c.ws.Program, Say: c.ws.Say,
		NoBackground: c.ws.values().Shell.NoBackground,
		Ended:        func(text string) { notify(c, text) },                                    // at once if the model is doing nothing
		Told:         func(t session.Task) { c.Session.Submit(context.WithoutCancel(ctx), t) }, // ok: a closed session needs no news
	}
	if c.spec.Entry == Interactive {
		cfg.Note = c.ws.Say
	}
	if w := c.spec.Worker; w != nil {
		cfg.Lead = w.Lead.shell
	}
	c.dir.Changed = func(from, to string) { c.Hooks.Moved(ctx, from, to) }
	c.shell, err = shells.Open(cfg, c.closers.add)
	return err
}

// inherited returns the environment that the process was started with.
func (e *Env) inherited() []string {
	if e.Environ == nil {
		return os.Environ()
	}
	return e.Environ()
}

// environment returns the environment of commands by the settings in force.
func (w *Workspace) environment() *variables.Commands { return w.env.By(w.inherited, w.values()) }

// runner returns what runs a program with the user's environment, in no more than a moment, and returns what it prints.
func runner(w *Workspace) func(ctx context.Context, name string, args ...string) (string, error) {
	const limit = 5 * time.Second
	return func(ctx context.Context, name string, args ...string) (string, error) {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", err
		}
		var out, errs strings.Builder
		exit, err := w.runner.Run(ctx, osproc.Cmd{Path: path, Args: args, Dir: w.Dir, Env: w.environment().List, Output: &out, Errors: &errs, Timeout: limit, NoCore: true})
		if err == nil && exit.Code != 0 {
			err = fmt.Errorf("%s ended with %d", name, exit.Code)
		}
		return out.String(), err
	}
}
