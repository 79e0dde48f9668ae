// Package sandbox confines programs with operating system mechanisms: it restricts the files
// they may write and read, and the hosts they may reach. It reports which restrictions it can
// enforce and verifies them with self-tests.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/sandbox/jail"
)

// A Tier is a confinement mechanism. Higher values are stronger.
type Tier uint8

// Tiers.
const (
	None       Tier = iota
	Landlock        // Landlock and seccomp, without namespaces
	Bubblewrap      // bubblewrap namespaces with seccomp, and Landlock if available
	Seatbelt        // macOS sandbox-exec
)

func (t Tier) String() string {
	return [...]string{"none", "landlock", "bubblewrap", "seatbelt"}[t]
}

// Protects reports whether the tier keeps protected names in writable directories from being
// changed. Only then can confinement replace a prompt.
func (t Tier) Protects() bool { return t == Bubblewrap || t == Seatbelt }

// Config configures a Sandbox. All paths are absolute.
type Config struct {
	// Roots returns the directories that programs may write to, except for protected names at
	// their top.
	Roots func() []string
	// Home is the user's home directory, whose secret directories are hidden. It may be empty.
	Home string
	// Write, ReadOnly and Hidden return further writable, read-only and hidden paths. Nil means
	// none. If one returns an error, nothing runs.
	Write, ReadOnly, Hidden func() ([]string, error)
	// Own are adze's own directories. They are read-only, except for Roots and Write inside
	// them. If one is missing in a writable place, it is created, because only existing
	// directories can be protected.
	Own []string
	// Network configures the hosts that may be reached.
	Network Network
	// Helper is a program that calls [Help] with the arguments after its first, which is
	// [HelperArg]; empty means this program.
	Helper string
	// Only, if not None, is the only tier to use, for testing it.
	Only Tier
	// Quarantine is the directory for files that appear under protected names while commands
	// run; empty means a directory that is removed with the sandbox. Appeared, if non-nil, is
	// called for each of them.
	Quarantine string
	Appeared   func(Stray)
	// Probe, if non-nil, shares self-test results with other sandboxes.
	Probe *Probe
}

// A Command is a program to run.
type Command struct {
	Path string
	Args []string // excluding the program name
	Dir  string
	Env  []string
	// Files are further open files, from descriptor 3 on; [Confined.End] closes them.
	Files []*os.File
	// Reading, if non-nil, marks a read-only command: it runs in that jail inside the sandbox,
	// without write access or network. Paths that the sandbox hides stay hidden.
	Reading *jail.Policy
	// Start, if non-nil, starts the command; otherwise exec.Cmd.Start is used.
	Start func(*exec.Cmd) error
	// Terminate asks the processes inside to exit, once, and reports whether it succeeded. If
	// nil, the caller should signal the process group.
	Terminate func() bool

	ours *os.File // our end of a pipe in Files, or nil
	kill func()   // kills all processes inside; nil if impossible
	try  *trial   // runs instead of the command
	err  error    // reason it could not be confined
}

// A Sandbox confines programs. It can run any number of them concurrently.
type Sandbox struct {
	config Config
	probe  func() (*detectedTier, error)
	temp   func() (string, error)
	sentry sentry

	mu     sync.Mutex
	made   string // directory created by temp, to be removed
	proxy  *proxy
	trials trials
}

// New returns a sandbox. It does nothing until first use.
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

// Tier returns the strongest tier that passes its self-test, or an error if none does. The
// result is cached.
func (s *Sandbox) Tier() (Tier, error) {
	f, err := s.probe()
	if err != nil {
		return None, err
	}
	return f.tier, nil
}

// Temp returns the temporary directory of confined programs. It has the same path inside and
// outside.
func (s *Sandbox) Temp() (string, error) { return s.temp() }

// Close releases the sandbox's resources. No program may be running in it.
func (s *Sandbox) Close() {
	s.trials.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proxy != nil {
		s.proxy.close()
	}
	s.sentry.close()
	if s.made != "" {
		os.RemoveAll(s.made) // ok: temporary directory
	}
}

// close closes the files of a command that has been started or will not be.
func (c *Command) close() {
	for _, f := range append(c.Files, c.ours) {
		if f != nil {
			f.Close() // ok: nothing was written
		}
	}
}

// A Confined is a command prepared to run in the sandbox.
type Confined struct {
	Command
	// Contained is true if nothing it starts outlives it or this process.
	Contained bool
	// End must be called when the command has ended or will not be run. Printed is its output,
	// or the end of it. End returns the limits the command ran into, as a block for the model,
	// and a description of the effects that were undone; both may be empty.
	End func(printed string) (limits, undone string)
}

