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

	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/scope"
)

// Live holds settings that are reloaded when their files change and that can be modified. It is
// safe for concurrent use.
type Live struct {
	find func() Sources
	out  WriteConfig
	keys []Key

	now atomic.Pointer[Settings]

	mu      sync.Mutex
	decided int                       // see Sources
	docs    map[string]*document      // last valid version by path
	refused map[string]invalidVersion // currently invalid files
	others  []ChangedFile             // external changes to report at the next poll
	warned  []Warning                 // warnings about others
}

// WriteConfig configures how changes are written.
type WriteConfig struct {
	// Target returns the file that changes to a scope are written to. Locks guards the files.
	Target func(scope.Scope) (string, error)
	Locks  *replace.Replacer
	// BeforeWrite, if not nil, is called with the file locked, before its content is replaced.
	// before is nil if the file does not exist. If Writing returns an error, nothing is
	// written.
	BeforeWrite func(ctx context.Context, to scope.Scope, path string, before, after []byte) error
}

// An invalidVersion records a file version that is invalid.
type invalidVersion struct {
	stamp stamp
	err   *InvalidFile
}

// Follow reads the sources that find returns, now and on every poll. It returns warnings like
// [Load]. out configures how changes are written.
func Follow(find func() Sources, out WriteConfig, keys []Key) (*Live, []Warning) {
	l := &Live{find: find, out: out, keys: keys, docs: map[string]*document{}, refused: map[string]invalidVersion{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	warnings := l.refresh("")
	l.others, l.warned = nil, nil
	return l, warnings
}

// Settings returns the current settings.
func (l *Live) Settings() *Settings { return l.now.Load() }

// A Change describes external changes to the files.
type Change struct {
	Settings *Settings // the current settings
	Files    []ChangedFile
	// Problems lists warnings for the user, including files that have become invalid. The
	// previous content of such a file stays in effect.
	Problems []Warning
}

// A ChangedFile is a file that was changed externally.
type ChangedFile struct {
	Scope scope.Scope
	Path  string
}

// Poll checks for external changes. It costs one stat per file.
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

// refresh rereads changed files and rebuilds the settings. It records external changes, which
// are changes to files other than mine, and their warnings. It returns all warnings.
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

// look rereads a file if it may have changed, and reports whether it has. If the file is
// invalid, the last valid version is kept.
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
		r := invalidVersion{d.stamp, err.(*InvalidFile)}
		l.refused[f.Path] = r
		if bad.err != nil && *bad.err == *r.err && alike(bad.stamp.info, r.stamp.info) {
			return false
		}
		l.warned = append(l.warned, Warning{r.err.Where, r.err.Text + "; the previous settings stay active"})
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

// wrote reloads a file that this process has just written. before is the content it had under
// the lock. If that differs from the known content, it was also changed externally, and the
// next poll reports that.
func (l *Live) wrote(path string, before []byte) {
	if d := l.docs[path]; d != nil && bytes.Equal(d.data, before) {
		l.refresh(path)
		return
	}
	l.refresh("")
}

// Watch polls each time wait returns true, until it returns false. It calls notify with each
// change, one at a time.
func (l *Live) Watch(wait func() bool, notify func(Change)) {
	for wait() {
		if c, ok := l.Poll(); ok {
			notify(c)
		}
	}
}
