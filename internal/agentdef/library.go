package agentdef

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/cachefile"
	"adze/internal/platform/filestate"
	"adze/internal/platform/spell"
)

// Limits of what is looked at and told.
const (
	maxFiles    = 2_000 // of a folder
	maxProblems = 200
)

// pollEvery is how long what was found on disk counts, and settled is longer than any clock by which systems stamp files
// takes to move on.
const (
	pollEvery = time.Second
	settled   = 2 * time.Second
)

// mark is what the names of agent files end in.
const mark = ".md"

// A Root is a folder that holds agent files, or a single file.
type Root struct {
	// Path is absolute; it need not exist.
	Path   string
	Source Source
	// Prefix comes before the names in it, such as "plugin:"; it may be empty.
	Prefix string
	// Within is the directory that links in it may not leave; empty means that they may lead anywhere.
	Within string
	// Fixed says that what is in it is not meant to change: it is looked at later than others.
	Fixed bool
}

// A Config says where definitions are.
type Config struct {
	// Roots returns the folders, of those of one kind the ones first whose agents are used first. It is called for every
	// look at the disk, and so must be cheap.
	Roots func() []Root
	// Early returns what Roots does, as far as it is known at first; nil means that Roots does.
	Early func() []Root
	// Extra returns definitions that are not on disk, the same values each time: those that are built in, and those of the
	// command line. It may be nil.
	Extra func() []*Definition
	// Problems returns what is told beside problems of files; it may be nil.
	Problems func() []Problem
	// Index is the file that keeps what was read of the files; empty keeps nothing. Libraries with other roots that share one
	// replace each other's.
	Index string
}

// A Set is the definitions that were found. It does not change.
type Set struct {
	// Definitions are those that can be used, in order of their names.
	Definitions []*Definition
	// Shadowed are those that another of the same name keeps from being used.
	Shadowed []Shadowed
	Problems []Problem
}

// A Shadowed definition is not used, because By has the same name.
type Shadowed struct{ Definition, By *Definition }

// Get returns the definition of a name, or nil.
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

// Unknown returns the error for a name that no agent has: it lists those that there are.
func (s *Set) Unknown(name string) error {
	text := fmt.Sprintf("there is no agent %q; there are %s", short(name), strings.Join(s.Names(), ", "))
	if near := spell.Closest(name, s.Names(), 1); len(near) > 0 {
		text += "; did you mean " + near[0] + "?"
	}
	return errors.New(text)
}

// Report returns what is wrong, in lines: files that are not used as they were meant, and those of agents that another one
// of the same name keeps from being used.
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
	early    bool // folders that are fixed are not looked at
	foreign  bool // another program has read what is known
	recalled *Set // what Early returns before anything is looked at; may be nil
	set      *Set
	looked   time.Time
	known    map[Root]*folder
	saver    cachefile.Saver
}

// NewLibrary returns a library. Nothing is read before it is needed.
func NewLibrary(cfg Config) *Library { return &Library{cfg: cfg} }

// Get returns the definition of a name, or nil.
func (l *Library) Get(name string) *Definition { return l.Set().Get(name) }

// All returns the definitions that can be used, in order of their names.
func (l *Library) All() []*Definition { return l.Set().Definitions }

// Set returns what there is: the same value until something changes on disk, which is noticed after a second.
func (l *Library) Set() *Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.set == nil || time.Since(l.looked) >= pollEvery {
		l.look(l.cfg.Roots())
	}
	return l.set
}

// Early returns what is known, if nothing else before a look at the folders that are fixed. It is for showing what there is;
// what is used is in [Library.Set].
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

// Recall makes definitions that an earlier process has found what [Library.Early] returns, until something else is asked for.
func (l *Library) Recall(list []*Definition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recalled = &Set{Definitions: list}
}

// Stamps returns the stamps of the folders that are not fixed and of the files in them, by path, as they were when they were
// read. It is false if something that was found is not known by its stamp.
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

// Refresh looks at the disk now.
func (l *Library) Refresh() *Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look(l.cfg.Roots())
	return l.set
}

// look looks at the disk, and makes a set if something is not as it was. The caller holds mu.
func (l *Library) look(roots []Root) {
	if l.set == nil && l.known == nil {
		var foreign bool
		if l.known, foreign = loadIndex(l.cfg.Index); foreign {
			doubt(l.known)
		}
	}
	c := collection{known: l.known, now: make(map[Root]*folder, len(l.known))}
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

// set says which of the definitions with the same name is used.
func (c *collection) set() *Set {
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
