// Package search finds files by name ([Engine.Glob]) and lines by pattern ([Engine.Grep]) in a
// directory tree. It combines its sub-packages, sorts and limits the results, and caches which
// files need not be opened.
package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/fs/paths"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/search/walk"
)

// A Kind selects the search program.
type Kind uint8

// Kinds. Auto uses ripgrep if a recent version is installed.
const (
	Builtin Kind = iota
	System
	Auto
)

// ParseKind parses the setting: builtin, system or auto; empty means builtin.
func ParseKind(setting string) (Kind, error) {
	switch setting {
	case "", "builtin":
		return Builtin, nil
	case "system":
		return System, nil
	case "auto":
		return Auto, nil
	}
	return Builtin, fmt.Errorf("search.engine is %q: use builtin, system or auto", setting)
}

// Config configures an Engine. The zero value selects the built-in engine.
type Config struct {
	Kind Kind
	// Timeout is the time limit for a search; 0 means 20 s, and 60 s in the Windows Subsystem
	// for Linux.
	Timeout time.Duration
	// WorkDirs returns the working directories: a program inside one is never run.
	WorkDirs func() []string
	// Getenv returns PATH, HOME and git's variables; os.Getenv if nil.
	Getenv func(string) string
	// Warn, if non-nil, is called once with the reason if ripgrep was requested and is not
	// used.
	Warn func(text string)
	// Cold disables caching.
	Cold bool
}

// An Engine searches. It is safe for concurrent use and must be closed.
type Engine struct {
	Config
	cache  *cache
	runner osproc.Runner
	ripper func() (ripgrep, error)
	warned sync.Once

	open opener // replaced by tests
}

// New returns an engine. It does not access the file system.
func New(c Config) *Engine {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.WorkDirs == nil {
		c.WorkDirs = func() []string { return nil }
	}
	e := &Engine{Config: c, open: openEntry}
	e.ripper = sync.OnceValues(func() (ripgrep, error) { return e.findRipgrep() })
	if !c.Cold {
		e.cache = newCache()
	}
	return e
}

// Close stops the background work.
func (e *Engine) Close() {
	if e.cache != nil {
		e.cache.close()
	}
	e.runner.Close()
}

// Settle waits for background work to finish.
func (e *Engine) Settle() {
	if e.cache != nil {
		e.cache.wg.Wait()
	}
}

// Changed notifies the engine that adze has written or removed the file at an absolute path.
func (e *Engine) Changed(path string) {
	if e.cache != nil {
		e.cache.forget(path)
	}
}

// A Stop is the reason why a search ended early.
type Stop uint8

// Reasons. The result contains the matches found until then.
const (
	Complete    Stop = iota
	TimedOut         // timeout
	Interrupted      // context canceled
	Short            // out of file descriptors, even with one worker
)

// A Skip reports whether to exclude the file at an absolute path, or a directory and everything
// below it. It is called concurrently.
type Skip func(path string, dir bool) bool

var errTimeout = errors.New("the time for the search is up")

const (
	defaultTimeout = 20 * time.Second
	wslTimeout     = 60 * time.Second
	// grace is how long a search may take to stop. After that a blocked read, as on a network
	// file system, is abandoned.
	grace = 30 * time.Millisecond
)

func (e *Engine) timeout() time.Duration {
	switch {
	case e.Timeout > 0:
		return e.Timeout
	case onWSL():
		return wslTimeout
	}
	return defaultTimeout
}

var onWSL = sync.OnceValue(func() bool {
	if runtime.GOOS != "linux" {
		return false
	}
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease") // ok: unreadable means false
	return strings.Contains(strings.ToLower(string(release)), "microsoft")
})

// bounded runs a search with a timeout. It returns early, with ok false, if the search blocks.
func bounded[T any](ctx context.Context, timeout time.Duration, run func(context.Context) T) (result T, ok bool, stop Stop) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	done := make(chan T, 1)
	go func() { done <- run(ctx) }()
	select {
	case result = <-done:
		ok = true
	case <-ctx.Done():
		hangs := time.NewTimer(grace)
		defer hangs.Stop()
		select {
		case result = <-done:
			ok = true
		case <-hangs.C:
		}
	}
	switch {
	case ctx.Err() == nil:
	case errors.Is(context.Cause(ctx), errTimeout):
		stop = TimedOut
	default:
		stop = Interrupted
	}
	return result, ok, stop
}

// A tree is the part of the file system that a search walks.
type tree struct {
	root string // absolute
	real string // root with links resolved
	file bool   // the root is a file
	skip Skip
	walk walk.Options
}

// newTree inspects the root, which may be a file. Real is the root with links resolved, or
// empty.
func (e *Engine) newTree(root, real string, skip Skip, noIgnore bool) (*tree, error) {
	if !filepath.IsAbs(root) {
		return nil, fmt.Errorf("the path %s is not absolute", root)
	}
	root = filepath.Clean(root)
	if real == "" {
		var err error
		if real, err = filepath.EvalSymlinks(root); err != nil {
			return nil, fmt.Errorf("reading %s: %w", root, reason(err))
		}
	}
	info, err := os.Lstat(real)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		err = paths.ErrMoved
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", root, reason(err))
	}
	t := &tree{root: root, real: real, file: !info.IsDir(), skip: skip}
	t.walk = walk.Options{Root: root, Real: real, Ignore: !noIgnore, Hidden: true, Fold: foldsCase(), Getenv: e.Getenv}
	if skip != nil || real == string(filepath.Separator) {
		t.walk.Skip = t.denied
	}
	return t, nil
}

// denied checks a path under both its names, if the root has two. It excludes /proc, /sys and
// /dev from a search of the root directory: some of their files never end.
func (t *tree) denied(rel string, dir bool) bool {
	if dir && t.real == string(filepath.Separator) && (rel == "proc" || rel == "sys" || rel == "dev") {
		return true
	}
	return t.skip != nil && (t.skip(Join(t.root, rel), dir) || t.real != t.root && t.skip(Join(t.real, rel), dir))
}

// Join returns the absolute path for rel in a result.
func Join(root, rel string) string {
	if rel == "." {
		return root
	}
	return strings.TrimSuffix(root, string(filepath.Separator)) + string(filepath.Separator) + filepath.FromSlash(rel)
}

func reason(err error) error {
	if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// foldsCase reports whether file systems on this platform are usually case-insensitive.
func foldsCase() bool { return runtime.GOOS == "darwin" || runtime.GOOS == "windows" }
