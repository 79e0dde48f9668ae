// Package lsp is a client of language servers. It starts a server when a file of its language is
// first used, keeps it informed about the files, and collects diagnostics. A server runs programs
// of the project, so that none is started in a workspace that is not trusted.
package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/platform/fs/paths"
	"adze/internal/platform/proc/osproc"
)

const (
	// maxRunning limits the servers that run at a time. The least recently used one is stopped.
	maxRunning = 8
	// idleTime is the time after which an unused server is stopped.
	idleTime = 15 * time.Minute
	// maxCrashes limits the crashes within crashWindow. After that the server is not started again.
	maxCrashes  = 4
	crashWindow = 10 * time.Minute
	// firstBackoff is the time between a crash and the next start. It quadruples with each crash.
	firstBackoff = time.Second
	// lookupTime is how long a missing program is not looked up again.
	lookupTime = 30 * time.Second
	// MaxFile is the maximum size of a file that is sent to a server.
	MaxFile = 1 << 20
)

// Config configures the servers of a process. All fields but Static and Now are required.
type Config struct {
	// Servers returns the definitions in order of preference. It is called when one is needed, and
	// again after [Servers.Stop]. Static returns the definitions known at the start.
	Servers func() []Server
	Static  func() []Server
	// Trusted reports whether programs of the workspace may run.
	Trusted func() bool
	Runner  *osproc.Runner
	Environ func() []string
	Version string
	Now     func() time.Time // nil means time.Now
}

// Servers are the language servers of a process. It is safe for concurrent use.
type Servers struct {
	cfg Config
	seq atomic.Int64 // number of the last report

	mu       sync.Mutex
	entries  map[key]*entry
	programs map[string]lookup
	servers  func() []Server
	closed   bool
	sweeping bool
	stopping sync.WaitGroup
}

// A key identifies a server for a project.
type key struct{ name, root string }

// An entry is a server for a project, which may not be running.
type entry struct {
	server  Server
	program string
	client  *client // nil if it does not run
	crashes []time.Time
	err     error     // last failure
	retry   time.Time // no start before
	off     bool      // failed too often
}

type lookup struct {
	path string
	at   time.Time
}

// Open returns the servers. It starts none.
func Open(c Config) *Servers {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Static == nil {
		c.Static = c.Servers
	}
	return &Servers{cfg: c, servers: sync.OnceValue(c.Servers), entries: map[key]*entry{}, programs: map[string]lookup{}}
}

// Close stops all servers.
func (s *Servers) Close() {
	s.mu.Lock()
	s.closed = true
	for _, e := range s.entries {
		s.halt(e)
	}
	s.mu.Unlock()
	s.stopping.Wait()
}

// halt stops a server in the background. The caller holds the lock.
func (s *Servers) halt(e *entry) {
	if c := e.client; c != nil {
		e.client = nil
		s.stopping.Go(c.stop)
	}
}

// Before announces the content of a file that is about to be changed, so that its old problems are
// known. It starts the server if necessary, and does not wait.
func (s *Servers) Before(path, text string, roots []string) {
	if c := s.client(path, roots, true); c != nil {
		c.set(path, text, false, s.cfg.Now())
	}
}

// Changed announces the content of a file after a change. It starts the server if necessary, and
// does not wait.
func (s *Servers) Changed(path, text string, roots []string) {
	if c := s.client(path, roots, true); c != nil {
		c.set(path, text, true, s.cfg.Now())
	}
}

// Refresh compares the files of the projects with the disk, and announces changes by
// other programs. It returns the paths of the open ones.
func (s *Servers) Refresh() (changed []string) {
	for _, c := range s.running() {
		c.watch()
		for path, text := range c.open() {
			now, err := ReadFile(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				c.drop(path, true)
			case err == nil && now != text:
				c.set(path, now, true, s.cfg.Now())
				changed = append(changed, path)
			}
		}
	}
	return changed
}

// open returns the texts of the open documents.
func (c *client) open() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	texts := map[string]string{}
	for path, d := range c.docs {
		texts[path] = d.text
	}
	return texts
}

// ReadFile returns the content of a regular file that a server may get.
func ReadFile(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > MaxFile:
		return "", fmt.Errorf("%s is not a regular file of at most %d bytes", path, MaxFile)
	}
	data, err := os.ReadFile(path)
	return string(data), err
}

// Await waits until the server has reported on the current content of a file, or ctx is done. It
// does not wait for servers that do not report in time.
func (s *Servers) Await(ctx context.Context, path string) {
	if c := s.holder(path); c != nil {
		c.await(ctx, path)
	}
}

