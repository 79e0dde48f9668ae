package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"adze/internal/app/transcript"
	"adze/internal/app/variables"
	"adze/internal/app/workdir"
	"adze/internal/hook"
	"adze/internal/platform/envfile"
	"adze/internal/platform/environ"
	"adze/internal/platform/osproc"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/bash"
)

// A shellState is what the commands of a conversation share.
type shellState struct {
	dir      *workdir.Dir
	env      atomic.Pointer[[]string] // of commands
	notes    environ.Notes            // about variables that commands do not get
	runner   osproc.Runner            // ends with the conversation what its commands leave behind
	tasks    *task.Table              // nil if nothing runs in the background
	vars     *envfile.File            // where hooks set variables
	temp     string                   // where output is kept
	snapshot func() string            // of the user's shell; may be nil
	start    func()                   // takes the snapshot; may be nil
}

// openShell makes what commands share. Nothing is written before the first of them.
func (c *Conversation) openShell(ctx context.Context) error {
	folder := c.record.Folder()
	if folder == "" {
		var err error
		if folder, err = transcript.Temporary(c.closers.add); err != nil {
			return err
		}
	}
	v := c.ws.values()
	s := &shellState{dir: c.dir.Dir, temp: filepath.Join(folder, "tasks")}
	c.shell = s
	s.runner.Reaper = c.ws.Program
	c.closers.add(s.runner.Close)
	s.dir.Changed = func(from, to string) { c.Hooks.Fire(ctx, hook.OnCwdChanged(from, to)) }
	vars := ""
	if home := c.ws.Project.Home; home != "" {
		vars = filepath.Join(home, "session-env", c.record.ID+".sh")
	}
	s.vars = envfile.New(vars, &s.runner, c.ws.Say)
	s.setEnv(c.ws.environment())
	snapshot := bash.TakeSnapshot(&s.runner, folder, *s.env.Load(), c.ws.Say)
	if c.spec.Entry == Interactive {
		snapshot.Note = c.ws.Say
	}
	s.snapshot, s.start = snapshot.File, snapshot.Start
	c.closers.add(func() { transcript.RemoveTasks(folder, c.record.Path(), bash.SnapshotFile) })
	c.closers.add(snapshot.Close)
	if !v.Shell.NoBackground {
		s.tasks = task.New(s.temp, func(n task.Notice) {
			notify(c, n.Text()) // how a task ended, at once if the model is doing nothing
		})
		c.closers.add(s.tasks.Close) // before the runner, which would take their last words
	}
	return nil
}

// patience is how long background commands are waited for before the user is told.
const patience = 3 * time.Second

// await returns what waits for background commands, and tells the user if that takes long.
func (s *shellState) await(say func(string)) func(context.Context, func() bool) bool {
	return func(ctx context.Context, heard func() bool) bool {
		slow := time.AfterFunc(patience, func() {
			for _, t := range s.tasks.List() {
				if t.Status() == task.Running {
					say(fmt.Sprintf("waiting for a background command, until it has run for %v: %s", t.Limit, tool.OneLine(t.Title, 80)))
				}
			}
		})
		defer slow.Stop()
		return s.tasks.Await(ctx, heard)
	}
}

// hear takes the snapshot of the user's shell beside the first turn: a conversation in which nothing is said
// leaves nothing behind.
func (s *shellState) hear(context.Context, session.Prompt) session.Hearing {
	s.start()
	return session.Hearing{}
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

// setEnv gives commands an environment.
func (s *shellState) setEnv(c *variables.Commands) {
	s.env.Store(&c.List)
	s.notes.Set(c.Withheld)
}
