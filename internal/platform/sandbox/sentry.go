package sandbox

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A Stray is something that appeared under a protected name while a command ran.
type Stray struct {
	Path string
	// Moved is where it is now; empty if it is still there, because of Err, or because the user consented to
	// what made it. Then the command was ended: nothing keeps it from changing what was not there when it began.
	Moved string
	Err   error
}

func (s Stray) String() string {
	switch {
	case s.Err != nil:
		return fmt.Sprintf("%s appeared while a command ran in the sandbox, and could not be taken away: %v. "+
			"Programs obey what it holds: remove it before you use git or an editor there", s.Path, s.Err)
	case s.Moved == "":
		return s.Path + " was made outside the sandbox while the command ran in it, which could have changed it. So the command was ended: start it again"
	}
	return fmt.Sprintf("%s appeared while a command ran in the sandbox, where that name is protected: it was moved to %s", s.Path, s.Moved)
}

// A sentry takes away what appears under protected names that were not there. Nothing can be mounted on such a
// name, and to put something there first would be seen by every program outside: by git, by editors, by
// servers that read .env. So a command can make it, and within moments it is in quarantine, where no program
// obeys it; what ends a command looks once more.
//
// Who made it cannot be known. What the user consents to is announced by [Sandbox.Aside] and
// [Sandbox.Expect]; anything else can be moved back.
type sentry struct {
	quarantine func() string
	tell       func(Stray) // may be nil

	mu      sync.Mutex
	dirs    map[string]*watchedDir // by path
	watches map[*watch]bool
	aside   int
	notices notices
}

// A watchedDir is a working directory in which commands run.
type watchedDir struct {
	file  *os.File // the directory, whatever its name leads to
	users int
	stop  func() // ends looking from time to time; nil if the kernel sends notices
}

// interval is how often a directory is looked at that the kernel sends no notices about.
const interval = 20 * time.Millisecond

// A watch lasts as long as a command.
type watch struct {
	sentry *sentry
	roots  []string
	absent map[string]bool // protected paths that were not there
	strays []Stray
	kill   func() // ends the command; nil before it is known
	strict bool   // it began when commands ran outside already, and what appears is taken for its work
}

// maxStrays is how often a name may appear while a command runs before the command is ended: what a program
// insists on would otherwise be obeyed by others now and then.
const maxStrays = 3

// begin watches the roots of a policy until the watch ends, and notes what is protected there. Other tiers than
// bubblewrap keep names from being made, or do not promise that; the watch is nil then.
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
		for _, path := range p.absent {
			if filepath.Dir(path) == root {
				w.absent[path] = true
			}
		}
		for _, g := range list {
			if g.here {
				p.guards = append(p.guards, g)
			} else {
				w.absent[g.path] = true
			}
		}
	}
	if s.watches == nil {
		s.watches = map[*watch]bool{}
	}
	s.watches[w] = true
	return w, nil
}

// end ends the watch and returns what appeared. It may be called again.
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

// open opens a root and has its notices sent, unless that is done.
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

// lookEvery looks at all names from time to time until stop is called.
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
			d.file.Close() // ok: it was not even read
			delete(s.dirs, root)
			s.notices.remove(root)
			if d.stop != nil {
				d.stop()
			}
		}
	}
}

// noticed is told that a name came into a directory; an empty one stands for any.
func (s *sentry) noticed(root, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		for path := range w.absent {
			if name == "" || filepath.Dir(path) == root && strings.EqualFold(filepath.Base(path), name) { // not all file systems tell them apart
				s.look(path)
			}
		}
	}
}

// look takes away what is at a path that was not there when a running command began.
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
			return // it was gone by then
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

// times returns how often something appeared at path.
func (w *watch) times(path string) int {
	n := 0
	for _, s := range w.strays {
		if s.Path == path {
			n++
		}
	}
	return n
}

// take moves what is at path, in dir, into quarantine, and returns where it is; empty if there was nothing.
func (s *sentry) take(dir *os.File, path string) (moved string, err error) {
	name := filepath.Base(path)
	if place, err := s.place(); err == nil {
		moved = filepath.Join(place, name)
		if err = moveFrom(dir, name, moved); err == nil {
			return moved, nil
		}
		os.Remove(place) // ok: it is empty
	}
	// On another file system, or where there is no quarantine, only the name can be taken.
	moved = fmt.Sprintf("%s.quarantine-%d", path, time.Now().UnixNano())
	switch err = moveFrom(dir, name, moved); {
	case err == nil:
		return moved, nil
	case os.IsNotExist(err):
		return "", nil
	}
	return "", err
}

// place makes a directory of its own in the quarantine.
func (s *sentry) place() (string, error) {
	dir := s.quarantine()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, time.Now().Format("20060102-150405-"))
}

// Aside lets things appear under protected names until resume is called, because the user consented to a
// command that runs outside the sandbox meanwhile. They stay, and commands in the sandbox are ended that could
// change them.
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

// Expect lets a file appear, like [Sandbox.Aside], because the user consented to that.
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

// close looks once more, for commands that ended with the sandbox.
func (s *sentry) close() {
	s.noticed("", "")
	s.notices.close()
}

// guard lets the watch end a command by kill if things keep appearing.
func (w *watch) guard(kill func()) {
	if w == nil {
		return
	}
	w.sentry.mu.Lock()
	defer w.sentry.mu.Unlock()
	w.kill = kill
}

// only restricts the watch to a root.
func (w *watch) only(root string) {
	if w == nil {
		return
	}
	w.sentry.mu.Lock()
	defer w.sentry.mu.Unlock()
	maps.DeleteFunc(w.absent, func(path string, _ bool) bool { return filepath.Dir(path) != root })
}