// Report returns the diagnostics of a file's current content. It returns false if they are not
// known.
func (s *Servers) Report(path string) (Report, bool) {
	c := s.holder(path)
	if c == nil {
		return Report{}, false
	}
	return c.problems(path)
}

// Holds reports whether a server has a file open with this content.
func (s *Servers) Holds(path, text string) bool {
	c := s.holder(path)
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.docs[path]
	return d != nil && d.text == text
}

// holder returns the running server that has a file open, or nil.
func (s *Servers) holder(path string) *client {
	for _, c := range s.running() {
		c.mu.Lock()
		_, ok := c.docs[path]
		c.mu.Unlock()
		if ok {
			return c
		}
	}
	return nil
}

func (s *Servers) running() (list []*client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.client != nil {
			list = append(list, e.client)
		}
	}
	return list
}

// Serves reports whether there is a server for a file. It starts none.
func (s *Servers) Serves(path string, roots []string) bool {
	root := within(path, roots)
	if root == "" || !s.cfg.Trusted() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, e := s.choose(path, root)
	return e != nil
}

// Fits returns the names of the installed servers whose projects have their root at dir. It starts
// none.
func (s *Servers) Fits(dir string) (names []string) {
	if !s.cfg.Trusted() {
		return nil
	}
	listed, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	present := map[string]bool{}
	for _, f := range listed {
		present[f.Name()] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.cfg.Static() {
		if slices.ContainsFunc(d.Markers, func(m string) bool { return present[m] }) && s.find(&d) != "" {
			names = append(names, d.Name)
		}
	}
	return names
}

// within returns the root that contains a file, the innermost if there are several, or "".
func within(path string, roots []string) (root string) {
	for _, r := range roots {
		if rel, err := filepath.Rel(r, path); err == nil && filepath.IsLocal(rel) && len(r) > len(root) {
			root = r
		}
	}
	return root
}

// choose returns the entry of the server for a file, creating it if necessary, or nil. The caller
// holds the lock.
func (s *Servers) choose(path, root string) (key, *entry) {
	for _, d := range s.servers() {
		if d.language(path) == "" {
			continue
		}
		program := s.find(&d)
		if program == "" || d.Check != nil && d.Check() != nil {
			continue
		}
		k := key{d.Name, projectRoot(path, root, d.Markers)}
		e := s.entries[k]
		if e == nil {
			e = &entry{server: d, program: program}
			s.entries[k] = e
		}
		if !e.off {
			return k, e
		}
	}
	return key{}, nil
}

// projectRoot returns the outermost directory from top to a file that has one of the markers, or
// top.
func projectRoot(path, top string, markers []string) string {
	root := top
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		for _, m := range markers {
			if _, err := os.Stat(filepath.Join(dir, m)); err == nil {
				root = dir
			}
		}
		if dir == top || dir == filepath.Dir(dir) {
			return root
		}
	}
}

// find returns the path of a server's program, or "". Relative entries of PATH are ignored: they
// would name programs of the project. The caller holds the lock.
func (s *Servers) find(d *Server) string {
	id := d.Name + "\x00" + d.Command
	if l, ok := s.programs[id]; ok && (l.path != "" || s.cfg.Now().Sub(l.at) < lookupTime) {
		return l.path
	}
	path := findProgram(d.Command, s.cfg.Environ())
	if path != "" && d.fits != nil && !d.fits(path) {
		path = ""
	}
	s.programs[id] = lookup{path, s.cfg.Now()}
	return path
}

