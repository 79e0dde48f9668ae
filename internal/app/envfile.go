package app

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

// An envFile is where hooks write lines such as "export NAME=value" for the commands that follow. A nil
// file has none.
type envFile struct {
	path   string
	runner *osproc.Runner
	say    func(string)

	mu   sync.Mutex
	seen time.Time // of the file that was read last
	base []string  // what it was read on top of
	env  []string
}

func newEnvFile(b *builder) *envFile {
	f := &envFile{runner: &b.runner, say: b.env.say}
	if b.home != "" {
		f.path = filepath.Join(b.home, "session-env", b.id+".sh")
	}
	return f
}

// make sees to it that the file can be written.
func (f *envFile) make() {
	if f.path == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		f.say(fmt.Sprintf("hooks cannot set variables: %v", err))
	}
}

func (f *envFile) remove() {
	if f.path != "" {
		os.Remove(f.path) // ok: there may be none
	}
}

// apply returns the environment as the file changes it. A file that cannot be read changes nothing.
func (f *envFile) apply(env []string) []string {
	if f == nil || f.path == "" {
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

// envFileTimeout bounds what hooks let commands wait for.
const envFileTimeout = 10 * time.Second

// read lets a shell read the file, as commands would, and returns the environment it then has.
func (f *envFile) read(env []string) ([]string, error) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		if shell, err = exec.LookPath("sh"); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	exit, err := f.runner.Run(context.Background(), osproc.Cmd{
		Path: shell, Args: []string{"-c", `. "$1" >/dev/null 2>&1; exec env -0`, "adze", f.path},
		Dir: filepath.Dir(f.path), Env: env, Output: &out, Timeout: envFileTimeout,
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
