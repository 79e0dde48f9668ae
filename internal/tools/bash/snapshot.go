package bash

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/shell"
)

// snapshotTime is the time limit for the user's startup files.
const snapshotTime = 10 * time.Second

// snapshotPause delays the snapshot until a session has started: a short session needs none.
const snapshotPause = 300 * time.Millisecond

// snapshotWait is how long a command waits for the snapshot.
const snapshotWait = 2 * time.Second

// snapshotMercy is how long the end of a session waits for the snapshot.
const snapshotMercy = 2 * time.Second

// SnapshotFile is the file name of the snapshot.
const SnapshotFile = "shell-snapshot.sh"

// snapshotScript writes the state of the user's interactive bash in a form that bash can read.
// It does not change a PATH that has been modified since, because a hook set it. The file
// appears only when it is complete.
const snapshotScript = `{ alias -p; declare -f; printf '[ "$PATH" != %q ] || export PATH=%q\n' "$ADZE_PATH" "$PATH"; } > "$ADZE_SNAPSHOT.part" && mv "$ADZE_SNAPSHOT.part" "$ADZE_SNAPSHOT"`

// A Snapshot is a file with the user's aliases, functions and PATH.
type Snapshot struct {
	// Note, if not nil, is called once if the user's own shell is not the shell that runs
	// commands.
	Note func(string)

	take  func() string
	warn  func(string)
	slow  sync.Once
	other func()

	starting sync.Once
	mu       sync.Mutex
	timer    *time.Timer
	cancel   context.CancelFunc
	begun    atomic.Bool
	done     chan struct{}
}

// TakeSnapshot prepares a snapshot in dir, which it creates. The snapshot is taken after
// [Snapshot.Start], or when the file is first requested, with env. Warn is called once with the
// reason if it fails.
func TakeSnapshot(r *osproc.Runner, dir string, env []string, warn func(string)) *Snapshot {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Snapshot{warn: warn, cancel: cancel, done: make(chan struct{})}
	s.other = sync.OnceFunc(func() {
		if s.Note == nil {
			return
		}
		if note := (system{runtime.GOOS, exec.LookPath, lookup(env)}).otherShell(); note != "" {
			s.Note(note)
		}
	})
	s.take = sync.OnceValue(func() string {
		s.begun.Store(true)
		defer close(s.done)
		file, err := takeSnapshot(ctx, r, dir, env)
		if err != nil && ctx.Err() == nil {
			warn(fmt.Sprintf("commands run without your aliases and functions: %v", err))
		}
		return file
	})
	return s
}

// Start takes the snapshot in the background after a short delay, so that the session starts
// first.
func (s *Snapshot) Start() {
	s.starting.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.timer = time.AfterFunc(snapshotPause, func() { s.take() })
	})
}

// File waits briefly for the snapshot and returns its path, or "" if it is not available: a
// command does not wait for slow startup files. It can be used as [Config].Snapshot.
func (s *Snapshot) File() string {
	s.other()
	taken := make(chan string, 1)
	go func() { taken <- s.take() }()
	select {
	case file := <-taken:
		return file
	case <-time.After(snapshotWait):
		s.slow.Do(func() {
			s.warn("your bash start-up files take long; until they are done, commands run without your aliases and functions")
		})
		return ""
	}
}

// Close ends a snapshot in progress after a grace period: killed startup files may leave locks
// that the user's next shell waits for.
func (s *Snapshot) Close() {
	s.mu.Lock()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	if s.begun.Load() {
		select {
		case <-s.done:
		case <-time.After(snapshotMercy):
		}
	}
	s.cancel()
}

func takeSnapshot(ctx context.Context, r *osproc.Runner, dir string, env []string) (string, error) {
	program, err := Find()
	if err != nil || program.Dialect != shell.Bash {
		return "", nil // sh has no aliases worth saving
	}
	if err := fsys.MkdirPrivate(dir); err != nil {
		return "", err
	}
	file := filepath.Join(dir, SnapshotFile)
	exit, err := r.Run(ctx, osproc.Cmd{
		Path: program.Path, Args: []string{"-ic", snapshotScript}, Dir: dir,
		Env: append(env, "ADZE_SNAPSHOT="+file, "ADZE_PATH="+lookup(env)("PATH")), Output: io.Discard, Timeout: snapshotTime,
	})
	if _, missing := os.Stat(file); err == nil && missing == nil {
		return file, nil
	}
	if err := os.WriteFile(file, make([]byte, 4096), 0o600); err != nil {
		return "", fmt.Errorf("saving the environment from your bash start-up files: %w", err) // such as a full disk
	}
	os.Remove(file) // ok: it is removed with its directory
	return "", fmt.Errorf("your bash start-up files failed (%s)", reason(exit, err))
}

// lookup returns a function that looks up variables in env.
func lookup(env []string) func(name string) string {
	return func(name string) string {
		for _, entry := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func reason(exit osproc.Exit, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case exit.TimedOut:
		return "they took longer than " + snapshotTime.String()
	case exit.Signal != "":
		return exit.Signal
	}
	return fmt.Sprintf("exit code %d", exit.Code)
}
