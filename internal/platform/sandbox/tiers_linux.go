package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/platform/sandbox/landlock"
	"adze/internal/platform/sandbox/seccomp"
)

func candidates() []candidate {
	return []candidate{{Bubblewrap, lookBubblewrap}, {Landlock, lookLandlock}}
}

// A bubblewrap is an installed bwrap program and its filter.
type bubblewrap struct {
	path   string
	filter string // file with the system call filter
}

// lookBubblewrap looks for bwrap first in directories where only the administrator installs
// programs, since some systems allow only that one to create namespaces, and then in PATH.
func lookBubblewrap(s *Sandbox) (*detectedTier, error) {
	if !seccomp.Supported() {
		return nil, errors.New("seccomp is not supported on this processor")
	}
	b := &bubblewrap{}
	for _, name := range []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "bwrap"} {
		found, err := exec.LookPath(name)
		if err == nil && filepath.IsAbs(found) && !s.works(found) {
			b.path = found
			break
		}
	}
	if b.path == "" {
		return nil, errors.New("bubblewrap is not installed: install the package bubblewrap")
	}
	temp, err := s.temp()
	if err != nil {
		return nil, err
	}
	b.filter = filepath.Join((&policy{temp: temp}).private(), "filter")
	if err := os.WriteFile(b.filter, filter(true).Encode(), 0o600); err != nil {
		return nil, err
	}
	detail := "bubblewrap (" + b.path + "), seccomp"
	if v := landlock.Version(); v >= landlock.MinVersion {
		detail += fmt.Sprintf(", and Landlock %d for commands with a network", v)
	}
	return &detectedTier{tier: Bubblewrap, detail: detail, confine: b.confine}, nil
}

// confine returns the command that runs c inside. A command with network access is started by
// the helper, which opens the proxy's listener before the filter forbids it; otherwise
// bubblewrap does everything.
func (b *bubblewrap) confine(s *Sandbox, p *policy, net *netAccess, c Command) Command {
	inside, helper := append([]string{c.Path}, c.Args...), ""
	if net.socket != "" || c.try != nil || c.Reading != nil {
		var err error
		if helper, err = s.helper(); err != nil {
			return Command{err: err}
		}
		inside = b.helped(p, helper, c)
	}
	out := Command{Path: b.path, Dir: "/", Env: insideEnv(c.Env, p, net)}
	args := []string{"--new-session"}
	if c.try == nil { // a trial ends by itself; with --die-with-parent it would hang if we were killed during its start
		fd, err := out.reportLeader()
		if err != nil {
			return Command{err: err}
		}
		args = append(args, "--die-with-parent", "--info-fd", fd)
	}
	if c.Reading != nil {
		args = append(readingNamespaces(p, c.Reading), args...)
	} else {
		args = append(namespaces(p, net, helper), args...)
	}
	if net.socket == "" && c.Reading == nil {
		f, err := os.Open(b.filter)
		if err != nil {
			out.close()
			return Command{err: err}
		}
		args = append(args, "--seccomp", out.addFile(f))
	}
	if c.Dir != "" {
		args = append(args, "--chdir", c.Dir)
	}
	out.Args = append(append(args, "--"), inside...)
	return out
}

// reportLeader prepares c to report the leader of the processes inside, and to be terminated through
// it: the outer process would exit immediately and take everything with it. It returns the
// descriptor to report on.
func (c *Command) reportLeader() (string, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return "", err
	}
	c.ours = ours
	leader := sync.OnceValue(func() int {
		var leader struct {
			PID int `json:"child-pid"`
		}
		ours.SetReadDeadline(time.Now().Add(leaderTime)) // ok: the PID is reported first
		if err := json.NewDecoder(ours).Decode(&leader); err != nil || leader.PID <= 1 {
			return 0
		}
		return leader.PID
	})
	c.Terminate = func() bool { return leader() > 0 && unix.Kill(-leader(), unix.SIGTERM) == nil }
	c.kill = func() {
		if leader() > 0 {
			unix.Kill(leader(), unix.SIGKILL) // ok: may have ended; its processes end with it
		}
	}
	return c.addFile(theirs), nil
}

// addFile passes a file to the command and returns its descriptor there.
func (c *Command) addFile(f *os.File) string {
	c.Files = append(c.Files, f)
	return strconv.Itoa(2 + len(c.Files))
}

// leaderTime is how long a new command may take to report its leader.
const leaderTime = 200 * time.Millisecond

// helped returns the arguments of a command started by the helper.
func (b *bubblewrap) helped(p *policy, program string, c Command) []string {
	if c.Reading != nil { // the program is not covered by a mount, and the jail filters calls
		return append([]string{program, HelperArg, helperConfig{Reading: c.Reading}.encode(), c.Path}, c.Args...)
	}
	helper := []string{filepath.Join(insideDir, "adze"), HelperArg}
	if c.try != nil {
		return append(helper, helperConfig{Try: c.try}.encode())
	}
	m := helperConfig{
		Filter: true, Inet: true, Socket: filepath.Join(insideDir, "net"),
		Rules: &rules{Write: append([]string{p.temp, "/tmp", "/var/tmp", "/dev", "/proc"}, append(slices.Clone(p.roots), p.write...)...)},
	}
	return append(append(helper, m.encode(), c.Path), c.Args...)
}

func (m helperConfig) encode() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // only strings and numbers
	}
	return string(text)
}

// lookLandlock checks whether the kernel can confine programs without namespaces.
func lookLandlock(*Sandbox) (*detectedTier, error) {
	v := landlock.Version()
	if v < landlock.MinVersion {
		return nil, fmt.Errorf("the kernel has version %d of Landlock, and %d is needed", v, landlock.MinVersion)
	}
	if !seccomp.Supported() {
		return nil, errors.New("seccomp is not supported on this processor")
	}
	lacks := []string{tryGuarded, tryMetadata, tryAppear}
	if v < landlock.ScopeVersion {
		lacks = append(lacks, trySignal)
	}
	return &detectedTier{tier: Landlock, lacks: lacks, detail: fmt.Sprintf("Landlock %d, seccomp", v), confine: confineLandlock}, nil
}

func confineLandlock(s *Sandbox, p *policy, net *netAccess, c Command) Command {
	helper, err := s.helper()
	if err != nil {
		return Command{err: err}
	}
	reads, err := without(append(slices.Clone(p.hidden), p.private()))
	if err != nil {
		return Command{err: err}
	}
	writes := append([]string{p.temp, "/dev/null", "/dev/zero", "/dev/full", "/dev/shm"}, append(slices.Clone(p.roots), p.write...)...)
	m := helperConfig{Try: c.try, Filter: true, Rules: &rules{Write: writes, Read: reads, Refuse: true, Alone: true}}
	args := []string{HelperArg, m.encode()}
	if c.try == nil {
		args = append(args, c.Path)
	}
	return Command{Path: helper, Args: append(args, c.Args...), Dir: c.Dir, Env: insideEnv(c.Env, p, net)}
}
