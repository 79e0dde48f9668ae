// Package headstart keeps what the first request of a session says of skills, agents and plugins, so that the next session in
// the same workspace can say it before they are looked up. What it keeps only shows what there is: what is used is looked up
// and checked by others. It is a cache: one that is damaged, of another program, of other settings or of files that have
// changed since counts for nothing.
package headstart

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"slices"
	"sync"
	"time"

	"adze/internal/agentdef"
	"adze/internal/brief"
	"adze/internal/platform/cachefile"
	"adze/internal/platform/filestate"
	"adze/internal/plugin"
)

// format is that of the file. One of another program does not count, since that may say the same otherwise.
var format = cachefile.Format{Mark: "adze-start 3\n", Max: 8 << 20}

const (
	// settled is longer than any clock by which systems stamp files takes to move on: a file that was changed later than that
	// can be changed again without another stamp.
	settled = 2 * time.Second
	// delay is how long nothing is written: there is more to do when a session begins.
	delay = time.Second
)

// A Start is what the first request of a session needs to know. It does not change.
type Start struct {
	Plugins Plugins
	// Agents are the definitions that the model is told of, with no more than that takes.
	Agents []*agentdef.Definition
	Skills Skills
}

// Plugins are what a start needs to know of the plugins in use.
type Plugins struct {
	Hooks []Hooks
	// Served says that some have MCP servers.
	Served bool
	// Errors say why others are not used.
	Errors []string
}

// Hooks are those of a plugin.
type Hooks struct {
	ID         plugin.ID
	Root, Data string
	JSON       string
}

// Skills are what the model is told of skills, and with what it was written.
type Skills struct {
	// Tool runs them, and Finder finds those that are not listed; it may be empty.
	Tool, Finder string
	Budget       int
	List         brief.SkillList
	Words        *Words // may be nil
}

// A File is a file or a folder that a start depends on. The stamp is zero if it is not there.
type File struct {
	Path  string
	Stamp filestate.Stamp
}

// look returns a file as it is now.
func look(path string) File {
	info, err := os.Stat(path)
	if err != nil {
		return File{Path: path}
	}
	return File{path, filestate.StampOf(info)}
}

// unsure reports whether a change of the file now may leave its stamp as it is.
func (b *Book) unsure(f File) bool {
	return f.Stamp != (filestate.Stamp{}) && (f.Stamp.CTime == 0 || time.Since(time.Unix(0, max(f.Stamp.CTime, f.Stamp.MTime))) <= b.settled)
}

// A Config says where a start is kept, and what it depends on.
type Config struct {
	// Path is the file that keeps it.
	Path string
	// Key is what it depends on beside files, such as settings.
	Key []string
	// Files are the files and folders that it depends on. Replaced are further ones, which are never changed in place, so that
	// they can be known by their stamps at once.
	Files, Replaced []string
}

// A Book keeps a start. It is safe for concurrent use; nil keeps none.
type Book struct {
	cfg   Config
	key   string
	files []File // as they were before anything was read of them
	start *Start
	// settled and delay are those above, but for tests.
	settled, delay time.Duration

	mu     sync.Mutex
	keep   func() // writes what is to be kept, once; nil if there is nothing
	timer  *time.Timer
	closed bool
}

// Open looks at the files of c, and reads what an earlier session has kept.
func Open(c Config) *Book {
	b := &Book{cfg: c, key: digest(c.Key), settled: settled, delay: delay}
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

// Start returns what an earlier session kept, or nil if there is nothing that counts.
func (b *Book) Start() *Start {
	if b == nil {
		return nil
	}
	return b.start
}

// Keep keeps what make returns for later sessions, and which files it depends on beside those of the configuration: a little
// later, or when the book is closed. Make returns nil if nothing can be kept. It counts when Keep is first called.
func (b *Book) Keep(make func() (*Start, []File)) {
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

// outdated reports whether a file is not as it was when the book was opened, so that what is kept would not count: as when an
// index was just written.
func (b *Book) outdated() bool {
	return slices.ContainsFunc(b.files, func(f File) bool { return look(f.Path) != f })
}

// save writes a start, unless a file that it depends on cannot be known by its stamp.
func (b *Book) save(start *Start, more []File) {
	if start == nil || slices.ContainsFunc(b.files[:len(b.cfg.Files)], b.unsure) || slices.ContainsFunc(more, b.unsure) {
		return
	}
	if start.Skills.Words.save(b.cfg.Path) == nil {
		_ = format.Save(b.cfg.Path, b.write(start, more)) // ok: the next session looks up what it would hold
	}
}

// Is reports whether the book is of a configuration with this key.
func (b *Book) Is(key []string) bool { return b != nil && b.key == digest(key) }

// Close writes what is still to be kept.
func (b *Book) Close() {
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
