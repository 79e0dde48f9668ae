// Package search answers two questions about a tree: which files have a name like this ([Engine.Glob]),
// and which lines match this pattern ([Engine.Grep]). It puts together what its sub-packages do one by
// one, orders and bounds what they find, and remembers from one search to the next which files need not
// be opened. How results are worded, and what may be read, is left to others.
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

	"adze/internal/platform/osproc"
	"adze/internal/platform/paths"
	"adze/internal/platform/search/walk"
)

// A Kind says which program searches.
type Kind uint8

// The kinds. Auto is ripgrep where a recent one is installed.
const (
	Builtin Kind = iota
	System
	Auto
)

// ParseKind returns the kind of a setting: builtin, system or auto; empty means builtin.
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

// A Config is what an engine needs to know. The zero value is the built-in engine.
type Config struct {
	Kind Kind
	// Timeout bounds a search; 0 means 20 s, and 60 s in the Windows subsystem for Linux.
	Timeout time.Duration
	// WorkDirs returns the working directories: a program found inside one is never run.
	WorkDirs func() []string
	// Getenv is where PATH, HOME and the variables of git come from; os.Getenv if nil.
	Getenv func(string) string
	// Warn is called once if ripgrep was asked for and is not used, with the reason. It may be nil.
	Warn func(text string)
	// Cold keeps the engine from remembering anything about the files it has read.
	Cold bool
}

// An Engine searches. It may be used by several goroutines, and must be closed.
type Engine struct {
	Config
	cache  *cache
	runner osproc.Runner
	ripper func() (ripgrep, error)
	warned sync.Once

	open opener // replaced by tests
}

// New returns an engine. It touches no file.
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

// Close ends what goes on in the background.
func (e *Engine) Close() {
	if e.cache != nil {
		e.cache.close()
	}
	e.runner.Close()
}

// Settle waits until nothing goes on in the background.
func (e *Engine) Settle() {
	if e.cache != nil {
		e.cache.wg.Wait()
	}
}

// Changed says that adze itself has written or removed the file at an absolute path.
func (e *Engine) Changed(path string) {
	if e.cache != nil {
		e.cache.forget(path)
	}
}

// A Stop is why a search ended early.
type Stop uint8

// The reasons. What was found until then is in the result.
const (
	Complete    Stop = iota
	TimedOut         // the time was up
	Interrupted      // the context was cancelled
	Short            // the system ran out of descriptors, also with one worker
)

// A Skip function leaves out the file at an absolute path, or a directory with all that is below. It is
// called by several goroutines.
type Skip func(path string, dir bool) bool

var errTimeout = errors.New("the time for the search is up")

const (
	defaultTimeout = 20 * time.Second
	wslTimeout     = 60 * time.Second
	// grace is how long a search that is to end may take to do so. A read that hangs, as those of a file
	// system in the network do, is left behind then.
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
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease") // ok: unreadable means no
	return strings.Contains(strings.ToLower(string(release)), "microsoft")
})

// bounded runs a search within its time. It returns early, with ok false, if the search hangs.
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

// A tree is the part of the file system that one search walks.
type tree struct {
	root string // absolute
	real string // the same without links
	file bool   // the root is a file
	skip Skip
	walk walk.Options
}

// newTree looks at the root, which may be a file. Real is the root without links, or empty.
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

// denied asks about a path under both its names, if the root has two. What a system shows of itself as
// files is no part of the tree that holds it: some of it never ends.
func (t *tree) denied(rel string, dir bool) bool {
	if dir && t.real == string(filepath.Separator) && (rel == "proc" || rel == "sys" || rel == "dev") {
		return true
	}
	return t.skip != nil && (t.skip(Join(t.root, rel), dir) || t.real != t.root && t.skip(Join(t.real, rel), dir))
}

// Join returns the absolute path of what is called rel in a result.
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

// foldsCase reports whether file systems usually do not distinguish upper and lower case here.
func foldsCase() bool { return runtime.GOOS == "darwin" || runtime.GOOS == "windows" }
