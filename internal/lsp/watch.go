package lsp

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// maxVisited limits the entries visited to find changed files, and maxWatched the files
	// remembered.
	maxVisited = 20_000
	maxWatched = 5_000
)

// A stamp is a file's state when it was last seen.
type stamp struct {
	modified time.Time
	size     int64
}

// A scan is the state of a project's files of a server's languages.
type scan struct {
	files    map[string]stamp
	complete bool // otherwise there are too many files, and some are missing
}

// look scans the project. Hidden directories and directories of dependencies are left out.
func (c *client) look() scan {
	s := scan{map[string]stamp{}, true}
	visited := 0
	filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error { // ok: unreadable directories are left out
		if visited++; visited > maxVisited || len(s.files) == maxWatched {
			s.complete = false
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil
		case d.IsDir():
			if path != c.root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"node_modules", "vendor", "target", "dist", "__pycache__"}, d.Name())) {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && c.server.language(path) != "":
			if info, err := d.Info(); err == nil {
				s.files[path] = stamp{info.ModTime(), info.Size()}
			}
		}
		return nil
	})
	return s
}

// watch notifies the server of files that other programs created, changed or removed since the last
// scan. Servers that do not look themselves would report errors that are not there.
func (c *client) watch() {
	if !c.isReady() {
		return // the first scan is going on
	}
	now := c.look()
	c.mu.Lock()
	defer c.mu.Unlock()
	var changes []any
	add := func(path string, kind int) {
		if c.docs[path] == nil { // otherwise the document is compared
			changes = append(changes, object{"uri": URI(path), "type": kind})
		}
	}
	const created, changed, deleted = 1, 2, 3
	for path, s := range now.files {
		switch before, ok := c.seen.files[path]; {
		case !ok && c.seen.complete:
			add(path, created)
		case ok && before != s:
			add(path, changed)
		}
	}
	for path := range c.seen.files {
		if _, ok := now.files[path]; !ok && now.complete {
			add(path, deleted)
		}
	}
	c.seen = now
	if len(changes) > 0 {
		c.do(func() { c.conn.tell("workspace/didChangeWatchedFiles", object{"changes": changes}) }) // ok: the server is gone
		for path, d := range c.docs {
			version := d.version
			c.do(func() { c.pull(path, version) }) // may depend on the files
		}
	}
}
