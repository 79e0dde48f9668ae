// Package fileindex finds files by a few letters of their path, for mentions and quick open. It knows
// the names of a project from the index of its git repository, which it reads itself, and from a walk;
// it keeps them in memory, and up to date. What is done with a name is left to others.
package fileindex

import (
	"context"
	"os"
	"sync"
	"time"
)

// A Config says which names to know. Only Dir is required.
type Config struct {
	Dir string // the working directory, absolute; paths are relative to it
	// All includes files that the project's ignore files leave out.
	All bool
	// Skip leaves out the file at an absolute path, or a directory with all that is below; nil nothing.
	// It may be called by several goroutines.
	Skip func(path string, dir bool) bool
	// Log receives one line for each problem. It may be nil.
	Log func(text string)
}

// throttle is the time between two refreshes, unless the git index changes.
const throttle = 5 * time.Second

// An Index knows the names of a project. It is empty until it is first asked, and must be closed.
type Index struct {
	Config
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu         sync.Mutex
	names      *names        // what answers; nil while nothing is known
	ready      chan struct{} // closed when names is not nil any more, or the first build failed
	refreshing bool
	began      time.Time // when the last refresh did
	stamp      stamp     // of the git index it has read
	err        error     // of the last refresh
	builds     int       // refreshes that were begun
}

// New returns an index that knows nothing yet. It touches no file.
func New(c Config) *Index {
	x := &Index{Config: c}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	return x
}

// Close ends what goes on in the background.
func (x *Index) Close() {
	x.cancel()
	x.wg.Wait()
}

// Settle waits until nothing goes on in the background.
func (x *Index) Settle() { x.wg.Wait() }

// A Match is a file or a directory that a query fits.
type Match struct {
	Path      string // relative to the working directory, separated by slashes
	Dir       bool
	Score     int
	Positions []int // of the bytes of Path where the characters of the query are
}

// Find returns the n best matches of a query, the best first; of an empty query, the entries of the
// working directory. The first call waits until some names are known. Later ones answer with what is
// known, and have it brought up to date in the background when it is time.
func (x *Index) Find(ctx context.Context, query string, n int) ([]Match, error) {
	x.refresh()
	names, err := x.wait(ctx)
	if err != nil {
		return nil, err
	}
	return names.find(ctx, query, n)
}

// wait returns the names that are known.
func (x *Index) wait(ctx context.Context) (*names, error) {
	x.mu.Lock()
	names, ready := x.names, x.ready
	x.mu.Unlock()
	if names != nil {
		return names, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-x.ctx.Done():
		return nil, x.ctx.Err()
	case <-ready:
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.names, x.err
}

// refresh begins to bring the names up to date, if it is time.
func (x *Index) refresh() {
	stamp := stampOf(indexFile(x.Dir))
	x.mu.Lock()
	defer x.mu.Unlock()
	cold := x.names == nil
	if x.refreshing || x.ctx.Err() != nil || !cold && stamp == x.stamp && time.Since(x.began) < throttle {
		return
	}
	x.refreshing, x.began, x.stamp = true, time.Now(), stamp
	x.builds++
	if cold {
		x.ready = make(chan struct{})
	}
	x.wg.Go(func() { x.build(cold) })
}

// build finds the names. While nothing is known, what was found so far answers.
func (x *Index) build(cold bool) {
	publish := func(*names) {}
	if cold {
		publish = x.publish
	}
	found, err := x.collect(x.ctx, publish)
	if err != nil && x.Log != nil {
		x.Log("file index: " + err.Error())
	}
	if err == nil {
		x.publish(found)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refreshing, x.err = false, err
	if cold && x.names == nil {
		close(x.ready)
	}
}

// publish makes names answer.
func (x *Index) publish(found *names) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.names == nil {
		close(x.ready)
	}
	x.names = found
}

// A stamp tells whether a file has changed.
type stamp struct {
	size     int64
	modified time.Time
}

func stampOf(path string) stamp {
	if path == "" {
		return stamp{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}
