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

	"adze/internal/platform/osproc"
	"adze/internal/platform/shell"
)

// snapshotTime is how long the user's own start-up files may take.
const snapshotTime = 10 * time.Second

// snapshotPause lets a session get going first: a short one needs no snapshot.
const snapshotPause = 300 * time.Millisecond

// snapshotWait is how long a command waits for one.
const snapshotWait = 2 * time.Second

// snapshotMercy is how long the end of a session waits for one.
const snapshotMercy = 2 * time.Second

// SnapshotFile is the name of the snapshot.
const SnapshotFile = "shell-snapshot.sh"

// snapshotScript writes what an interactive bash of the user knows, as bash would read it again. A
// PATH that is not what it was then is left alone: a hook has set it. The file appears only when it is
// whole.
const snapshotScript = `{ alias -p; declare -f; printf '[ "$PATH" != %q ] || export PATH=%q\n' "$ADZE_PATH" "$PATH"; } > "$ADZE_SNAPSHOT.part" && mv "$ADZE_SNAPSHOT.part" "$ADZE_SNAPSHOT"`

// A Snapshot is a file with the user's aliases, functions and PATH.
type Snapshot struct {
	// Note is told, once, that the user's own shell is not the one that runs commands. May
	// be nil.
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

// TakeSnapshot takes a snapshot in dir, which it makes: after [Snapshot.Start], or when the file is first
// asked for. Warn is told, once, why there is none. The snapshot is taken with env.
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

// Start takes the snapshot in the background, after a moment: the session gets going first.
func (s *Snapshot) Start() {
	s.starting.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.timer = time.AfterFunc(snapshotPause, func() { s.take() })
	})
}

// File waits a moment for the snapshot and returns its name, or "" if there is none: a command does not
// wait for start-up files that take long. It is what [Config].Snapshot wants.
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

// Close ends a snapshot that is being taken, but not at once: start-up files that are killed may leave
// locks behind which the user's next shell waits for.
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
		return "", nil // sh has no aliases worth keeping
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
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
		return "", fmt.Errorf("what your bash start-up files set cannot be kept: %w", err) // on a full disk, for example
	}
	os.Remove(file) // ok: it is removed with its directory
	return "", fmt.Errorf("your bash start-up files failed (%s)", reason(exit, err))
}

// lookup returns what tells the value of a variable in env.
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
