package search

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/platform/search/walk"
)

// A cache remembers which grams the files of a tree hold, so that a search for a text need not open
// most of them. Nothing else is remembered: the tree is walked each time, with its ignore files, and
// each file is asked about its state before what is known of it counts. A cache is therefore never
// stale, and needs no news about changes.
type cache struct {
	ctx    context.Context // of what goes on in the background
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	searches map[string]int // by root
	building bool
	idle     *time.Timer

	known *knowledge
}

const (
	// maxKnown bounds what is known, so that a search stays within its memory together with it.
	maxKnown = 20 << 20
	// maxIdle is how long knowledge is kept without being used.
	maxIdle = 10 * time.Minute
	// maxRoots is of how many trees searches are counted.
	maxRoots = 64
	// worthBuilding is how many searches of a tree there are before its files are read for later ones.
	worthBuilding = 2
	// A rebuild reads the files of which nothing is known. It is worth it if they are this many, and one
	// in so many.
	rebuildFiles, rebuildShare = 64, 16
)

func newCache() *cache {
	c := &cache{searches: map[string]int{}, known: newKnowledge()}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *cache) close() {
	c.mu.Lock()
	c.closed = true
	if c.idle != nil {
		c.idle.Stop()
	}
	c.mu.Unlock()
	c.cancel()
	c.wg.Wait()
}

// forget drops what is known about a file, under each of its names.
func (c *cache) forget(path string) {
	c.known.drop(path)
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		c.known.drop(filepath.Join(dir, filepath.Base(path)))
	}
}

// recall prepares a search to use what is known.
func (s *grep) recall() {
	c := s.engine.cache
	if c == nil {
		return
	}
	c.touch()
	if needs := s.query.Needs(); len(needs) > 0 && c.known.len() > 0 {
		s.warm = &recollection{known: c.known, prefix: Join(s.tree.real, ""), needs: hashNeeds(needs)}
	}
}

// touch puts off the time when everything is dropped.
func (c *cache) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
	case c.idle == nil:
		c.idle = time.AfterFunc(maxIdle, c.clear)
	default:
		c.idle.Reset(maxIdle)
	}
}

func (c *cache) clear() {
	c.mu.Lock()
	clear(c.searches)
	c.mu.Unlock()
	c.known.clear()
}

// remember counts a search that is over. The second one in a tree, and one that found many files of
// which nothing was known, has the files read in the background.
func (s *grep) remember(out outcome) {
	c := s.engine.cache
	if c == nil || s.stopped != Complete || out.walk.Dirs == 0 || len(s.query.Needs()) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.searches) == maxRoots {
		clear(c.searches)
	}
	c.searches[s.tree.real]++
	wanted := c.searches[s.tree.real] == worthBuilding
	if s.warm != nil {
		n := int(s.warm.unknown.Load())
		wanted = wanted || c.searches[s.tree.real] > worthBuilding && n >= rebuildFiles && n*rebuildShare >= out.walk.Files
	}
	if !wanted || c.building || c.closed || c.known.full() {
		return
	}
	c.building = true
	c.wg.Go(func() {
		c.build(s.tree)
		c.mu.Lock()
		c.building = false
		c.mu.Unlock()
	})
}

// build reads the files of a tree of which nothing is known, with one worker, since no search waits for it.
func (c *cache) build(t *tree) {
	o := t.walk
	o.Workers, o.Match, o.Skip = 1, nil, nil
	if t.skip != nil {
		o.Skip = t.denied
	}
	learner, prefix := newLearner(), Join(t.real, "")
	_, _ = walk.Walk(c.ctx, o, func(_ int, b *walk.Batch) error { // ok: what could not be read is not known
		for _, e := range b.Files {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			learner.learn(c.ctx, c.known, prefix, b, e)
		}
		if c.known.full() {
			return errFull
		}
		return nil
	})
}
