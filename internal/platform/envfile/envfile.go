// Package envfile applies a file of shell assignments to the environment of commands: lines such as
// "export NAME=value", which hooks write for the commands that follow. Who writes the file, and which
// commands use it, is decided elsewhere.
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

	"adze/internal/platform/osproc"
)

// A File changes the environment of commands. A nil File changes nothing.
type File struct {
	path   string
	runner *osproc.Runner
	say    func(string)

	mu   sync.Mutex
	seen time.Time // the modification time of what was read last
	base []string  // the environment it was applied to
	env  []string  // the result
}

// New returns the file at path, which need not exist; an empty path means that there is none. Runner
// starts the shell that reads it, say tells the user about problems.
func New(path string, runner *osproc.Runner, say func(string)) *File {
	return &File{path: path, runner: runner, say: say}
}

// Path returns the path of the file, or "".
func (f *File) Path() string {
	if f == nil {
		return ""
	}
	return f.path
}

// Prepare makes the directory of the file, so that it can be written.
func (f *File) Prepare() {
	if f.Path() == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		f.say(fmt.Sprintf("hooks cannot set variables: %v", err))
	}
}

// Remove removes the file.
func (f *File) Remove() {
	if f.Path() != "" {
		os.Remove(f.path) // ok: there may be none
	}
}

// Apply returns env as the file changes it. The file is read again when it or env has changed; if it
// cannot be read it changes nothing.
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
		f.say(fmt.Sprintf("the variables that hooks set are not used: %v", err))
		f.env = f.base
	}
	return slices.Clone(f.env)
}

// timeout bounds how long commands wait for the file to be read.
const timeout = 10 * time.Second

// read lets a shell read the file and returns the environment that it then has.
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
		return slices.Contains([]string{"_", "SHLVL", "PWD", "OLDPWD"}, name) // the shell's own
	}), nil
}
