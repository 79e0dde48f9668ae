package search

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/platform/search/walk"
)

// A cache remembers the grams in a tree's files, so that a search for a text can skip most of
// them. Nothing else is cached: each search walks the tree, with its ignore files, and checks
// each file's state before it uses the cached grams. A cache is therefore never stale and needs
// no change notifications.
type cache struct {
	ctx    context.Context // context for background work
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	searches map[string]int // number of searches, keyed by root
	building bool
	idle     *time.Timer

	known *factStore
}

const (
	// maxKnown is the maximum size of the cache, so that a search together with it stays within
	// its memory limit.
	maxKnown = 20 << 20
	// maxIdle is how long unused data is kept.
	maxIdle = 10 * time.Minute
	// maxRoots is the maximum number of trees whose searches are counted.
	maxRoots = 64
	// worthBuilding is the number of searches of a tree after which its files are read for
	// later searches.
	worthBuilding = 2
	// A rebuild reads files that are not in the cache. It happens if there are at least
	// rebuildFiles of them, and at least one in rebuildShare.
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

// forget drops the facts about a file, under each of its names.
func (c *cache) forget(path string) {
	c.known.drop(path)
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		c.known.drop(filepath.Join(dir, filepath.Base(path)))
	}
}

// recall prepares a search to use the cache.
func (s *grep) recall() {
	c := s.engine.cache
	if c == nil {
		return
	}
	c.touch()
	if needs := s.query.Needs(); len(needs) > 0 && c.known.len() > 0 {
		s.warm = &queryFacts{known: c.known, prefix: Join(s.tree.real, ""), needs: hashNeeds(needs)}
	}
}

// touch postpones the expiry of the cache.
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

// remember counts a finished search. The second search of a tree, or a search that found many
// unknown files, starts a background build.
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

// build reads a tree's unknown files, with one worker, since no search waits for it.
func (c *cache) build(t *tree) {
	o := t.walk
	o.Workers, o.Match, o.Skip = 1, nil, nil
	if t.skip != nil {
		o.Skip = t.denied
	}
	learner, prefix := newLearner(), Join(t.real, "")
	_, _ = walk.Walk(c.ctx, o, func(_ int, b *walk.Batch) error { // ok: unreadable files stay unknown
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
