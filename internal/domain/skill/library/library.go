// Package library finds a workspace's skills on disk: in the directories of the administrator,
// the user, the project and plugins. It indexes them, detects changes and resolves name
// conflicts.
package library

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/domain/skill"
	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/proc/idle"
)

// A Root is a directory of skills or command files.
type Root struct {
	// Dir is absolute and need not exist. It may be a single file: a command, or the SKILL.md
	// in a skill's directory.
	Dir    string
	Origin skill.Origin
	// Prefix is prepended to names, such as "plugin:"; it may be empty.
	Prefix string
	// Fixed marks a directory whose content is not expected to change; it is scanned after the
	// others.
	Fixed bool
}

// Config configures a Library.
type Config struct {
	// Roots returns the directories by precedence. It is called for every scan, so it must be
	// cheap.
	Roots func() []Root
	// Early returns the subset of Roots that is known when the library is opened. If nil, Roots
	// is used.
	Early func() []Root
	// Extra, if non-nil, returns skills that are not on disk.
	Extra func() []*skill.Skill
	// Reserved, if non-nil, reports whether a name belongs to a built-in command.
	Reserved func(name string) bool
	// Index is the index file for this workspace's skills; empty disables it. Workspaces that
	// share a file overwrite each other's index. A workspace without an index starts with the
	// newest one in the same directory.
	Index string
	// Dir is the working directory. Skill directories next to touched files below it are used
	// as long as the project has roots in Dir, which means that the user trusts it. Ignored, if
	// non-nil, reports whether such a directory is skipped.
	Dir     string
	Ignored func(path string) bool
	// Pulse, if non-nil, pauses while the disk is not watched.
	Pulse *idle.Tracker
	// Later delays the first access to the disk and the index for a short time, unless a caller
	// needs skills.
	Later bool
}

// A Set holds the skills found by a scan. It is immutable.
type Set struct {
	// Skills are the callable skills, ordered by name.
	Skills []*skill.Skill
	// Shadowed are the skills hidden by another with the same name.
	Shadowed []Shadowed
	Problems []skill.Problem
}

// Find returns the skill with the given name, or nil.
func (s *Set) Find(name string) *skill.Skill {
	i, found := slices.BinarySearchFunc(s.Skills, name, func(a *skill.Skill, name string) int { return strings.Compare(a.Name, name) })
	if !found {
		return nil
	}
	return s.Skills[i]
}

// A Shadowed skill is not used because By has the same name. By is nil if the name belongs to a
// built-in command.
type Shadowed struct{ Skill, By *skill.Skill }

// A Library finds skills. It is safe for concurrent use.
type Library struct {
	cfg  Config
	done chan struct{} // closed by Close
	once sync.Once
	// early is closed when the set from the index is ready; that work starts when asked is
	// closed. ready is closed after the first full scan, which starts when wanted is closed.
	early, ready, asked, wanted chan struct{}
	ask, want                   sync.Once
	set                         atomic.Pointer[Set]
	saver                       cachefile.Saver // of the index

	mu      sync.Mutex // held during a scan
	scanner scanner
	nested  nestedRoots
	looked  time.Time
	pending bool // the scanner found changes not yet in the set

	watchMu  sync.Mutex
	watchers map[int]func()
	lastID   int
	polling  chan struct{} // closed to end polling; nil if nothing is watched
}

// Open returns a library and starts looking for skills in the background.
func Open(cfg Config) *Library {
	l := &Library{cfg: cfg, done: make(chan struct{}), early: make(chan struct{}), ready: make(chan struct{}), asked: make(chan struct{}), wanted: make(chan struct{}), watchers: map[int]func(){}}
	go l.first()
	return l
}

// idleDelay is how long files that no caller needs are left alone, because a starting session has
// more urgent work.
const idleDelay = 100 * time.Millisecond

// first loads skills from the index, then scans all files. It writes the index if it is out of
// date.
func (l *Library) first() {
	if l.cfg.Later && !l.wait(l.asked) {
		l.set.Store(&Set{})
		close(l.early)
		close(l.ready)
		return
	}
	if l.lookFirst() {
		close(l.ready)
		return
	}
	closed := !l.wait(l.wanted)
	l.mu.Lock()
	if !closed {
		l.look(l.cfg.Roots())
	}
	changed := l.publish()
	l.mu.Unlock()
	close(l.ready)
	if changed {
		l.notify()
	}
}

// wait waits briefly for a caller to need something. It returns false if the library was
// closed.
func (l *Library) wait(needed <-chan struct{}) bool {
	timer := time.NewTimer(idleDelay)
	defer timer.Stop()
	select {
	case <-needed:
	case <-timer.C:
	case <-l.done:
		return false
	}
	return true
}

