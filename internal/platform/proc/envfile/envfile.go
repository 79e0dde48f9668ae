// Package envfile applies a file of shell assignments, such as "export NAME=value", to the
// environment of commands. Hooks write such files for the commands that follow.
package envfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/proc/osproc"
)

// A File modifies the environment of commands. A nil File changes nothing.
type File struct {
	path   string
	runner *osproc.Runner
	notify func(string)

	mu   sync.Mutex
	seen time.Time // modification time at the last read
	base []string  // the environment it was applied to
	env  []string  // the result
}

// New returns the file at path, which need not exist; an empty path means no file. runner
// starts the shell that reads it. say reports problems to the user.
func New(path string, runner *osproc.Runner, say func(string)) *File {
	return &File{path: path, runner: runner, notify: say}
}

// Path returns the file's path, or "".
func (f *File) Path() string {
	if f == nil {
		return ""
	}
	return f.path
}

// Prepare creates the file's directory, so that hooks can write the file.
func (f *File) Prepare() {
	if f.Path() == "" {
		return
	}
	if err := fsys.MkdirPrivate(filepath.Dir(f.path)); err != nil {
		f.notify(fmt.Sprintf("hooks cannot set variables: %v", err))
	}
}

// Remove removes the file.
func (f *File) Remove() {
	if f.Path() != "" {
		os.Remove(f.path) // ok: the file may not exist
	}
}

// Apply returns env with the file's changes. It rereads the file when the file or env has
// changed. If the file cannot be read, it changes nothing.
func (f *File) Apply(env []string) []string {
	if f.Path() == "" {
		return env
	}
	info, err := os.Stat(f.path)
	if err != nil || info.Size() == 0 {
		return env
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if info.ModTime().Equal(f.seen) && slices.Equal(env, f.base) {
		return slices.Clone(f.env)
	}
	f.seen, f.base = info.ModTime(), slices.Clone(env)
	if f.env, err = f.read(env); err != nil {
		f.notify(fmt.Sprintf("the variables that hooks set are not used: %v", err))
		f.env = f.base
	}
	return slices.Clone(f.env)
}

// timeout limits how long commands wait for the file to be read.
const timeout = 10 * time.Second

// read runs a shell that sources the file and returns the resulting environment.
func (f *File) read(env []string) ([]string, error) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		if shell, err = exec.LookPath("sh"); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	exit, err := f.runner.Run(context.Background(), osproc.Cmd{
		Path: shell, Args: []string{"-c", `. "$1" >/dev/null 2>&1; exec env -0`, "adze", f.path},
		Dir: filepath.Dir(f.path), Env: env, Output: &out, Timeout: timeout,
	})
	switch {
	case err != nil:
		return nil, err
	case exit.TimedOut:
		return nil, errors.New("reading them takes too long")
	case exit.Code != 0:
		return nil, fmt.Errorf("%s ended with code %d", f.path, exit.Code)
	}
	entries := strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00")
	return slices.DeleteFunc(entries, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{"_", "SHLVL", "PWD", "OLDPWD"}, name) // set by the shell itself
	}), nil
}
