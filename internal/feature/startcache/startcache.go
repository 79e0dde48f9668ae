// Package startcache caches the listing of skills, agents and plugins in a session's first
// request, so that the next session in the same workspace can send it before they are loaded.
// The cache only affects the listing: anything used is loaded and checked. It is ignored if it
// is damaged, was written by another version or with other settings, or if files have changed
// since.
package startcache

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"slices"
	"sync"
	"time"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/plugin"
	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/fs/filestate"
	"adze/internal/prompt"
)

// format is the file format. A file from another version is ignored, since its wording may
// differ.
var format = cachefile.Format{Mark: "adze-start 3\n", Max: 8 << 20}

const (
	// settled exceeds the resolution of any file system's timestamps: a file changed more
	// recently could change again without a new timestamp.
	settled = 2 * time.Second
	// delay postpones writing, because a starting session has more urgent work.
	delay = time.Second
)

// A Listing holds the listing for a session's first request. It is immutable.
type Listing struct {
	Plugins Plugins
	// Agents holds the definitions listed for the model, with only the fields needed for that.
	Agents []*agentdef.Definition
	Skills Skills
}

// Plugins holds the startup state of the active plugins.
type Plugins struct {
	Hooks []Hooks
	// Served is true if any of them have MCP servers.
	Served bool
	// Errors explains why other plugins are not used.
	Errors []string
}

// Hooks holds a plugin's hooks.
type Hooks struct {
	ID         plugin.ID
	Root, Data string
	JSON       string
}

// Skills holds the skill listing and its parameters.
type Skills struct {
	// Tool runs skills, and Finder finds unlisted ones; Finder may be empty.
	Tool, Finder string
	Budget       int
	List         prompt.SkillList
	Words        *Words // may be nil
}

// A File is a file or directory that a start depends on. The stamp is zero if it does not
// exist.
type File struct {
	Path  string
	Stamp filestate.Stamp
}

// look returns a file's current state.
func look(path string) File {
	info, err := os.Stat(path)
	if err != nil {
		return File{Path: path}
	}
	return File{path, filestate.StampOf(info)}
}

// unsure reports whether a file could change now without a new timestamp.
func (b *Cache) unsure(f File) bool {
	return f.Stamp != (filestate.Stamp{}) && (f.Stamp.CTime == 0 || time.Since(time.Unix(0, max(f.Stamp.CTime, f.Stamp.MTime))) <= b.settled)
}

// Config configures where a start is stored, and its dependencies.
type Config struct {
	// Path is the path of the cache file.
	Path string
	// Key holds the dependencies other than files, such as settings.
	Key []string
	// Files are the files and directories it depends on. Replaced lists more files, which are
	// never modified in place, so that their timestamps are reliable immediately.
	Files, Replaced []string
}

// A Cache stores a start. It is safe for concurrent use; nil stores nothing.
type Cache struct {
	cfg   Config
	key   string
	files []File // state before they were read
	start *Listing
	// settled and delay default to the constants above; tests change them.
	settled, delay time.Duration

	mu     sync.Mutex
	keep   func() // writes the pending start, once; may be nil
	timer  *time.Timer
	closed bool
}

// Open records the state of c's files, and reads the start stored by an earlier session.
func Open(c Config) *Cache {
	b := &Cache{cfg: c, key: digest(c.Key), settled: settled, delay: delay}
	for _, list := range [][]string{c.Files, c.Replaced} {
		for _, path := range list {
			b.files = append(b.files, look(path))
		}
	}
	if r := format.Load(c.Path); r != nil && !r.Foreign() {
		b.start = b.read(r)
	}
	return b
}

func digest(key []string) string {
	h := sha256.New()
	for _, text := range key {
		h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	return string(h.Sum(nil))
}

// Start returns the listing stored by an earlier session, or nil if none is valid.
func (b *Cache) Start() *Listing {
	if b == nil {
		return nil
	}
	return b.start
}

// Keep stores the start returned by make for later sessions, along with additional files it
// depends on. It is written after a delay, or when the cache is closed. make returns nil if
// nothing can be stored. Only the first call has an effect.
func (b *Cache) Keep(make func() (*Listing, []File)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keep == nil && !b.closed {
		b.keep = sync.OnceFunc(func() {
			if !b.outdated() {
				b.save(make())
			}
		})
		b.timer = time.AfterFunc(b.delay, b.keep)
	}
}

// outdated reports whether a file has changed since the cache was opened, for example because an
// index was just written. A start stored then would be invalid.
func (b *Cache) outdated() bool {
	return slices.ContainsFunc(b.files, func(f File) bool { return look(f.Path) != f })
}

// save writes a start, unless the timestamp of a dependency is not reliable yet.
func (b *Cache) save(start *Listing, more []File) {
	if start == nil || slices.ContainsFunc(b.files[:len(b.cfg.Files)], b.unsure) || slices.ContainsFunc(more, b.unsure) {
		return
	}
	if start.Skills.Words.save(b.cfg.Path) == nil {
		_ = format.Save(b.cfg.Path, b.write(start, more)) // ok: the next session does without it
	}
}

// Is reports whether the cache belongs to a configuration with this key.
func (b *Cache) Is(key []string) bool { return b != nil && b.key == digest(key) }

// Close writes the pending start.
func (b *Cache) Close() {
	if b == nil {
		return
	}
	b.mu.Lock()
	keep := b.keep
	b.closed = true
	b.mu.Unlock()
	if keep != nil {
		b.timer.Stop()
		keep()
	}
}
