package wire

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"adze/internal/app/conversation"
	"adze/internal/platform/proc/osproc"
	"adze/internal/session"
	"adze/internal/tools/bash"
)

// openShell creates the state shared by commands. Nothing is written before the first command.
func (c *Conversation) openShell(ctx context.Context) (err error) {
	cfg := conversation.ShellConfig{
		Dir: c.dir.Workdir, Env: c.ws.environment(), Record: c.record, Home: c.ws.Project.Home, Program: c.ws.Program, Say: c.ws.Say,
		NoBackground: c.ws.values().Shell.NoBackground,
		Ended:        c.notify,                                                                 // immediately if the model is idle
		Told:         func(t session.Task) { c.Session.Submit(context.WithoutCancel(ctx), t) }, // ok: a closed session needs no notification
	}
	if c.spec.Entry == Interactive {
		cfg.Note = c.ws.Say
	}
	cfg.Lead = c.spec.worker.lead.shell
	c.dir.Changed = func(from, to string) { c.Hooks.Moved(ctx, from, to) }
	c.shell, err = conversation.OpenShell(cfg, c.closers.add)
	return err
}

// ShellPath returns the path of the shell that runs commands.
func ShellPath() (string, error) {
	p, err := bash.Find()
	return p.Path, err
}

// inherited returns the process's initial environment.
func (e *Env) inherited() []string {
	if e.Environ == nil {
		return os.Environ()
	}
	return e.Environ()
}

// environment returns the environment for commands according to the current settings.
func (w *Workspace) environment() *conversation.CommandEnv { return w.env.By(w.inherited, w.values()) }

// runner returns a function that runs a program with the user's environment and a short
// timeout, and returns its output.
func (w *Workspace) runProgram() func(ctx context.Context, name string, args ...string) (string, error) {
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
