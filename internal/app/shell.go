package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/hook"
	"adze/internal/msg"
	"adze/internal/platform/paths"
	"adze/internal/platform/task"
	"adze/internal/session"
	toolcommand "adze/internal/tool/command"
	"adze/internal/tools/bash"
)

// A shelling is what commands of a session share.
type shelling struct {
	dir      *workdir
	tasks    *task.Table // nil if nothing runs in the background
	once     bool        // there is a single command, which nothing can outlive
	temp     string      // where output is kept
	snapshot func() string
	// start lets the background work of a session begin, when something is said in it; nil means that
	// there is none.
	start func()
}

// still returns what commands share that are only listed, or run where nothing else is kept.
func still(dir string, g *gate) *shelling {
	return &shelling{dir: newWorkdir(dir, g), tasks: task.New(os.TempDir(), nil)}
}

// config returns how the shell tool is made with it.
func (sh *shelling) config(b toolbox) bash.Config {
	s := b.settings
	c := bash.Config{Snapshot: sh.snapshot, Config: toolcommand.Config{
		Dir: sh.dir.here, Runner: b.runner, Env: func() []string { return b.vars.Apply(shellEnv(s)) },
		TempDir: sh.temp, MaxChars: s.Int("shell.maxOutputChars"),
		Limits: toolcommand.Limits{
			Tasks: sh.tasks, Budget: milliseconds(s, "shell.blockingBudgetMs"),
			Timeout: milliseconds(s, "shell.defaultTimeoutMs"), MaxTimeout: milliseconds(s, "shell.maxTimeoutMs"),
		},
	}}
	if sh.once {
		c.Tasks = nil
	}
	for _, v := range s.Env() {
		c.Keep = append(c.Keep, v.Name)
	}
	if b.sandbox != nil {
		c.Sandbox = b.sandbox
	}
	if sh.dir.gate != nil {
		c.SetDir, c.Roots = sh.dir.move, sh.dir.roots
		c.MayRead = func(path string) bool { return sh.dir.gate.Policy().MayRead(path) }
	}
	return c
}

// openShell makes what commands of the session share. Nothing is written before the first of them.
func (b *builder) openShell(ctx context.Context) (*shelling, error) {
	dir, err := b.sessionDir()
	if err != nil {
		return nil, err
	}
	sh := &shelling{dir: b.dir, temp: filepath.Join(dir, "tasks"), once: b.backend == nil && !b.o.stdin}
	b.dir.changed = func(from, to string) { b.hooks.Fire(ctx, hook.OnCwdChanged(from, to)) }
	snapshot := bash.TakeSnapshot(&b.runner, dir, shellEnv(b.settings), b.env.say)
	if interactive(b.env, b.o) {
		snapshot.Note = b.env.say
	}
	sh.snapshot, sh.start = snapshot.File, snapshot.Start
	b.closers = append(b.closers, func() { b.removeTasks(dir) }, snapshot.Close)
	if !b.settings.Bool("ADZE_DISABLE_BACKGROUND_TASKS") {
		sh.tasks = task.New(sh.temp, b.taskEnded)
		b.closers = append(b.closers, sh.tasks.Close) // before the runner, which would take their last words
	}
	return sh, nil
}

// warmUp takes the snapshot of the user's shell beside the first turn: a session in which nothing is
// said leaves nothing behind.
func (sh *shelling) warmUp(context.Context, session.Prompt) session.Hearing {
	sh.start()
	return session.Hearing{}
}

// sessionDir returns the folder for what is kept beside the transcript. Without a transcript it lasts as
// long as the session.
func (b *builder) sessionDir() (string, error) {
	if b.log != nil {
		return strings.TrimSuffix(b.log.Path(), ".jsonl"), nil
	}
	dir, err := os.MkdirTemp("", "adze-session-")
	if err != nil {
		return "", setupErrorf("making a folder for the output of commands: %v", err)
	}
	b.closers = append(b.closers, func() { os.RemoveAll(dir) }) // ok: it is the system's to clean up then
	return dir, nil
}

// removeTasks removes what nobody will look for: the snapshot of the shell, empty folders, and all of it
// if the conversation was not kept.
func (b *builder) removeTasks(dir string) {
	tasks := filepath.Join(dir, "tasks")
	if _, err := os.Stat(b.log.Path()); err != nil {
		os.RemoveAll(tasks) // ok: as below
	}
	os.Remove(filepath.Join(dir, bash.SnapshotFile)) // ok: there may be none
	os.Remove(tasks)                                 // ok: only if it is empty
	os.Remove(dir)                                   // ok: only if it is empty
}

// taskEnded tells the model how a background task ended, at once if it is doing nothing.
func (b *builder) taskEnded(n task.Notice) {
	b.hooks.Notify(session.Notify{Text: n.Text(), Wake: true})
}

// A workdir is where the session is: all tools and the permission check read it.
type workdir struct {
	root    string // where the session started
	gate    *gate
	changed func(from, to string)

	mu  sync.Mutex
	now string
}

func newWorkdir(dir string, g *gate) *workdir {
	return &workdir{root: dir, now: dir, gate: g, changed: func(string, string) {}}
}

func (w *workdir) here() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// move makes dir the working directory, or the one where the session started if dir is none of those it
// works in. It returns which one it is.
func (w *workdir) move(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil && w.works(real) && isDir(real) {
		dir = real
	} else {
		dir = w.root
	}
	w.mu.Lock()
	from := w.now
	if same(from, dir) {
		dir = from // under the name it has
	}
	w.now = dir
	w.mu.Unlock()
	if dir != from {
		w.gate.SetDir(dir)
		w.changed(from, dir)
	}
	return dir
}

// works reports whether a path without links lies in a working directory.
func (w *workdir) works(path string) bool {
	return slices.ContainsFunc(w.roots(), func(root string) bool {
		real, err := filepath.EvalSymlinks(root)
		return err == nil && (path == real || paths.Relative(real, path) != path)
	})
}

// roots returns the working directories.
func (w *workdir) roots() []string { return w.gate.Policy().Config().Dirs }

// same reports whether two names lead to the same directory.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// lostTasks returns the background tasks of an earlier run whose end the model has not heard of. They
// ended with it.
func (b *builder) lostTasks() []task.Notice {
	if b.earlier == nil {
		return nil
	}
	var lost []task.Notice
	for i := range b.earlier.Entries {
		e := &b.earlier.Entries[i]
		for _, value := range e.Structured {
			var r struct {
				ID   string `json:"backgroundTaskId"`
				File string `json:"outputFile"`
			}
			if json.Unmarshal(value, &r) == nil && r.ID != "" {
				lost = append(lost, task.Notice{
					ID: r.ID, Status: task.Killed, OutputFile: r.File,
					Summary: "The background command does not run any more: adze was ended before it told you how the command ended",
				})
			}
		}
		if e.Message.Role == msg.User && len(lost) > 0 {
			text := msg.PlainText(e.Message.Parts)
			lost = slices.DeleteFunc(lost, func(n task.Notice) bool { return task.Announced(text, n.ID) })
		}
	}
	return lost
}
