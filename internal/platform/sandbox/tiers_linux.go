package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func candidates() []candidate {
	return []candidate{{Bubblewrap, lookBubblewrap}, {Landlock, lookLandlock}}
}

// A bubblewrap is the program, as it was found, and what goes with it.
type bubblewrap struct {
	path   string
	filter string   // a file with the filter of system calls that it applies
	heed   []string // begins a command that is to heed being terminated, see [shield]; none means that it cannot
}

// lookBubblewrap looks for the program where only the administrator installs programs, since the rules
// of some systems let only that one make namespaces, and then on the PATH.
func lookBubblewrap(s *Sandbox) (*finding, error) {
	if auditArch == 0 {
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
	if heed := []string{"/usr/bin/env", "--default-signal=TERM"}; exec.Command(heed[0], heed[1], "true").Run() == nil {
		b.heed = heed
	}
	b.filter = filepath.Join((&policy{temp: temp}).own(), "filter")
	if err := os.WriteFile(b.filter, encodeFilter(filter(auditArch, true)), 0o600); err != nil {
		return nil, err
	}
	detail := "bubblewrap (" + b.path + "), seccomp"
	if v := landlockVersion(); v >= leastLandlock {
		detail += fmt.Sprintf(", and Landlock %d for commands with a network", v)
	}
	return &finding{tier: Bubblewrap, detail: detail, confine: b.confine}, nil
}

// Pieces of the shell script that starts bubblewrap. The shield makes it ignore being terminated: the
// group is terminated to let the command end in its own time, and what is around it is to stay until
// then. The filter is at hand as descriptor 9.
const (
	shield  = `trap "" TERM; `
	filter9 = `exec 9<"$1"; `
	start   = `ulimit -c 0; shift; exec "$@"`
)

// confine returns the command that runs c inside. A command with a network is begun by the helper, which
// opens the way to it before the filter forbids that; for others bubblewrap does all there is to do.
func (b *bubblewrap) confine(s *Sandbox, p *policy, net *netAccess, c Command) Command {
	inside, helper, script := append([]string{c.Path}, c.Args...), "", shield
	switch {
	case net.socket != "" || c.try != nil:
		var err error
		if helper, err = s.helper(); err != nil {
			return Command{err: err}
		}
		inside = b.helped(p, c)
	case b.heed == nil:
		script = ""
	default:
		inside = append(slices.Clone(b.heed), inside...)
	}
	args := namespaces(p, net, helper)
	if net.socket == "" {
		script += filter9
		args = append(args, "--seccomp", "9")
	}
	if c.Dir != "" {
		args = append(args, "--chdir", c.Dir)
	}
	args = append(append(args, "--"), inside...)
	return Command{Path: "/bin/sh", Args: append([]string{"-c", script + start, "sh", b.filter, b.path}, args...), Dir: "/", Env: insideEnv(c.Env, p, net)}
}

// helped returns what runs inside if the helper begins it.
func (b *bubblewrap) helped(p *policy, c Command) []string {
	helper := []string{filepath.Join(insideDir, "adze"), HelperArg}
	if c.try != nil {
		return append(helper, mission{Try: c.try}.encode())
	}
	m := mission{
		Filter: true, Inet: true, Socket: filepath.Join(insideDir, "net"),
		Rules: &rules{Write: append([]string{p.temp, "/tmp", "/var/tmp", "/dev", "/proc"}, append(slices.Clone(p.roots), p.write...)...)},
	}
	return append(append(helper, m.encode(), c.Path), c.Args...)
}

func (m mission) encode() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(text)
}

// lookLandlock looks for a kernel that can do without namespaces.
func lookLandlock(*Sandbox) (*finding, error) {
	v := landlockVersion()
	if v < leastLandlock {
		return nil, fmt.Errorf("the kernel has version %d of Landlock, and %d is needed", v, leastLandlock)
	}
	if auditArch == 0 {
		return nil, errors.New("seccomp is not supported on this processor")
	}
	lacks := []string{tryGuarded, tryMetadata}
	if v < landlockScope {
		lacks = append(lacks, trySignal)
	}
	return &finding{tier: Landlock, lacks: lacks, detail: fmt.Sprintf("Landlock %d, seccomp", v), confine: confineLandlock}, nil
}

func confineLandlock(s *Sandbox, p *policy, net *netAccess, c Command) Command {
	helper, err := s.helper()
	if err != nil {
		return Command{err: err}
	}
	reads, err := without(append(slices.Clone(p.hidden), p.own()))
	if err != nil {
		return Command{err: err}
	}
	writes := append([]string{p.temp, "/dev/null", "/dev/zero", "/dev/full", "/dev/shm"}, append(slices.Clone(p.roots), p.write...)...)
	m := mission{Try: c.try, Filter: true, Rules: &rules{Write: writes, Read: reads, Refuse: true, Alone: true}}
	args := []string{HelperArg, m.encode()}
	if c.try == nil {
		args = append(args, c.Path)
	}
	return Command{Path: helper, Args: append(args, c.Args...), Dir: c.Dir, Env: insideEnv(c.Env, p, net)}
}
