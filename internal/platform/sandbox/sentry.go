package sandbox

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Stray is a file that appeared under a protected name while a command ran.
type Stray struct {
	Path string
	// Moved is its current path. It is empty if the file was not moved, because of Err or
	// because the user consented to its creation. In that case the command was killed: nothing
	// would keep it from changing a file that did not exist when it started.
	Moved string
	Err   error
}

func (s Stray) String() string {
	switch {
	case s.Err != nil:
		return fmt.Sprintf("%s appeared while a command ran in the sandbox, and could not be taken away: %v. "+
			"Other programs execute its content: remove it before you use git or an editor there", s.Path, s.Err)
	case s.Moved == "":
		return s.Path + " was made outside the sandbox while the command ran in it, which could have changed it. So the command was ended: start it again"
	}
	return fmt.Sprintf("%s appeared while a command ran in the sandbox, where that name is protected: it was moved to %s", s.Path, s.Moved)
}

// A sentry removes files that appear under protected names that did not exist. Nothing can be
// mounted on such a name, and a placeholder would be visible to every program outside: git,
// editors, servers that read .env. So a command can create the file, and moments later it is in
// quarantine, where no program obeys it; ending a command checks once more.
//
// The creator cannot be determined. Files that the user consents to are announced by
// [Sandbox.Aside] and [Sandbox.Expect]; anything else can be moved back.
type sentry struct {
	quarantine func() string
	tell       func(Stray) // may be nil

	mu      sync.Mutex
	dirs    map[string]*watchedDir // keyed by path
	watches map[*watch]bool
	aside   int
	notices notices
}

// A watchedDir is a working directory in which commands run.
type watchedDir struct {
	file  *os.File // the directory itself, independent of its name
	users int
	stop  func() // stops polling; nil if the kernel sends notifications
}

// interval is the polling interval for directories without kernel notifications.
const interval = 20 * time.Millisecond

// A watch exists for the duration of a command.
type watch struct {
	sentry *sentry
	roots  []string
	absent map[string]bool // protected paths that did not exist
	strays []Stray
	kill   func() // kills the command; nil until known
	strict bool   // started while commands ran outside, so new files are attributed to it
}

// maxStrays is how often a name may appear before the command is killed: otherwise a persistent
// program's file would occasionally be obeyed by others.
const maxStrays = 3

