// Package sandbox confines programs with what the operating system offers: where they may write, what
// they may read, and which hosts they may reach. It says what it can enforce and proves it by trying. Which
// programs are confined, and whether a confined one still has to be asked about, is decided elsewhere.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/platform/fsys"
	"adze/internal/platform/jail"
)

// A Tier is a way to confine a program, the weakest first.
type Tier uint8

// The tiers.
const (
	None       Tier = iota
	Landlock        // Landlock and seccomp, without namespaces
	Bubblewrap      // namespaces by bubblewrap, with seccomp, and Landlock where the kernel has it
	Seatbelt        // sandbox-exec of macOS
)

func (t Tier) String() string {
	return [...]string{"none", "landlock", "bubblewrap", "seatbelt"}[t]
}

// Protects reports whether the tier keeps the protected names in writable directories from being
// changed. Only then is confinement a reason not to ask.
func (t Tier) Protects() bool { return t == Bubblewrap || t == Seatbelt }

// A Config says what confined programs may do. All paths are absolute.
type Config struct {
	// Roots returns the directories programs may write to, except what is protected at their top.
	Roots func() []string
	// Home is the user's home directory, whose secret directories are hidden. It may be empty.
	Home string
	// Write, ReadOnly and Hidden return further places to write, not to write and not to read. Nil means
	// none; an error means that nothing runs.
	Write, ReadOnly, Hidden func() ([]string, error)
	// Network says which hosts may be reached.
	Network Network
	// Helper is a program that calls [Help] with what follows its first argument, which is [HelperArg];
	// empty means this one.
	Helper string
	// Only, if not None, is the one tier to use, for trying it out.
	Only Tier
	// Quarantine is the directory for what appears under protected names while commands run; empty means one
	// that is removed with the sandbox. Appeared is told of that, and may be nil.
	Quarantine string
	Appeared   func(Stray)
	// Probe shares the results of self-tests with other sandboxes; it may be nil.
	Probe *Probe
}

// A Command is a program to run.
type Command struct {
	Path string
	Args []string // without the program's own name
	Dir  string
	Env  []string
	// Files are further files that it is given, from descriptor 3 on; [Confined.End] closes them.
	Files []*os.File
	// Reading, if not nil, says that it only reads: it is put into that jail inside the sandbox, without a
	// place to write to and without a network. What the sandbox hides stays hidden.
	Reading *jail.Policy
	// Start starts it in a way of its own; if nil, it is simply started.
	Start func(*exec.Cmd) error
	// Terminate asks what runs inside to end, once, and reports whether it could; if nil, the
	// process group is to be signalled.
	Terminate func() bool

	ours *os.File // an end of one of the files, or nil
	kill func()   // ends all that runs inside at once; nil if that cannot be done
	try  *trial   // is carried out instead
	err  error    // why it could not be confined
}

// A Sandbox confines programs, any number at once.
type Sandbox struct {
	config Config
	probe  func() (*finding, error)
	temp   func() (string, error)
	sentry sentry

	mu     sync.Mutex
	made   string // the directory that temp made, to be removed
	proxy  *proxy
	trials trials
}

// New returns a sandbox. Nothing is looked at or made before it is used.
func New(c Config) *Sandbox {
	if c.Probe == nil {
		c.Probe = new(Probe)
	}
	s := &Sandbox{config: c, sentry: sentry{tell: c.Appeared}}
	s.sentry.quarantine = s.quarantine
	s.probe = sync.OnceValues(s.find)
	s.temp = sync.OnceValues(s.makeTemp)
	return s
}

// Tier returns the strongest tier that passes its own tests, or why there is none. It is found out
// once.
func (s *Sandbox) Tier() (Tier, error) {
	f, err := s.probe()
	if err != nil {
		return None, err
	}
	return f.tier, nil
}

// Temp returns the directory that confined programs have for temporary files. It is the same inside
// and outside.
func (s *Sandbox) Temp() (string, error) { return s.temp() }

// Close takes back what the sandbox has made. No program runs in it any more.
func (s *Sandbox) Close() {
	s.trials.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proxy != nil {
		s.proxy.close()
	}
	s.sentry.close()
	if s.made != "" {
		os.RemoveAll(s.made) // ok: it is a temporary directory
	}
}

