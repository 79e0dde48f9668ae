// Package library finds the skills of a workspace on disk: in the folders of the administrator, the user, the project
// and plugins. It keeps an index of them, notices changes and says which of several skills with the same name is used.
// What skills mean is left to the package skill, and running them to others.
package library

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/platform/pulse"
	"adze/internal/skill"
)

// A Root is a folder that holds skills, or command files.
type Root struct {
	// Dir is absolute; it need not exist. It may be a single file: of a command, or the SKILL.md in the folder of a skill.
	Dir    string
	Origin skill.Origin
	// Prefix comes before the names in it, such as "plugin:"; it may be empty.
	Prefix string
	// Fixed says that what is in it is not meant to change: it is looked at later than others.
	Fixed bool
}

// A Config says where skills are.
type Config struct {
	// Roots returns the folders, those first whose skills are used first. It is called for every look at the disk, and so
	// must be cheap.
	Roots func() []Root
	// Early returns what Roots does, as far as it is known when the library is opened; nil means that Roots does.
	Early func() []Root
	// Extra returns skills that are not on disk; it may be nil.
	Extra func() []*skill.Skill
	// Reserved reports whether a name is that of a command that is built in; it may be nil.
	Reserved func(name string) bool
	// Index is the file that keeps what was read of the skills of this workspace; empty keeps nothing. Workspaces that
	// share one replace each other's. One that has none begins with the newest in the same folder.
	Index string
	// Dir is the working directory: below it, folders of skills are found beside files that are touched, as long as there
	// are roots of the project in it, and so the user trusts it. Ignored reports whether such a folder is left out; it may
	// be nil.
	Dir     string
	Ignored func(path string) bool
	// Pulse rests while the disk is not watched; it may be nil.
	Pulse *pulse.Pulse
	// Later leaves the disk and the index alone for a short while, unless a caller needs skills.
	Later bool
}

// A Set is the skills that were found. It does not change.
type Set struct {
	// Skills are those that can be called, in order of their names.
	Skills []*skill.Skill
	// Shadowed are those that another of the same name keeps from being called.
	Shadowed []Shadowed
	Problems []skill.Problem
}

// Find returns the skill that is called by a name, or nil.
func (s *Set) Find(name string) *skill.Skill {
	i, found := slices.BinarySearchFunc(s.Skills, name, func(a *skill.Skill, name string) int { return strings.Compare(a.Name, name) })
	if !found {
		return nil
	}
	return s.Skills[i]
}

// A Shadowed skill is not used, because By is called the same; By is nil if a built-in command is.
type Shadowed struct{ Skill, By *skill.Skill }

// A Library finds skills. It is safe for concurrent use.
type Library struct {
	cfg  Config
	done chan struct{} // closed by Close
	once sync.Once
	// early is closed when what the index knows was put together, which begins when asked is closed, and ready when all files
	// were looked at once, which begins when wanted is.
	early, ready, asked, wanted chan struct{}
	ask, want                   sync.Once
	set                         atomic.Pointer[Set]
	index                       indexWriter

	mu      sync.Mutex // held during a look at the disk
	scanner scanner
	nested  nested
	looked  time.Time
	pending bool // the scanner has found what is not in the set yet

	watchMu  sync.Mutex
	watchers map[int]func()
	lastID   int
	polling  chan struct{} // closed to end polling; nil if nothing is watched
}

// Open returns a library, and begins to look for skills in the background.
func Open(cfg Config) *Library {
	l := &Library{cfg: cfg, done: make(chan struct{}), early: make(chan struct{}), ready: make(chan struct{}), asked: make(chan struct{}), wanted: make(chan struct{}), watchers: map[int]func(){}}
	go l.first()
	return l
}

// unasked is how long files are left alone that no caller needs: there is more to do when a session begins.
const unasked = 100 * time.Millisecond

// first looks for skills with what the index knows, and then at all files. It writes the index if it is out of date.
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

// wait waits until a caller needs something, for a short while. It is false if the library was closed.
func (l *Library) wait(needed <-chan struct{}) bool {
	timer := time.NewTimer(unasked)
	defer timer.Stop()
	select {
	case <-needed:
	case <-timer.C:
	case <-l.done:
		return false
	}
	return true
}

// needEarly begins to look for skills.
func (l *Library) needEarly() { l.ask.Do(func() { close(l.asked) }) }

// needAll begins to look at all files, too.
func (l *Library) needAll() {
	l.needEarly()
	l.want.Do(func() { close(l.wanted) })
}

// lookFirst looks at folders, which tell what was added or removed. It reports whether files were looked at, too: otherwise
// they may have been changed in place.
func (l *Library) lookFirst() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(l.early)
	var foreign bool
	if l.scanner.known, foreign = loadIndex(l.cfg.Index); l.scanner.known == nil {
		l.scanner.known, foreign = loadNewest(l.cfg.Index)
		l.scanner.stale = l.scanner.known != nil // this workspace has none yet
	}
	loadAll(l.scanner.known) // other things are made ready meanwhile
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

// look looks at the disk, and reports whether something is not as it was when it was looked at before. The caller holds
// mu.
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

// publish makes what was found the set, and reports whether that is another one. The caller holds mu.
func (l *Library) publish() bool {
	if l.scanner.stale && l.cfg.Index != "" && !l.index.due {
		l.index.due = true
		l.index.writing.Go(l.save)
	}
	if !l.pending {
		return false
	}
	l.pending = false
	l.set.Store(l.scanner.assemble(l.cfg.Reserved))
	return true
}

// An indexWriter says whether the index is about to be written, or is being written.
type indexWriter struct {
	writing sync.WaitGroup
	due     bool // it will be written with what is known then; guarded by the library's mu
}

// saveAfter is how long the index is not written: there is more to do when a session begins.
const saveAfter = 200 * time.Millisecond

// save writes the index with what is known a little later, or when the library is closed.
func (l *Library) save() {
	timer := time.NewTimer(saveAfter)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.done:
	}
	l.mu.Lock()
	data := l.scanner.encode()
	l.scanner.stale, l.index.due = false, false
	l.mu.Unlock()
	saveIndex(l.cfg.Index, data)
}

// Early returns the skills as they are known: until all files were looked at, one that was changed in place since the last
// start may count as it was then. It is for showing names; what a skill says is in [Library.Set].
func (l *Library) Early(ctx context.Context) *Set {
	l.needEarly()
	select {
	case <-l.early:
		return l.set.Load()
	case <-ctx.Done():
		return &Set{}
	}
}

// Set returns the skills as they are known, after they were looked for once: the same value until something changes. It
// is empty if ctx ends before.
func (l *Library) Set(ctx context.Context) *Set {
	l.needAll()
	select {
	case <-l.ready:
		return l.set.Load()
	case <-ctx.Done():
		return &Set{}
	}
}

// Find returns the skill that is called by a name, or nil. One that is not known may be new: the disk is looked at again,
// unless that was just done.
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

// Refresh looks again, now.
func (l *Library) Refresh(ctx context.Context) *Set {
	old := l.Set(ctx)
	if ctx.Err() != nil {
		return old
	}
	l.refresh()
	return l.set.Load()
}

// refresh looks at the disk and publishes what is found.
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

// Close ends what the library does in the background. An index that is being written is waited for, for a short time.
func (l *Library) Close() {
	l.once.Do(func() {
		close(l.done)
		written := make(chan struct{})
		go func() {
			select {
			case <-l.early:
				<-l.ready
				l.index.writing.Wait()
			default: // it is still looking for skills
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