// begin watches the roots of a policy until the watch ends, and records the protected names
// that exist. It returns a nil watch for tiers other than bubblewrap, which prevent the
// creation of names or do not promise to.
func (s *sentry) begin(p *policy, t Tier) (*watch, error) {
	if t != Bubblewrap {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &watch{sentry: s, absent: map[string]bool{}, strict: s.aside > 0}
	p.guards = nil
	for _, root := range p.roots {
		if err := s.open(root); err != nil {
			s.release(w.roots)
			return nil, err
		}
		w.roots = append(w.roots, root)
		list, err := guards(root, p.home)
		if err != nil {
			s.release(w.roots)
			return nil, err
		}
		for _, g := range list {
			if g.here {
				p.guards = append(p.guards, g)
			} else {
				w.absent[g.path] = true
			}
		}
	}
	for _, path := range p.absent {
		dir := filepath.Dir(path)
		if !slices.Contains(w.roots, dir) {
			if !slices.ContainsFunc(p.write, func(place string) bool { return below(place, dir) }) || s.open(dir) != nil {
				continue
			}
			w.roots = append(w.roots, dir)
		}
		w.absent[path] = true
	}
	if s.watches == nil {
		s.watches = map[*watch]bool{}
	}
	s.watches[w] = true
	return w, nil
}

// end ends the watch and returns the strays. It may be called again.
func (w *watch) end() []Stray {
	if w == nil {
		return nil
	}
	s := w.sentry
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.watches[w] {
		return w.strays
	}
	for path := range w.absent {
		s.look(path)
	}
	delete(s.watches, w)
	s.release(w.roots)
	return w.strays
}

// open opens a root and requests notifications for it, unless already done.
func (s *sentry) open(root string) error {
	if d := s.dirs[root]; d != nil {
		d.users++
		return nil
	}
	f, err := os.Open(root)
	if err != nil {
		return err
	}
	if s.dirs == nil {
		s.dirs = map[string]*watchedDir{}
	}
	d := &watchedDir{file: f, users: 1}
	s.dirs[root] = d
	if !s.notices.add(root, s.noticed) {
		d.stop = s.lookEvery(interval)
	}
	return nil
}

// lookEvery checks all names periodically until stop is called.
func (s *sentry) lookEvery(interval time.Duration) (stop func()) {
	ticker, done := time.NewTicker(interval), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.noticed("", "")
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

func (s *sentry) release(roots []string) {
	for _, root := range roots {
		d := s.dirs[root]
		if d.users--; d.users == 0 {
			d.file.Close() // ok: never read
			delete(s.dirs, root)
			s.notices.remove(root)
			if d.stop != nil {
				d.stop()
			}
		}
	}
}

// noticed is called when a name appears in a directory; an empty name means any.
func (s *sentry) noticed(root, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		for path := range w.absent {
			if name == "" || filepath.Dir(path) == root && strings.EqualFold(filepath.Base(path), name) { // some file systems are case-insensitive
				s.look(path)
			}
		}
	}
}

// look removes the file at path if the path did not exist when a running command started.
func (s *sentry) look(path string) {
	var concerned []*watch
	stays := s.aside > 0
	for w := range s.watches {
		if w.absent[path] {
			concerned = append(concerned, w)
			stays = stays && !w.strict
		}
	}
	dir := s.dirs[filepath.Dir(path)]
	if len(concerned) == 0 || dir == nil || !holds(dir.file, filepath.Base(path)) {
		return
	}
	stray := Stray{Path: path}
	if !stays {
		stray.Moved, stray.Err = s.take(dir.file, path)
		if stray.Moved == "" && stray.Err == nil {
			return // already gone
		}
		if s.tell != nil {
			s.tell(stray)
		}
	}
	for _, w := range concerned {
		w.strays = append(w.strays, stray)
		if stray.Moved == "" {
			delete(w.absent, path)
		}
		if w.kill != nil && (stray.Moved == "" || w.times(path) > maxStrays) {
			w.kill()
		}
	}
}

// times returns how often a file appeared at path.
func (w *watch) times(path string) int {
	n := 0
	for _, s := range w.strays {
		if s.Path == path {
			n++
		}
	}
	return n
}

// take moves the file at path, in dir, into quarantine and returns its new path, or "" if it
// does not exist.
func (s *sentry) take(dir *os.File, path string) (moved string, err error) {
	name := filepath.Base(path)
	if place, err := s.place(); err == nil {
		moved = filepath.Join(place, name)
		if err = moveFrom(dir, name, moved); err == nil {
			return moved, nil
		}
		os.Remove(place) // ok: empty
	}
	// On another file system, or without a quarantine, it can only be renamed.
	moved = fmt.Sprintf("%s.quarantine-%d", path, time.Now().UnixNano())
	switch err = moveFrom(dir, name, moved); {
	case err == nil:
		return moved, nil
	case os.IsNotExist(err):
		return "", nil
	}
	return "", err
}

// place creates a new directory in the quarantine.
func (s *sentry) place() (string, error) {
	dir := s.quarantine()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, time.Now().Format("20060102-150405-"))
}

// Aside allows files to appear under protected names until resume is called, because the user
// consented to a command that runs outside the sandbox during that time. The files stay, and
// commands in the sandbox that could change them are killed.
func (s *Sandbox) Aside() (resume func()) {
	s.sentry.mu.Lock()
	defer s.sentry.mu.Unlock()
	s.sentry.aside++
	return func() {
		s.sentry.noticed("", "")
		s.sentry.mu.Lock()
		defer s.sentry.mu.Unlock()
		s.sentry.aside--
	}
}

// Expect allows a file to appear, like [Sandbox.Aside], because the user consented to it.
func (s *Sandbox) Expect(file string) {
	s.sentry.mu.Lock()
	defer s.sentry.mu.Unlock()
	for w := range s.sentry.watches {
		for path := range w.absent {
			if below(path, file) {
				delete(w.absent, path)
				w.strays = append(w.strays, Stray{Path: path})
				if w.kill != nil {
					w.kill()
				}
			}
		}
	}
}

// close checks once more, for commands that ended with the sandbox.
func (s *sentry) close() {
	s.noticed("", "")
	s.notices.close()
}

// protectedName sets the function that kills the command if files keep appearing.
func (w *watch) guard(kill func()) {
	if w == nil {
		return
	}
	w.sentry.mu.Lock()
	defer w.sentry.mu.Unlock()
	w.kill = kill
}

// only restricts the watch to one root.
func (w *watch) only(root string) {
	if w == nil {
		return
	}
	w.sentry.mu.Lock()
	defer w.sentry.mu.Unlock()
	maps.DeleteFunc(w.absent, func(path string, _ bool) bool { return filepath.Dir(path) != root })
}
