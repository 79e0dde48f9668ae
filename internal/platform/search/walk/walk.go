// Package walk lists the files of a tree with several workers. It works on directory
// descriptors, avoids redundant system calls, follows no links, and opens only regular files.
// Package ignore decides which files are ignored.
package walk

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
	"sync/atomic"

	"adze/internal/platform/fs/paths"
	"adze/internal/platform/search/ignore"
)

// Options configure a walk. The functions are called concurrently, with slash-separated paths
// relative to Root.
type Options struct {
	Root string // directory or file; walked even if ignored
	// Real is Root with links resolved, if the caller has resolved it. If it contains a link by
	// now, the walk fails.
	Real string

	Ignore bool // apply ignore files
	Fold   bool // ignore case in .ignore and .rgignore; git's files follow its configuration
	Hidden bool // include names that begin with a dot

	// Skip, if non-nil, reports whether to exclude a file, or a directory and everything below
	// it.
	Skip func(rel string, dir bool) bool
	// Match, if non-nil, selects among the remaining files. It is not called for a Root that is
	// a file.
	Match func(rel string) bool

	Workers int // maximum 16; 0 means the number of processors
	Batch   int // maximum number of files in a batch; 0 means 64

	// Getenv returns the environment variables that git would read; os.Getenv if nil.
	Getenv func(string) string
}

// Stats describe a walk.
type Stats struct {
	Files   int  // files visited
	Dirs    int  // directories read, including Root
	Skipped int  // unreadable directories
	Partial bool // the walk was stopped or ran out of descriptors: there may be more files
}

const (
	maxWorkers   = 16
	defaultBatch = 64
	maxOpen      = 256 // directories kept open only because of unread descendants
)

// Walk calls visit with the files below o.Root, in no particular order, from several goroutines
// concurrently. worker identifies the goroutine; it is less than the number of workers. An
// error from visit ends the walk and is returned unchanged. When ctx is done, Walk stops and
// returns its error and the statistics so far. Unreadable directories are counted, and files
// that vanish during the walk are skipped; only an unreadable Root is an error.
//
// No goroutines are left when Walk returns.
func Walk(ctx context.Context, o Options, visit func(worker int, b *Batch) error) (Stats, error) {
	if err := ctx.Err(); err != nil {
		return Stats{Partial: true}, err
	}
	real, info, err := o.resolve()
	if err != nil {
		return Stats{}, err
	}
	if !info.IsDir() {
		return visitFile(real, visit)
	}
	h, err := openRoot(real)
	if err != nil {
		return Stats{}, fmt.Errorf("reading %s: %w", o.Root, reason(err))
	}
	workers := min(maxWorkers, o.Workers)
	if workers <= 0 {
		workers = min(maxWorkers, runtime.GOMAXPROCS(0))
	}
	t := newTree(o, real, visit, workers)
	top := t.newRoot(h)
	t.push(job{kind: readDir, dir: top})
	defer context.AfterFunc(ctx, t.stop)()

	stats := make([]Stats, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { stats[i] = t.work(i) })
	}
	wg.Wait()
	for _, j := range t.jobs {
		j.abandon()
	}
	top.forget()

	var sum Stats
	for _, s := range stats {
		sum.Files += s.Files
		sum.Dirs += s.Dirs
		sum.Skipped += s.Skipped
		sum.Partial = sum.Partial || s.Partial
	}
	if t.err == nil {
		t.err = ctx.Err()
	}
	sum.Partial = sum.Partial || t.err != nil
	return sum, t.err
}

// resolve returns the absolute path of the root with links resolved, and its file info.
func (o *Options) resolve() (string, fs.FileInfo, error) {
	root, real := o.Root, o.Real
	if real == "" {
		abs, err := filepath.Abs(root)
		if err != nil {
			return "", nil, fmt.Errorf("finding the working directory: %w", reason(err))
		}
		if real, err = filepath.EvalSymlinks(abs); err != nil {
			return "", nil, fmt.Errorf("reading %s: %w", root, reason(err))
		}
	}
	info, err := os.Lstat(real)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		err = paths.ErrMoved
	}
	if err != nil {
		return "", nil, fmt.Errorf("reading %s: %w", root, reason(err))
	}
	if mode := info.Mode(); !mode.IsDir() && !mode.IsRegular() {
		return "", nil, fmt.Errorf("%s is neither a directory nor a regular file", root)
	}
	return real, info, nil
}

// reason strips the path from an error, since the caller adds it.
func reason(err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// visitFile visits a root that is a file. Its relative path is ".".
func visitFile(real string, visit func(int, *Batch) error) (Stats, error) {
	dir, name := filepath.Dir(real), filepath.Base(real)
	h, err := openRoot(dir)
	if err != nil {
		return Stats{}, fmt.Errorf("reading %s: %w", dir, reason(err))
	}
	defer h.close()
	var a arena
	b := &Batch{Files: []Entry{{path: ".", name: a.add("", name)}}, handle: h}
	return Stats{Files: 1}, visit(0, b)
}

// A tree is the state shared by the workers of a walk.
type tree struct {
	Options
	queue
	visit func(int, *Batch) error
	rules *ignore.Loader
	above *ignore.Dir
	top   string       // path of the root with a trailing slash, for package ignore
	open  atomic.Int32 // number of open directories
	bound atomic.Int32 // target maximum for open
}

func newTree(o Options, real string, visit func(int, *Batch) error, workers int) *tree {
	t := &tree{Options: o, visit: visit, top: strings.TrimSuffix(filepath.ToSlash(real), "/") + "/"}
	t.queue.init(workers)
	t.bound.Store(maxOpen)
	if t.Batch <= 0 {
		t.Batch = defaultBatch
	}
	if o.Ignore {
		t.rules = ignore.NewLoader(ignore.Options{Fold: o.Fold, Getenv: o.Getenv})
		t.above = t.rules.Above(real)
	}
	return t
}