// close closes the files of a command that has been started, or never will be.
func (c *Command) close() {
	for _, f := range append(c.Files, c.ours) {
		if f != nil {
			f.Close() // ok: nothing was written
		}
	}
}

// A Confined command is one made ready to run in the sandbox.
type Confined struct {
	Command
	// Contained says that nothing it starts outlives it, or us.
	Contained bool
	// End must be called when the command has ended, or if it is not run. Printed is what it printed, or the
	// end of that. It returns what the limits were that the command met, as a block for the model, and what
	// was taken back of what it did, or nothing.
	End func(printed string) (limits, undone string)
}

// Wrap confines a command, or says why that cannot be done: then it must not be run.
func (s *Sandbox) Wrap(ctx context.Context, c Command) (*Confined, error) {
	found, err := s.probe()
	if err != nil {
		return nil, err
	}
	return s.wrap(ctx, found, c)
}

func (s *Sandbox) wrap(ctx context.Context, found *finding, c Command) (*Confined, error) {
	p, err := s.policy()
	if err != nil {
		return nil, fmt.Errorf("building the sandbox: %w", err)
	}
	if c.Reading != nil {
		return s.wrapReading(found, p, c)
	}
	post, err := s.sentry.begin(p, found.tier)
	if err != nil {
		return nil, fmt.Errorf("building the sandbox: %w", err)
	}
	net, err := s.reach(ctx, found.tier)
	if err != nil {
		post.end()
		return nil, fmt.Errorf("building the sandbox: %w", err)
	}
	if c.Dir != "" {
		c.Dir = resolved(c.Dir) // a link that leads there need not exist inside
	}
	planted := watchPlanted(p)
	confined := &Confined{Command: found.confine(s, p, net, c), Contained: found.tier == Bubblewrap}
	if confined.err != nil {
		net.end()
		post.end()
		return nil, fmt.Errorf("building the sandbox: %w", confined.err)
	}
	post.guard(confined.kill)
	var once sync.Once
	confined.End = func(printed string) (limits, undone string) {
		once.Do(func() {
			confined.close()
			seen := append(net.end(), violations(printed, found.tier)...)
			var taken []string
			for _, stray := range post.end() {
				taken = append(taken, stray.String())
			}
			limits, undone = report(append(seen, planted()...)), strings.Join(taken, "\n")
		})
		return limits, undone
	}
	return confined, nil
}

// quarantine returns the directory for what appears under protected names.
func (s *Sandbox) quarantine() string {
	if s.config.Quarantine != "" {
		return s.config.Quarantine
	}
	temp, err := s.temp()
	if err != nil {
		return "" // no command runs then
	}
	return filepath.Join((&policy{temp: temp}).own(), "quarantine")
}

// wrapReading confines a command that only reads. It leaves nothing behind, so that there is nothing to
// look after.
func (s *Sandbox) wrapReading(found *finding, p *policy, c Command) (*Confined, error) {
	if found.tier == Bubblewrap {
		c = found.confine(s, p, &netAccess{}, c)
	} else {
		inside := *c.Reading
		inside.Hidden = slices.Concat(inside.Hidden, p.hidden)
		c.Env, c.Start = insideEnv(c.Env, p, &netAccess{}), inside.Start
	}
	if c.err != nil {
		return nil, fmt.Errorf("building the sandbox: %w", c.err)
	}
	confined := &Confined{Command: c, Contained: found.tier == Bubblewrap}
	confined.End = func(string) (limits, undone string) {
		confined.close()
		return "", ""
	}
	return confined, nil
}

// A policy is what one command may do, with all paths resolved.
type policy struct {
	roots    []string // parents first
	write    []string
	readOnly []string
	hidden   []string
	home     string
	temp     string
	absent   []string // what of readOnly is not there
	guards   []guard  // protected names that are there, those of each root after its parent's
}