// needEarly starts looking for skills.
func (l *Library) needEarly() { l.ask.Do(func() { close(l.asked) }) }

// needAll also starts the full scan.
func (l *Library) needAll() {
	l.needEarly()
	l.want.Do(func() { close(l.wanted) })
}

// lookFirst scans directories, which reveals added and removed skills. It reports whether files
// were checked too; otherwise some may have changed in place.
func (l *Library) lookFirst() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(l.early)
	var foreign bool
	if l.scanner.known, foreign = loadIndex(l.cfg.Index); l.scanner.known == nil {
		l.scanner.known, foreign = loadNewest(l.cfg.Index)
		l.scanner.stale = l.scanner.known != nil // the workspace has no index yet
	}
	if len(l.scanner.known) == 0 {
		l.look(l.cfg.Roots())
		l.pending = true
		l.publish()
		return true
	}
	roots := l.cfg.Roots
	if l.cfg.Early != nil {
		roots = l.cfg.Early
	}
	l.scanner.early = true
	l.look(roots())
	l.scanner.early, l.pending = false, false
	l.set.Store(l.scanner.assemble(l.cfg.Reserved))
	if foreign {
		doubt(l.scanner.known)
	}
	return false
}

// dirState scans the disk and reports whether anything has changed since the last scan. The caller
// holds mu.
func (l *Library) look(roots []Root) bool {
	if l.cfg.nests(roots) {
		roots = append(l.nested.roots(), roots...)
	}
	var extra []*skill.Skill
	if l.cfg.Extra != nil {
		extra = l.cfg.Extra()
	}
	changed := l.scanner.scan(roots, extra)
	l.looked = time.Now()
	l.pending = l.pending || changed
	return changed
}

// publish replaces the set with the latest scan results and reports whether it changed. The
// caller holds mu.
func (l *Library) publish() bool {
	if l.scanner.stale && l.cfg.Index != "" {
		l.scanner.stale = false
		l.saver.Save(indexFormat, l.cfg.Index, l.encode)
	}
	if !l.pending {
		return false
	}
	l.pending = false
	l.set.Store(l.scanner.assemble(l.cfg.Reserved))
	return true
}

func (l *Library) encode() *cachefile.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return encodeIndex(l.scanner.known)
}

// Early returns the skills known so far. Until all files have been checked, a file that changed
// in place since the last start may appear in its old version. Use it to show names; for a
// skill's content use [Library.Set].
func (l *Library) Early(ctx context.Context) *Set {
	l.needEarly()
	select {
	case <-l.early:
		return l.set.Load()
	case <-ctx.Done():
		return &Set{}
	}
}

// Set returns the skills after the first full scan: the same value until something changes. It
// is empty if ctx ends first.
func (l *Library) Set(ctx context.Context) *Set {
	l.needAll()
	select {
	case <-l.ready:
		return l.set.Load()
	case <-ctx.Done():
		return &Set{}
	}
}

// Find returns the skill with the given name, or nil. If the name is unknown, it may be new, so
// the disk is scanned again unless that was just done.
func (l *Library) Find(ctx context.Context, name string) *skill.Skill {
	if s := l.Set(ctx).Find(name); s != nil || ctx.Err() != nil || !skill.ValidName(name) {
		return s
	}
	l.mu.Lock()
	old := time.Since(l.looked) >= pollEvery
	l.mu.Unlock()
	if !old {
		return nil
	}
	return l.Refresh(ctx).Find(name)
}

// Refresh rescans now.
func (l *Library) Refresh(ctx context.Context) *Set {
	old := l.Set(ctx)
	if ctx.Err() != nil {
		return old
	}
	l.refresh()
	return l.set.Load()
}

// refresh rescans the disk and publishes the result.
func (l *Library) refresh() {
	l.mu.Lock()
	l.look(l.cfg.Roots())
	changed := l.publish()
	l.mu.Unlock()
	if changed {
		l.notify()
	}
}

// closeWait is how long Close waits for an index that is being written.
const closeWait = time.Second

// Close stops background work. It waits briefly for an index that is being written.
func (l *Library) Close() {
	l.once.Do(func() {
		close(l.done)
		written := make(chan struct{})
		go func() {
			select {
			case <-l.early:
				<-l.ready
				l.saver.Close()
			default: // still scanning
			}
			close(written)
		}()
		timer := time.NewTimer(closeWait)
		defer timer.Stop()
		select {
		case <-written:
		case <-timer.C:
		}
	})
}
