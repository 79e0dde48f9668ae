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

	"adze/internal/skill"
)

// A Root is a folder that holds skills, or command files.
type Root struct {
	// Dir is absolute; it need not exist. It may be a single file: of a command, or the SKILL.md in the folder of a skill.
	Dir    string
	Origin skill.Origin
	// Prefix comes before the names in it, such as "plugin:"; it may be empty.
	Prefix string
}

// A Config says where skills are.
type Config struct {
	// Roots returns the folders, those first whose skills are used first. It is called for every look at the disk, and so
	// must be cheap.
	Roots func() []Root
	// Extra returns skills that are not on disk; it may be nil.
	Extra func() []*skill.Skill
	// Reserved reports whether a name is that of a command that is built in; it may be nil.
	Reserved func(name string) bool
	// Index is the file that keeps what was read of the skills of this workspace; empty keeps nothing. Workspaces that
	// share one replace each other's.
	Index string
	// Dir is the working directory: below it, folders of skills are found beside files that are touched, as long as there
	// are roots of the project in it, and so the user trusts it. Ignored reports whether such a folder is left out; it may
	// be nil.
	Dir     string
	Ignored func(path string) bool
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
	// early is closed when what the index knows was put together, and ready when all files were looked at once.
	early, ready chan struct{}
	set          atomic.Pointer[Set]
	saved        sync.WaitGroup

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
	l := &Library{cfg: cfg, done: make(chan struct{}), early: make(chan struct{}), ready: make(chan struct{}), watchers: map[int]func(){}}
	go l.first()
	return l
}

// first looks for skills with what the index knows, and writes the index if it is out of date.
func (l *Library) first() {
	changed := l.lookFirst()
	close(l.ready)
	if changed {
		l.notify()
	}
}

// lookFirst looks at folders, which tell what was added or removed, and then at files, which may have been changed in
// place. It reports whether a file has changed what the folders told.
func (l *Library) lookFirst() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scanner.known = loadIndex(l.cfg.Index)
	if len(l.scanner.known) == 0 {
		defer close(l.early)
		l.look()
		l.pending = true
		l.publish()
		return false
	}
	l.scanner.foldersOnly = true
	l.look()
	l.scanner.foldersOnly = false
	l.set.Store(l.scanner.assemble(l.cfg.Reserved))
	close(l.early)
	l.pending = l.scanner.files()
	return l.publish()
}

// look looks at the disk, and reports whether something is not as it was when it was looked at before. The caller holds
// mu.
func (l *Library) look() bool {
	roots := l.cfg.Roots()
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
	if l.scanner.stale && l.cfg.Index != "" {
		l.scanner.stale = false
		data := l.scanner.encode()
		l.saved.Go(func() { saveIndex(l.cfg.Index, data) })
	}
	if !l.pending {
		return false
	}
	l.pending = false
	l.set.Store(l.scanner.assemble(l.cfg.Reserved))
	return true
}

// Early returns the skills as they are known first: a file that was changed in place since the last start may count as it
// was then. It is for showing names; what a skill says is in [Library.Set].
func (l *Library) Early(ctx context.Context) *Set {
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
	l.look()
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
				l.saved.Wait()
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