// Wrap confines a command. If it fails, the command must not be run.
func (s *Sandbox) Wrap(ctx context.Context, c Command) (*Confined, error) {
	found, err := s.probe()
	if err != nil {
		return nil, err
	}
	return s.wrap(ctx, found, c)
}

func (s *Sandbox) wrap(ctx context.Context, found *detectedTier, c Command) (*Confined, error) {
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
		c.Dir = resolved(c.Dir) // a link to it may not exist inside
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

// quarantine returns the directory for files that appear under protected names.
func (s *Sandbox) quarantine() string {
	if s.config.Quarantine != "" {
		return s.config.Quarantine
	}
	temp, err := s.temp()
	if err != nil {
		return "" // no command runs in that case
	}
	return filepath.Join((&policy{temp: temp}).private(), "quarantine")
}

// wrapReading confines a read-only command. It needs no cleanup, since the command leaves
// nothing behind.
func (s *Sandbox) wrapReading(found *detectedTier, p *policy, c Command) (*Confined, error) {
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

// A policy holds one command's restrictions, with all paths resolved.
type policy struct {
	roots    []string // parents first
	write    []string
	own      []string // read-only, except for roots and write below
	readOnly []string
	hidden   []string
	home     string
	temp     string
	absent   []string        // paths in readOnly that do not exist
	guards   []protectedName // existing protected names; a root's follow its parent's
}

// policy computes the restrictions of the next command.
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
	for _, dir := range s.config.Own {
		real, err := p.keep(dir)
		if err != nil {
			return nil, err
		}
		p.own = append(p.own, real)
	}
	p.hidden = append(p.hidden, secrets(p.home)...)
	if own := p.private(); slices.ContainsFunc(append(p.roots, p.write...), func(dir string) bool { return below(dir, own) }) {
		p.hidden = append(p.hidden, own) // directory added later
	}
	for _, list := range []*[]string{&p.write, &p.own, &p.readOnly, &p.hidden} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return p, nil
}

// keep returns one of adze's own directories with links resolved, and creates it if a program
// could. It fails if a program could replace a link on the way.
func (p *policy) keep(dir string) (string, error) {
	writable := func(path string) bool {
		return slices.ContainsFunc(slices.Concat(p.roots, p.write), func(place string) bool { return below(place, path) })
	}
	real := filepath.VolumeName(dir) + string(filepath.Separator)
	for name := range strings.SplitSeq(strings.Trim(dir[len(real)-1:], string(filepath.Separator)), string(filepath.Separator)) {
		next := filepath.Join(real, name)
		info, err := os.Lstat(next)
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			if writable(next) {
				return "", &linkError{next}
			}
			next, err = filepath.EvalSymlinks(next)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if next == "" { // a link to nowhere
			next = filepath.Join(real, name)
		}
		real = next
	}
	if writable(real) {
		return real, fsys.MkdirPrivate(real)
	}
	return real, nil
}

// resolved returns path with links resolved, or unchanged if it does not exist.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// works reports whether path is in a working directory. A root directory as working directory
// is rejected later.
func (s *Sandbox) works(path string) bool {
	return slices.ContainsFunc(s.config.Roots(), func(root string) bool {
		root = resolved(root)
		return root != filepath.Dir(root) && below(root, path)
	})
}

// tempBase returns a directory for temporary files outside all working directories: the
// sandbox's own files there must not be writable from inside.
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
	tempName = "tmp" // temporary directory of confined programs
	ownName  = "own" // directory for the sandbox's own files
)

// private returns the directory for files that programs cannot see.
func (p *policy) private() string { return filepath.Join(filepath.Dir(p.temp), ownName) }

// helper returns the program that completes the setup inside.
func (s *Sandbox) helper() (string, error) {
	if s.config.Helper != "" {
		return s.config.Helper, nil
	}
	return os.Executable()
}

// below reports whether path is dir or inside it.
func below(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// A detectedTier is a tier that works on this system.
type detectedTier struct {
	tier    Tier
	detail  string   // mechanisms that it uses, for display
	lacks   []string // attempts that it does not promise to prevent
	better  error    // reason no stronger tier is used; nil if none is stronger
	confine func(*Sandbox, *policy, *netAccess, Command) Command
}

// find returns the strongest tier that passes its self-test.
func (s *Sandbox) find() (*detectedTier, error) {
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
		return nil, errors.New("no sandbox for this system")
	}
	return nil, fmt.Errorf("no sandbox works here: %w", errors.Join(reasons...))
}

// A candidate is a tier to check for.
type candidate struct {
	tier Tier
	look func(*Sandbox) (*detectedTier, error)
}
