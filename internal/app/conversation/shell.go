package conversation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/platform/proc/envfile"
	"adze/internal/platform/proc/environ"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/session"
	"adze/internal/session/transcript"
	"adze/internal/tool"
	"adze/internal/tools/bash"
)

// Config configures a Shell.
type ShellConfig struct {
	Dir    *Workdir
	Env    *CommandEnv
	Record *transcript.Transcript
	// Home is the state home, or "".
	Home string
	// Program is the path used to start this program again; empty means that it must not be
	// started.
	Program string
	// Lead is the shell of the agent's parent conversation; nil for a main conversation.
	Lead *Shell
	// NoBackground disables background commands.
	NoBackground bool
	// Ended is called with a text when a background task has ended.
	Ended func(text string)
	// Told is called when a background task's state changes, except for sub-agents, which
	// report it themselves.
	Told func(session.Task)
	// Note, if non-nil, is called when commands run in a shell other than the user's own.
	Note func(string)
	Say  func(string)
}

// A Shell holds the state shared by a conversation's commands.
type Shell struct {
	Dir      *Workdir
	Runner   *osproc.Runner // kills leftover processes at the end of the conversation
	Tasks    *task.Table    // nil if background tasks are off
	Vars     *envfile.File  // file in which hooks set variables
	Temp     string         // directory for output
	Snapshot func() string  // snapshot of the user's shell; may be nil
	Notes    environ.Notes  // notes on variables withheld from commands

	ended func(text string)        // notifies the model
	start func()                   // takes the snapshot; nil in a Plain shell
	env   atomic.Pointer[[]string] // environment of commands
}

// Open creates the shared state. Nothing is written before the first command. opened is called
// with functions that close parts of it, to be run in reverse order.
func OpenShell(c ShellConfig, opened func(close func())) (*Shell, error) {
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
		opened(s.Tasks.Close) // closed before the runner, which would lose their last output
		if c.Lead != nil && c.Lead.Tasks != nil {
			opened(c.Lead.Tasks.Join(s.Tasks))
		}
	}
	return s, nil
}

// tell reports the state of a background task.
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

// Plain returns the shared state for conversations that store nothing. It starts nothing.
func PlainShell(dir *Workdir, env *CommandEnv) *Shell {
	s := &Shell{Dir: dir, Tasks: task.New(os.TempDir(), nil)}
	s.SetEnv(env)
	return s
}

// patience is how long to wait for background commands before asking the model about them and
// notifying the user.
const patience = 3 * time.Second

// Await returns a function that waits for background commands at the end of a turn. If that
// takes long, it asks the model once about each of them; the user is notified of the ones the
// model wants to wait for.
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

// waiting returns the notice about a task that delays the end of a run.
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

// Running returns the titles of running background commands.
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

// PromptHook takes the snapshot of the user's shell in the background of the first turn, so that a
// conversation without a prompt leaves nothing behind.
func (s *Shell) PromptHook(context.Context, session.Prompt) session.HookResult {
	s.start()
	return session.HookResult{}
}

// SetEnv sets the environment of commands.
func (s *Shell) SetEnv(c *CommandEnv) {
	s.env.Store(&c.List)
	s.Notes.Set(c.Withheld)
}

// Env returns the environment of commands, without variables set by hooks.
func (s *Shell) Env() []string { return *s.env.Load() }

// WithVars returns the environment of commands, including variables set by hooks.
func (s *Shell) WithVars() []string { return s.Vars.Apply(s.Env()) }
