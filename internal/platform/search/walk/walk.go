// Package walk lists the files of a tree, quickly and with several workers: it works on directory
// descriptors, asks the file system nothing it has already said, follows no links, and opens nothing
// that is not a file. What is ignored is decided by package ignore; reading the files is left to the
// visitor.
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

	"adze/internal/platform/paths"
	"adze/internal/platform/search/ignore"
)

// Options say what to walk. The functions are called by several goroutines, with paths relative to
// Root and separated by slashes.
type Options struct {
	Root string // a directory or a file; it is walked even if it is ignored
	// Real is Root without links, if the caller has resolved it. Should a link be there by now, the walk fails.
	Real string

	Ignore bool // leave out what ignore files say
	Fold   bool // ignore case in .ignore and .rgignore; what git reads follows its configuration
	Hidden bool // include names that begin with a dot

	// Skip leaves out a file, or a directory with all that is below. Nil skips nothing.
	Skip func(rel string, dir bool) bool
	// Match chooses among the files that are left. Nil chooses all. It is not asked about a Root
	// that is a file.
	Match func(rel string) bool

	Workers int // at most 16; as many as there are processors if 0
	Batch   int // files in a batch at most; 64 if 0

	// Getenv is where the environment that git would read comes from; os.Getenv if nil.
	Getenv func(string) string
}

// Stats tell what a walk has seen.
type Stats struct {
	Files   int  // visited
	Dirs    int  // read, Root included
	Skipped int  // directories that could not be read
	Partial bool // the walk was stopped, or ran out of descriptors: there may be more files
}

const (
	maxWorkers   = 16
	defaultBatch = 64
	maxOpen      = 256 // directories kept open only because something below them is still to be read
)

// Walk calls visit with the files below o.Root, in no particular order, from several goroutines at a
// time. They are told apart by a number below the number of workers. An error of visit ends the walk
// and is returned as it is. When ctx ends, Walk stops what it does and returns its error, and what it
// has seen. Directories that cannot be read are counted, and what vanishes while the walk goes on is
// passed over; only a Root that cannot be read is an error.
//
// No goroutine is left when Walk returns.
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

// resolve returns the absolute path of the root without links, and what it is.
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

// reason takes off what an error says about the path, which its reader knows.
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

// A tree is what the workers of one walk share.
type tree struct {
	Options
	queue
	visit func(int, *Batch) error
	rules *ignore.Loader
	above *ignore.Dir
	top   string       // path of the root with a slash at its end, as package ignore wants it
	open  atomic.Int32 // directories that are open
	bound atomic.Int32 // on them, as far as it can be kept
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