// policy settles what the next command may do.
func (s *Sandbox) policy() (*policy, error) {
	temp, err := s.temp()
	if err != nil {
		return nil, err
	}
	p := &policy{temp: temp, home: resolved(s.config.Home)}
	for _, root := range s.config.Roots() {
		real, err := filepath.EvalSymlinks(root)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the working directory %s cannot be used: %w", root, err)
		case filepath.Dir(real) == real:
			return nil, fmt.Errorf("the working directory is %s, the whole machine: work in a directory below it", real)
		}
		p.roots = append(p.roots, real)
	}
	slices.Sort(p.roots)
	p.roots = slices.Compact(p.roots)
	for _, more := range []struct {
		list *[]string
		from func() ([]string, error)
	}{{&p.write, s.config.Write}, {&p.readOnly, s.config.ReadOnly}, {&p.hidden, s.config.Hidden}} {
		if more.from == nil {
			continue
		}
		paths, err := more.from()
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				*more.list = append(*more.list, real)
			} else if more.list == &p.readOnly {
				p.absent = append(p.absent, path)
			}
		}
	}
	p.hidden = append(p.hidden, secrets(p.home)...)
	if own := p.own(); slices.ContainsFunc(append(p.roots, p.write...), func(dir string) bool { return below(dir, own) }) {
		p.hidden = append(p.hidden, own) // a directory that was added later
	}
	for _, list := range []*[]string{&p.write, &p.readOnly, &p.hidden} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return p, nil
}

// resolved returns path without links, or as it is if there is no such thing.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// works reports whether path lies in a working directory. One that is the whole machine is refused later.
func (s *Sandbox) works(path string) bool {
	return slices.ContainsFunc(s.config.Roots(), func(root string) bool {
		root = resolved(root)
		return root != filepath.Dir(root) && below(root, path)
	})
}

// tempBase returns a place for temporary files that lies in no working directory: what is ours there must
// not be written to from the inside.
func (s *Sandbox) tempBase() (string, error) {
	for _, base := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		base = resolved(base)
		if fsys.IsDir(base) && !s.works(base) {
			return base, nil
		}
	}
	return "", errors.New("every place for temporary files lies in a working directory: work in a directory below, or set TMPDIR")
}

func (s *Sandbox) makeTemp() (string, error) {
	base, err := s.tempBase()
	if err != nil {
		return "", err
	}
	sweep(base)
	dir, err := os.MkdirTemp(base, "adze-*")
	if err != nil {
		return "", fmt.Errorf("making the sandbox's temporary directory: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", fmt.Errorf("making the sandbox's temporary directory: %w", err)
	}
	s.mu.Lock()
	s.made = dir
	s.mu.Unlock()
	for _, name := range []string{tempName, ownName} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return "", fmt.Errorf("making the sandbox's temporary directory: %w", err)
		}
	}
	if err := claim(filepath.Join(dir, ownName)); err != nil {
		return "", fmt.Errorf("making the sandbox's temporary directory: %w", err)
	}
	return filepath.Join(dir, tempName), nil
}

const (
	tempName = "tmp" // what programs see as their temporary directory
	ownName  = "own" // what the sandbox keeps for itself
)

// own returns the directory for what programs do not see.
func (p *policy) own() string { return filepath.Join(filepath.Dir(p.temp), ownName) }

// helper returns the program that prepares the inside.
func (s *Sandbox) helper() (string, error) {
	if s.config.Helper != "" {
		return s.config.Helper, nil
	}
	return os.Executable()
}

// below reports whether path is dir or lies in it.
func below(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// A finding is a tier that works here.
type finding struct {
	tier    Tier
	detail  string   // what it is made of, for display
	lacks   []string // attempts that it does not promise to prevent
	better  error    // why no stronger tier is used; nil if there is none
	confine func(*Sandbox, *policy, *netAccess, Command) Command
}

// find returns the strongest tier that passes its tests.
func (s *Sandbox) find() (*finding, error) {
	var reasons []error
	for _, candidate := range candidates() {
		if s.config.Only != None && candidate.tier != s.config.Only {
			continue
		}
		f, err := candidate.look(s)
		if err == nil {
			err = s.selfTest(f)
		}
		if err == nil {
			f.better = errors.Join(reasons...)
			return f, nil
		}
		reasons = append(reasons, fmt.Errorf("%s: %w", candidate.tier, err))
	}
	if len(reasons) == 0 {
		return nil, errors.New("there is no sandbox for this system")
	}
	return nil, fmt.Errorf("no sandbox works here: %w", errors.Join(reasons...))
}

// A candidate is a tier to be looked for.
type candidate struct {
	tier Tier
	look func(*Sandbox) (*finding, error)
}
