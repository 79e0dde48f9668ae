// Package shells keeps what the commands of a conversation share: directory, environment, processes, background tasks. How a
// command runs is left to the tools.
package shells

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/app/transcript"
	"adze/internal/app/variables"
	"adze/internal/app/workdir"
	"adze/internal/platform/envfile"
	"adze/internal/platform/environ"
	"adze/internal/platform/osproc"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/bash"
)

// A Config says whose commands share something.
type Config struct {
	Dir    *workdir.Dir
	Env    *variables.Commands
	Record *transcript.Transcript
	// Home is the state home, or "".
	Home string
	// Program starts this program again; empty means that it must not be started.
	Program string
	// Lead is what the commands share of the conversation that an agent works for; nil for one of its own.
	Lead *Shell
	// NoBackground says that no command runs in the background.
	NoBackground bool
	// Ended hears how a background task ended.
	Ended func(text string)
	// Told hears how a task in the background stands, unless it is a sub-agent, which tells that itself.
	Told func(session.Task)
	// Note hears that the user's own shell is not the one that runs commands; it may be nil.
	Note func(string)
	Say  func(string)
}

// A Shell is what the commands of a conversation share.
type Shell struct {
	Dir      *workdir.Dir
	Runner   *osproc.Runner // ends with the conversation what its commands leave behind
	Tasks    *task.Table    // nil if nothing runs in the background
	Vars     *envfile.File  // where hooks set variables
	Temp     string         // where output is kept
	Snapshot func() string  // of the user's shell; may be nil
	Notes    environ.Notes  // about variables that commands do not get

	ended func(text string)        // tells the model
	start func()                   // takes the snapshot; may be nil
	env   atomic.Pointer[[]string] // of commands
}

// Open makes what commands share. Nothing is written before the first of them. Opened is called with what closes parts of it,
// the last to be closed first.
func Open(c Config, opened func(close func())) (*Shell, error) {
	folder := c.Record.Folder()
	if folder == "" {
		var err error
		if folder, err = transcript.Temporary(opened); err != nil {
			return nil, err
		}
	}
	s := &Shell{Dir: c.Dir, Temp: filepath.Join(folder, "tasks"), Runner: &osproc.Runner{Reaper: c.Program}, ended: c.Ended}
	if c.Lead != nil {
		s.Runner = c.Lead.Runner.Part()
	}
	opened(s.Runner.Close)
	vars := ""
	if c.Home != "" {
		vars = filepath.Join(c.Home, "session-env", c.Record.ID+".sh")
	}
	s.Vars = envfile.New(vars, s.Runner, c.Say)
	s.SetEnv(c.Env)
	opened(func() { transcript.RemoveTasks(folder, c.Record.Path(), bash.SnapshotFile) })
	if c.Lead != nil {
		s.Snapshot, s.start = c.Lead.Snapshot, c.Lead.start
	} else {
		snapshot := bash.TakeSnapshot(s.Runner, folder, c.Env.List, c.Say)
		snapshot.Note = c.Note
		s.Snapshot, s.start = snapshot.File, snapshot.Start
		opened(snapshot.Close)
	}
	if !c.NoBackground {
		s.Tasks = task.New(s.Temp, func(n task.Notice) { c.Ended(n.Text()) })
		s.Tasks.Follow(func(t *task.Task, ended bool) { tell(c.Told, t, ended) })
		opened(s.Tasks.Close) // before the runner, which would take their last words
		if c.Lead != nil && c.Lead.Tasks != nil {
			opened(c.Lead.Tasks.Join(s.Tasks))
		}
	}
	return s, nil
}

// tell tells how a task in the background stands.
func tell(told func(session.Task), t *task.Task, ended bool) {
	if kind := t.ID[0]; kind == task.Agent || kind == task.Dream {
		return
	}
	news := session.TaskMoved
	if ended {
		news = session.TaskEnded
	}
	told(session.TaskOf(t, news))
}

// Plain returns what commands share where nothing is kept. It starts nothing.
func Plain(dir *workdir.Dir, env *variables.Commands) *Shell {
	s := &Shell{Dir: dir, Tasks: task.New(os.TempDir(), nil)}
	s.SetEnv(env)
	return s
}

// patience is the wait for background commands before adze asks the model about them and notifies the user.
const patience = 3 * time.Second

// Await returns a function that waits for background commands at the end of a turn. If that takes long, it asks the model once about
// each of them; the user is told of those that the model wants to wait for.
func (s *Shell) Await(say func(string)) func(context.Context, func() bool) bool {
	var mu sync.Mutex
	asked := map[string]bool{}
	return func(ctx context.Context, heard func() bool) bool {
		slow := time.AfterFunc(patience, func() {
			mu.Lock()
			defer mu.Unlock()
			var open []string
			for _, t := range s.Tasks.List() {
				if t.Status() != task.Running || !task.Awaited(t) {
					continue
				}
				title := tool.OneLine(t.Title, 80)
				if t.ID[0] == task.Shell && !asked[t.ID] {
					asked[t.ID] = true
					open = append(open, fmt.Sprintf("%s (task %s)", title, t.ID))
					continue
				}
				say(waiting(title, t))
			}
			if open != nil {
				s.ended("Your turn has not ended, because a background command still runs: " + strings.Join(open, ", ") +
					". Stop with TaskStop what you no longer need, such as a server. To wait for the rest, end your turn again.")
				s.Tasks.Wake()
			}
		})
		defer slow.Stop()
		return s.Tasks.Await(ctx, heard)
	}
}

// waiting returns the note about a task that holds up the end of a run.
func waiting(title string, t *task.Task) string {
	text := fmt.Sprintf("waiting for %q", title)
	if t.Limit > 0 {
		limit := t.Limit.String()
		if t.Limit%time.Minute == 0 {
			limit = fmt.Sprintf("%d min", t.Limit/time.Minute)
		}
		text += ", at most " + limit
		if t.ID[0] == task.Shell {
			text += " (setting shell.backgroundWaitMs)"
		}
	}
	return text + "; Ctrl-C stops it"
}

// Running returns what the commands in the background are that run.
func (s *Shell) Running() (titles []string) {
	if s.Tasks == nil {
		return nil
	}
	for _, t := range s.Tasks.List() {
		if t.ID[0] == task.Shell && t.Status() == task.Running {
			titles = append(titles, tool.OneLine(t.Title, 80))
		}
	}
	return titles
}

// Hear takes the snapshot of the user's shell beside the first turn: a conversation in which nothing is said
// leaves nothing behind.
func (s *Shell) Hear(context.Context, session.Prompt) session.Hearing {
	s.start()
	return session.Hearing{}
}

// SetEnv gives commands an environment.
func (s *Shell) SetEnv(c *variables.Commands) {
	s.env.Store(&c.List)
	s.Notes.Set(c.Withheld)
}

// Env returns the environment of commands, without what hooks set.
func (s *Shell) Env() []string { return *s.env.Load() }

// WithVars returns the environment of commands, with what hooks set.
func (s *Shell) WithVars() []string { return s.Vars.Apply(s.Env()) }
