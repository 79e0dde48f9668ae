package agentdef

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/text/rank"
)

// Scan and report limits.
const (
	maxFiles    = 2_000 // per directory
	maxProblems = 200
)

// pollEvery is how long a scan result is valid. settled exceeds the resolution of any file
// system clock.
const (
	pollEvery = time.Second
	settled   = 2 * time.Second
)

// mark is the extension of agent files.
const mark = ".md"

// A Root is a directory of agent files, or a single file.
type Root struct {
	// Path is absolute and need not exist.
	Path   string
	Source Source
	// Prefix is prepended to names, such as "plugin:"; it may be empty.
	Prefix string
	// Within is the directory that symlinks may not leave; empty means that they may lead
	// anywhere.
	Within string
	// Fixed marks a directory whose content is not expected to change; it is scanned after the
	// others.
	Fixed bool
}

// Config configures a Library.
type Config struct {
	// Roots returns the directories; within a kind, earlier ones take precedence. It is called
	// for every scan, so it must be cheap.
	Roots func() []Root
	// Early returns the subset of Roots that is known at startup. If nil, Roots is used.
	Early func() []Root
	// Extra, if non-nil, returns definitions that are not on disk, the same values each time:
	// built-in ones and those from the command line.
	Extra func() []*Definition
	// Problems, if non-nil, returns further problems to report.
	Problems func() []Problem
	// Index is the index file; empty disables it. Libraries with other roots that share a file
	// overwrite each other's index.
	Index string
}

// A Set holds the definitions found by a scan. It is immutable.
type Set struct {
	// Definitions are the usable definitions, ordered by name.
	Definitions []*Definition
	// Shadowed are the definitions hidden by another with the same name.
	Shadowed []Shadowed
	Problems []Problem
}

// A Shadowed definition is not used, because By has the same name.
type Shadowed struct{ Definition, By *Definition }

// Get returns the definition with the given name, or nil.
func (s *Set) Get(name string) *Definition {
	i, found := slices.BinarySearchFunc(s.Definitions, name, func(d *Definition, name string) int { return strings.Compare(d.Name, name) })
	if !found {
		return nil
	}
	return s.Definitions[i]
}

// Names returns the names of the definitions.
func (s *Set) Names() []string {
	names := make([]string, len(s.Definitions))
	for i, d := range s.Definitions {
		names[i] = d.Name
	}
	return names
}

// Unknown returns the error for an unknown agent name, which lists the known ones.
func (s *Set) Unknown(name string) error {
	text := fmt.Sprintf("unknown agent %q; there are %s", short(name), strings.Join(s.Names(), ", "))
	if near := rank.Closest(name, s.Names(), 1); len(near) > 0 {
		text += "; did you mean " + near[0] + "?"
	}
	return errors.New(text)
}

// Report returns problems, one per line: files that are not used as intended, and agents hidden
// by another with the same name.
func (s *Set) Report() []string {
	const most = 50
	var all []string
	for _, p := range s.Problems {
		all = append(all, p.Error())
	}
	for _, o := range s.Shadowed {
		if o.Definition.File != "" {
			all = append(all, fmt.Sprintf("%s: it is not used, because there is another agent %s: %s", o.Definition.File, o.By.Name, cmp.Or(o.By.File, o.By.Source.String())))
		}
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	return all
}

// A Library finds definitions. It is safe for concurrent use.
type Library struct {
	cfg Config

	mu       sync.Mutex
	early    bool // fixed directories were not scanned
	foreign  bool // another program wrote the known state
	recalled *Set // returned by Early before the first scan; may be nil
	set      *Set
	looked   time.Time
	known    map[Root]*folder
	saver    cachefile.Saver
}

// NewLibrary returns a library. It reads nothing until needed.
func NewLibrary(cfg Config) *Library { return &Library{cfg: cfg} }

// All returns the usable definitions, ordered by name.
func (l *Library) All() []*Definition { return l.Set().Definitions }

// Set returns the definitions: the same value until something changes on disk, which is noticed
// after a second.
func (l *Library) Set() *Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.set == nil || time.Since(l.looked) >= pollEvery {
		l.look(l.cfg.Roots())
	}
	return l.set
}

// Early returns the known definitions without scanning fixed directories. Use it to show names;
// for definitions to run use [Library.Set].
func (l *Library) Early() *Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.set != nil {
		return l.set
	}
	if l.recalled != nil {
		return l.recalled
	}
	l.known, l.foreign = loadIndex(l.cfg.Index)
	roots := l.cfg.Roots
	if l.cfg.Early != nil {
		roots = l.cfg.Early
	}
	l.early = true
	l.look(roots())
	if l.foreign {
		doubt(l.known)
	}
	l.early, l.foreign, l.looked = false, false, time.Time{}
	return l.set
}

// Recall sets the definitions that [Library.Early] returns until the first scan, found by an
// earlier process.
func (l *Library) Recall(list []*Definition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recalled = &Set{Definitions: list}
}

// Stamps returns the stamps, from when they were read, of the directories that are not fixed
// and of their files, by path. It returns false if a stamp does not identify a file.
func (l *Library) Stamps() (map[string]filestate.Stamp, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]filestate.Stamp{}
	for root, f := range l.known {
		if root.Fixed {
			continue
		}
		all[root.Path] = f.stamp
		for i := range f.files {
			if !f.sure || !f.files[i].keeps() {
				return nil, false
			}
			all[f.path(f.files[i].name)] = f.files[i].stamp
		}
	}
	return all, l.set != nil
}

// Refresh rescans the disk now.
func (l *Library) Refresh() *Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look(l.cfg.Roots())
	return l.set
}

// look scans the disk, and builds a new set if something has changed. The caller holds mu.
func (l *Library) look(roots []Root) {
	if l.set == nil && l.known == nil {
		var foreign bool
		if l.known, foreign = loadIndex(l.cfg.Index); foreign {
			doubt(l.known)
		}
	}
	c := scanResult{known: l.known, now: make(map[Root]*folder, len(l.known))}
	if l.cfg.Problems != nil {
		c.problems = slices.Clone(l.cfg.Problems())
	}
	c.roots(roots, l.early)
	if l.cfg.Extra != nil {
		c.all = append(c.all, l.cfg.Extra()...)
	}
	l.known, l.looked = c.now, time.Now()
	l.save(&c)
	set := c.set()
	if l.set == nil || !l.set.same(set) {
		l.set = set
	}
}

// same reports whether two sets hold the same definitions and problems.
func (s *Set) same(o *Set) bool {
	return slices.Equal(s.Definitions, o.Definitions) && slices.Equal(s.Shadowed, o.Shadowed) && slices.Equal(s.Problems, o.Problems)
}

// set decides which of several definitions with the same name is used.
func (c *scanResult) set() *Set {
	slices.SortStableFunc(c.all, func(a, b *Definition) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), -cmp.Compare(a.Source.Kind, b.Source.Kind))
	})
	s := &Set{Problems: c.problems}
	for _, d := range c.all {
		if n := len(s.Definitions); n > 0 && s.Definitions[n-1].Name == d.Name {
			s.Shadowed = append(s.Shadowed, Shadowed{d, s.Definitions[n-1]})
			continue
		}
		s.Definitions = append(s.Definitions, d)
	}
	return s
}
