package fileindex

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/search/walk"
)

const (
	// maxNames is the maximum number of indexed files.
	maxNames = 400_000
	// publishEvery is how often waiting callers get partial results.
	publishEvery = 25 * time.Millisecond
)

// collect returns the project's file names: tracked files first, then the others.
func (x *Index) collect(ctx context.Context, publish func(*names)) (*names, error) {
	root, tracked := x.Dir, []string(nil)
	if top, _ := repository(x.Dir); top != "" {
		var err error
		if tracked, err = readIndex(indexFile(x.Dir)); err != nil {
			if x.Log != nil {
				x.Log(fmt.Sprintf("file index: reading the git index: %v", err))
			}
			tracked = nil
		}
		root = top
	}
	c := &collection{Index: x, root: root, tracked: tracked, publish: publish, builder: newBuilder(), last: time.Now()}
	c.prefix, c.up = relation(root, x.Dir)
	for _, name := range tracked {
		c.addTracked(name)
	}
	if len(tracked) > 0 {
		c.show()
	}
	c.seen = make([]bool, len(c.tracked))
	if err := c.walk(ctx, c.root, ""); err != nil {
		return nil, err
	}
	if !c.inside && c.prefix != "" { // the working directory is ignored; include its files anyway
		if err := c.walk(ctx, x.Dir, c.prefix); err != nil {
			return nil, err
		}
	}
	return c.finish(), nil
}

// relation returns how to make paths below root relative to dir: by removing prefix, or by
// prepending up.
func relation(root, dir string) (prefix, up string) {
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." {
		return "", ""
	}
	rel = filepath.ToSlash(rel)
	return rel + "/", strings.Repeat("../", strings.Count(rel, "/")+1)
}

// A collection is an index build in progress.
type collection struct {
	*Index
	*builder
	root       string
	prefix, up string
	tracked    []string // sorted
	seen       []bool   // tracked files found by the walk
	inside     bool     // at least one file is in the working directory
	publish    func(*names)
	last       time.Time // time of the last publish
}

// local converts a path below the root to a path relative to the working directory.
func (c *collection) local(path string) string {
	if rest, ok := strings.CutPrefix(path, c.prefix); ok {
		c.inside = true
		return rest
	}
	if c.up == "" {
		return path
	}
	return c.up + path
}

func (c *collection) addTracked(path string) {
	if len(c.entries) < maxNames && (c.Skip == nil || !c.skipped(path)) {
		c.add(c.local(path))
	}
}

// skipped reports whether Skip excludes a tracked file or a directory it is in.
func (c *collection) skipped(path string) bool {
	for i := range len(path) {
		if path[i] == '/' && c.Skip(filepath.Join(c.root, filepath.FromSlash(path[:i])), true) {
			return true
		}
	}
	return c.Skip(filepath.Join(c.root, filepath.FromSlash(path)), false)
}

// walk adds the untracked files below top. The prefix is the path of top relative to the root.
func (c *collection) walk(ctx context.Context, top, prefix string) error {
	o := walk.Options{Root: top, Ignore: !c.All, Hidden: true}
	if c.Skip != nil {
		o.Skip = func(rel string, dir bool) bool { return c.Skip(filepath.Join(top, filepath.FromSlash(rel)), dir) }
	}
	_, err := walk.List(ctx, o, func(paths []string) error {
		for _, path := range paths {
			path = prefix + path
			if i, ok := slices.BinarySearch(c.tracked, path); ok {
				c.seen[i] = true
			} else if len(c.entries) < maxNames {
				c.add(c.local(path))
			}
		}
		if now := time.Now(); now.Sub(c.last) > publishEvery {
			c.last = now
			c.show()
		}
		return nil
	})
	return err
}

// show publishes the entries found so far.
func (c *collection) show() { c.publish(&names{entries: slices.Clip(c.entries)}) }

// finish removes tracked files that no longer exist. A file that the walk did not see may still
// exist: as a link or an ignored file.
func (c *collection) finish() *names {
	gone := map[string]bool{}
	for i, path := range c.tracked {
		if c.seen[i] {
			continue
		}
		if _, err := os.Lstat(filepath.Join(c.root, filepath.FromSlash(path))); err != nil {
			gone[c.local(path)] = true
		}
	}
	if len(gone) == 0 {
		return &names{entries: slices.Clip(c.entries)}
	}
	b := newBuilder() // directories may be gone as well
	for i := range c.entries {
		if e := &c.entries[i]; !e.dir && !gone[e.path] {
			b.add(e.path)
		}
	}
	return &names{entries: slices.Clip(b.entries)}
}