func findProgram(name string, env []string) string {
	switch {
	case filepath.IsAbs(name):
		if executable(name) {
			return name
		}
		return ""
	case strings.ContainsAny(name, `/\`):
		return "" // relative to an unknown directory
	case runtime.GOOS == "windows":
		path, err := exec.LookPath(name) // fails for programs in the working directory
		if err != nil {
			return ""
		}
		return path
	}
	for _, entry := range slices.Backward(env) {
		list, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if file := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(file) {
				return file
			}
		}
		break
	}
	return ""
}

func executable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// client returns the running server for a file, or nil. With begin, it starts the server if
// necessary and allowed.
func (s *Servers) client(path string, roots []string, begin bool) *client {
	root := within(path, roots)
	if root == "" || !s.cfg.Trusted() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k, e := s.choose(path, root)
	if e == nil || s.closed {
		return nil
	}
	now := s.cfg.Now()
	if e.client != nil || !begin || now.Before(e.retry) {
		return e.client
	}
	s.makeRoom()
	env := s.cfg.Environ()
	for _, name := range slices.Sorted(maps.Keys(e.server.Env)) {
		env = append(env, name+"="+e.server.Env[name])
	}
	cmd := osproc.Cmd{Path: e.program, Name: e.server.Command, Args: e.server.Args, Dir: k.root, Env: env}
	c := newClient(e.server, k.root, cmd, s.cfg.Runner, s.cfg.Version, &s.seq, now)
	e.client = c
	s.stopping.Go(func() {
		<-c.conn.gone
		s.ended(e, c)
	})
	if !s.sweeping {
		s.sweeping = true
		time.AfterFunc(idleTime/3, s.sweepLater)
	}
	return c
}

// makeRoom stops the least recently used server if too many run. The caller holds the lock.
func (s *Servers) makeRoom() {
	var oldest *entry
	n := 0
	for _, e := range s.entries {
		if e.client == nil {
			continue
		}
		if n++; oldest == nil || e.client.lastUse().Before(oldest.client.lastUse()) {
			oldest = e
		}
	}
	if n >= maxRunning {
		s.halt(oldest)
	}
}

func (c *client) lastUse() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// ended records the end of a server. If it was not stopped on purpose, it counts as a crash.
func (s *Servers) ended(e *entry, c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.client != c {
		return // stopped
	}
	e.client = nil
	now := s.cfg.Now()
	e.err = c.conn.err
	e.crashes = slices.DeleteFunc(e.crashes, func(t time.Time) bool { return now.Sub(t) > crashWindow })
	e.crashes = append(e.crashes, now)
	var refused *responseError
	e.off = len(e.crashes) >= maxCrashes || errors.As(e.err, &refused) // refused again
	e.retry = now.Add(firstBackoff << (2 * (len(e.crashes) - 1)))
	s.stopping.Go(c.stop)
}

// sweepLater stops idle servers from time to time while any run.
func (s *Servers) sweepLater() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	s.sweeping = false
	if s.closed {
		return
	}
	for _, e := range s.entries {
		if e.client != nil {
			s.sweeping = true
			time.AfterFunc(idleTime/3, s.sweepLater)
			return
		}
	}
}

// sweep stops idle servers. The caller holds the lock.
func (s *Servers) sweep() {
	for _, e := range s.entries {
		if e.client != nil && s.cfg.Now().Sub(e.client.lastUse()) >= idleTime {
			s.halt(e)
		}
	}
}

// Stop stops all servers and forgets their failures. They are started again when needed. It returns
// the number that ran.
func (s *Servers) Stop() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.client != nil {
			n++
		}
		s.halt(e)
	}
	s.entries, s.programs = map[key]*entry{}, map[string]lookup{}
	s.servers = sync.OnceValue(s.cfg.Servers)
	return n
}

// A State is the state of a server.
type State string

// The states.
const (
	Starting State = "starting"
	Running  State = "running"
	Stopped  State = "stopped"
	Failed   State = "failed"
)

// A Status describes a server that was used.
type Status struct {
	Name, Root, Program, Version, Origin string
	State                                State
	Since                                time.Time // start of a running server
	Memory                               int64     // bytes; 0 if unknown
	Files                                int       // open files
	Problem                              string    // last failure, or empty
	Crashes                              int
	Off                                  bool // never started again
}

// List returns the servers that were used, by name and root.
func (s *Servers) List() (list []Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, e := range s.entries {
		st := Status{Name: k.name, Root: k.root, Program: e.program, Origin: e.server.Origin, State: Stopped, Crashes: len(e.crashes), Off: e.off}
		if e.err != nil {
			st.Problem = line(e.err.Error())
			st.State = Failed
		}
		if c := e.client; c != nil {
			st.State, st.Since = Starting, c.began
			if c.isReady() {
				st.State = Running
				if c.proc != nil {
					st.Memory = groupMemory(c.proc.program.PID())
				}
			}
			c.mu.Lock()
			st.Version, st.Files = c.name, len(c.docs)
			c.mu.Unlock()
		} else if e.err == nil && e.crashes == nil {
			st.State = Stopped
		}
		list = append(list, st)
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Root, b.Root)) })
	return list
}

// Installed returns the definitions whose programs are installed.
func (s *Servers) Installed() (list []Server, programs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.servers() {
		if program := s.find(&d); program != "" {
			list, programs = append(list, d), append(programs, program)
		}
	}
	return list, programs
}

// Shown returns a path relative to the innermost root that contains it.
func Shown(path string, roots []string) string {
	if root := within(path, roots); root != "" {
		return paths.Relative(root, path)
	}
	return path
}
