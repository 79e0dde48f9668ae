package config

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/platform/replace"
	"adze/internal/platform/scope"
)

// Live are settings that follow their files: changes of others are noticed, own changes are written.
// It may be used from any goroutine.
type Live struct {
	find func() Sources
	out  Output
	keys []Key

	now atomic.Pointer[Settings]

	mu      sync.Mutex
	decided int                  // see Sources
	docs    map[string]*document // by path: the last good copy
	refused map[string]refusal   // what is invalid now
	others  []ChangedFile        // changed by others, to be told with the next poll
	warned  []Warning            // about these
}

// An Output says how changes are written.
type Output struct {
	// Target returns the file that a change of a scope is written to. Locks guard the files.
	Target func(scope.Scope) (string, error)
	Locks  *replace.Replacer
	// Writing is called, with the file locked, before it holds after in place of before, which is nil if there is no
	// file. With an error nothing is written. It may be nil.
	Writing func(ctx context.Context, to scope.Scope, path string, before, after []byte) error
}

// A refusal is a file as it cannot be used.
type refusal struct {
	stamp stamp
	err   *InvalidFile
}

// Follow reads the settings that find names, now and whenever they are polled. It returns what is wrong
// like [Load]. Out says how changes are written.
func Follow(find func() Sources, out Output, keys []Key) (*Live, []Warning) {
	l := &Live{find: find, out: out, keys: keys, docs: map[string]*document{}, refused: map[string]refusal{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	warnings := l.refresh("")
	l.others, l.warned = nil, nil
	return l, warnings
}

// Settings returns the settings in force.
func (l *Live) Settings() *Settings { return l.now.Load() }

// A Change is what others did to the files.
type Change struct {
	Settings *Settings // those in force now
	Files    []ChangedFile
	// Problems are for the user. A file that has become invalid is among them: what it said before
	// stays in force.
	Problems []Warning
}

// A ChangedFile is a file whose content others changed.
type ChangedFile struct {
	Scope scope.Scope
	Path  string
}

// Poll looks whether others changed a file. It costs a look at each file's times.
func (l *Live) Poll() (Change, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh("")
	if len(l.others) == 0 && len(l.warned) == 0 {
		return Change{}, false
	}
	c := Change{l.Settings(), l.others, l.warned}
	l.others, l.warned = nil, nil
	return c, true
}

// refresh reads what has changed and makes settings of it. It notes which files others changed, that is
// all but mine, and what is wrong with them; it returns all that is wrong.
func (l *Live) refresh(mine string) (warnings []Warning) {
	src := l.find()
	var docs []*document
	var invalid []*InvalidFile
	seen := map[string]bool{}
	changed := l.Settings() == nil
	decided := !changed && src.Decided != l.decided
	l.decided = src.Decided
	for _, f := range src.files() {
		seen[f.Path] = true
		news := l.look(f, mine)
		changed = changed || news
		if d := l.docs[f.Path]; decided && !news && d != nil && d.root != nil && d.grant != Whole {
			l.others = append(l.others, ChangedFile{d.scope, f.Path})
		}
		if d := l.docs[f.Path]; d != nil {
			docs = append(docs, d)
		}
		if r, bad := l.refused[f.Path]; bad {
			invalid = append(invalid, r.err)
		}
	}
	for path, d := range l.docs {
		if !seen[path] {
			delete(l.docs, path)
			l.others = append(l.others, ChangedFile{d.scope, path})
			changed = true
		}
	}
	if !changed && !decided {
		return nil
	}
	s, warnings := merge(src, docs, l.keys)
	s.invalid = invalid
	l.now.Store(s)
	for _, w := range warnings {
		if slices.ContainsFunc(l.others, func(f ChangedFile) bool { return strings.HasPrefix(w.Where, f.Path+":") }) {
			l.warned = append(l.warned, w)
		}
	}
	return warnings
}

// look reads a file again if it may have changed, and reports whether there is any news. If it cannot be
// used, the last good copy stays.
func (l *Live) look(f File, mine string) (news bool) {
	old, bad := l.docs[f.Path], l.refused[f.Path]
	if f.Text != "" && old != nil {
		return false
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		info = nil
	}
	switch {
	case bad.err != nil && bad.stamp.same(info):
		return false
	case bad.err == nil && old != nil && old.stamp.same(info) && old.file.Grant == f.Grant && !old.promoted(f):
		return false
	}
	d, err := readDocument(f)
	if err != nil {
		r := refusal{d.stamp, err.(*InvalidFile)}
		l.refused[f.Path] = r
		if bad.err != nil && *bad.err == *r.err && alike(bad.stamp.info, r.stamp.info) {
			return false
		}
		l.warned = append(l.warned, Warning{r.err.Where, r.err.Text + "; what the file said before stays in force"})
		return true
	}
	delete(l.refused, f.Path)
	l.docs[f.Path] = d
	if old != nil && bad.err == nil && bytes.Equal(old.data, d.data) && old.grant == d.grant && old.scope == d.scope {
		return false
	}
	if f.Path != mine {
		l.others = append(l.others, ChangedFile{d.scope, f.Path})
	}
	return true
}

func alike(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// wrote takes over a file that was just written. Before is what it held under the lock: if that is not
// what was known, others changed it too, and the next poll tells.
func (l *Live) wrote(path string, before []byte) {
	if d := l.docs[path]; d != nil && bytes.Equal(d.data, before) {
		l.refresh(path)
		return
	}
	l.refresh("")
}

// Watch polls each time that wait returns true, and tells notify of changes, one at a time.
func (l *Live) Watch(wait func() bool, notify func(Change)) {
	for wait() {
		if c, ok := l.Poll(); ok {
			notify(c)
		}
	}
}
