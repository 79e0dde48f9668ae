// Package fileindex implements fuzzy file search for mentions and quick open. It reads a
// project's file names from the git index and a directory walk, keeps them in memory and
// refreshes them.
package fileindex

import (
	"context"
	"os"
	"sync"
	"time"
)

// Config configures an Index. Only Dir is required.
type Config struct {
	Dir string // absolute working directory; paths are relative to it
	// All includes files that the project's ignore files exclude.
	All bool
	// Skip, if non-nil, reports whether to exclude a file, or a directory and everything below
	// it. The path is absolute. It may be called concurrently.
	Skip func(path string, dir bool) bool
	// Log, if non-nil, receives one line for each problem.
	Log func(text string)
}

// throttle is the minimum time between two refreshes, unless the git index changes.
const throttle = 5 * time.Second

// An Index holds the file names of a project. It is empty until the first query, and must be
// closed.
type Index struct {
	Config
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu         sync.Mutex
	names      *names        // current names; nil until some are known
	ready      chan struct{} // closed when names is set or the first build has failed
	refreshing bool
	began      time.Time // start of the last refresh
	stamp      stamp     // stamp of the git index that was read
	err        error     // error of the last refresh
	builds     int       // number of refreshes started
}

// New returns an empty index. It does not access the file system.
func New(c Config) *Index {
	x := &Index{Config: c}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	return x
}

// Close stops the background work.
func (x *Index) Close() {
	x.cancel()
	x.wg.Wait()
}

// Settle waits for background work to finish.
func (x *Index) Settle() { x.wg.Wait() }

// A Match is a file or directory that matches a query.
type Match struct {
	Path      string // slash-separated, relative to the working directory
	Dir       bool
	Score     int
	Positions []int // byte offsets of the query's characters in Path
}

// Find returns the n best matches for a query, best first, or the entries of the working
// directory if the query is empty. The first call waits until some names are known. Later calls
// use the known names and refresh them in the background when due.
func (x *Index) Find(ctx context.Context, query string, n int) ([]Match, error) {
	x.refresh()
	names, err := x.wait(ctx)
	if err != nil {
		return nil, err
	}
	return names.find(ctx, query, n)
}

// wait returns the known names.
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

// refresh starts a refresh if one is due.
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

// build finds the names. On a cold start it publishes partial results.
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

// publish makes names available to queries.
func (x *Index) publish(found *names) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.names == nil {
		close(x.ready)
	}
	x.names = found
}

// A stamp detects changes of a file.
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
