package sandbox

import (
	"adze/internal/platform/fs/fsys"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// An Attempt is an operation that was tried inside the sandbox.
type Attempt struct {
	Name     string `json:"name"`
	Held     bool   `json:"held"`     // the sandbox behaved as it should
	Promised bool   `json:"promised"` // the tier promises to prevent it
	Detail   string `json:"detail"`   // outcome
}

// A trial describes operations to try inside the sandbox.
type trial struct {
	Write    string   `json:"write"`   // writable directory
	Outside  []string `json:"outside"` // directories that are not writable
	Secrets  []string `json:"secrets"` // files that are not readable
	Guarded  []string `json:"guarded"` // names in Write that cannot be changed
	Absent   []string `json:"absent"`  // names in Write that are removed if they are created
	TCP      int      `json:"tcp"`     // local ports with a listener outside
	UDP      int      `json:"udp"`
	Unix     string   `json:"unix"` // sockets with a listener outside
	Abstract string   `json:"abstract"`
	PID      int      `json:"pid"` // process outside
}

// Names of the attempts.
const (
	tryWork      = "write in a working directory"
	tryOutside   = "write outside"
	trySecret    = "read a secret"
	tryGuarded   = "change protected paths"
	tryAppear    = "create protected paths"
	tryTCP       = "TCP"
	tryUDP       = "UDP"
	tryDNS       = "DNS"
	tryUnix      = "unix socket"
	tryAbstract  = "abstract unix socket"
	tryDatagram  = "pair of datagram sockets"
	tryNetlink   = "netlink socket"
	tryPtrace    = "ptrace"
	tryMount     = "mount"
	tryRemount   = "remount"
	tryNamespace = "new namespace"
	tryCaps      = "capabilities"
	tryKernel    = "change settings of the kernel"
	tryNewPrivs  = "new privileges (setuid)"
	trySignal    = "signal to a process outside"
	tryProcess   = "memory of a process outside"
	tryMetadata  = "change permissions outside"
)

// worked is the detail of an attempt that was not prevented.
const worked = "allowed"

// trialTimeout is the time limit for a trial, which never blocks.
const trialTimeout = 20 * time.Second

// Try tries the operations that the sandbox must prevent from inside it, with the actual
// working directories and an additional one.
func (s *Sandbox) Try(ctx context.Context) ([]Attempt, error) {
	found, err := s.probe()
	if err != nil {
		return nil, err
	}
	p, err := s.policy()
	if err != nil {
		return nil, err
	}
	return s.try(ctx, found, p)
}

// selfTest verifies that a tier keeps its promises, or reuses the result of a sandbox with the
// same Probe.
func (s *Sandbox) selfTest(f *detectedTier) error {
	temp, err := s.temp()
	if err != nil {
		return err
	}
	helper, err := s.helper()
	if err != nil {
		return err
	}
	key := probeKey{f.tier, f.detail, resolved(s.config.Home), helper}
	return s.config.Probe.result(key, func() error { return s.test(f, temp, key.home) })
}

func (s *Sandbox) test(f *detectedTier, temp, home string) error {
	attempts, err := s.try(context.Background(), f, &policy{temp: temp, home: home, hidden: secrets(home)})
	if err != nil {
		return err
	}
	var broken []string
	for _, a := range attempts {
		if a.Promised && !a.Held {
			broken = append(broken, fmt.Sprintf("%s (%s)", a.Name, a.Detail))
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("its self-test failed: %s", strings.Join(broken, ", "))
	}
	return nil
}

// try runs a trial under p, which it modifies.
func (s *Sandbox) try(ctx context.Context, f *detectedTier, p *policy) ([]Attempt, error) {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	stage, err := newStage(p)
	if err != nil {
		return nil, fmt.Errorf("preparing the self-test: %w", err)
	}
	defer stage.close()
	guard := sentry{quarantine: func() string { return filepath.Join(stage.dir, "taken") }}
	defer guard.close()
	post, err := guard.begin(p, f.tier)
	if err != nil {
		return nil, err
	}
	defer post.end()
	post.only(stage.Write)
	none := &netAccess{end: func() []string { return nil }}
	c := f.confine(s, p, none, Command{Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, try: &stage.trial})
	if c.err != nil {
		return nil, c.err
	}
	defer c.close()
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = c.Dir, c.Env, c.Files
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := s.trials.run(cmd); err != nil {
		text := strings.TrimSpace(complaints.String())
		return nil, errors.New(strings.TrimSpace("the self-test did not run: " + err.Error() + ": " + clipped(text)))
	}
	var attempts []Attempt
	if err := json.Unmarshal(out.Bytes(), &attempts); err != nil {
		return nil, fmt.Errorf("reading the self-test: %w", err)
	}
	post.end()
	for i := range attempts {
		a := &attempts[i]
		if a.Name == tryAppear {
			a.Held, a.Detail = stage.stayed()
		}
		a.Promised = !slices.Contains(f.lacks, a.Name)
		if a.Name == tryUDP && stage.reached() {
			a.Held, a.Detail = false, "a datagram came through"
		} else if a.Name == tryUDP && a.Detail == worked {
			a.Detail = "nothing came through"
		}
	}
	return attempts, nil
}

// A trialEnv is the environment of a trial outside the sandbox: a working directory, a secret and
// listeners.
type trialEnv struct {
	trial
	dir     string
	closers []func() error
	udp     net.PacketConn
}

func newStage(p *policy) (_ *trialEnv, err error) {
	s := &trialEnv{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.dir, err = os.MkdirTemp(p.private(), "t*"); err != nil {
		return nil, err
	}
	work, secret := filepath.Join(s.dir, "w"), filepath.Join(s.dir, "secret")
	for _, dir := range []string{work, secret, filepath.Join(work, ".git"), filepath.Join(s.dir, "outside")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	key := filepath.Join(secret, "key")
	if err := os.WriteFile(key, []byte("secret"), 0o600); err != nil {
		return nil, err
	}
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, tcp.Close)
	if s.udp, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.udp.Close)
	s.trial = trial{
		Write: work, Outside: []string{"/etc", "/", "/usr", "/var", filepath.Join(s.dir, "outside")}, Secrets: []string{key},
		Guarded: []string{".git", ".git/hooks"}, Absent: []string{".adze", ".claude", ".vscode", ".mcp.json", ".npmrc", "HEAD"},
		TCP: tcp.Addr().(*net.TCPAddr).Port, UDP: s.udp.LocalAddr().(*net.UDPAddr).Port, PID: os.Getpid(),
	}
	if !below("/tmp", p.home) && !below("/var/tmp", p.home) { // different directories inside
		s.Outside = append(s.Outside, p.home)
	}
	s.Outside = slices.DeleteFunc(s.Outside, func(dir string) bool {
		return slices.ContainsFunc(append(p.roots, p.write...), func(root string) bool { return below(root, dir) })
	})
	if s.Unix, err = s.listen(filepath.Join(work, "s")); err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		if s.Abstract, err = s.listen("@" + s.dir); err != nil {
			return nil, err
		}
	}
	for _, path := range p.hidden {
		if file := someFile(path); file != "" {
			s.Secrets = append(s.Secrets, file)
		}
	}
	p.roots = append(p.roots, work)
	slices.Sort(p.roots)
	p.hidden = append(slices.DeleteFunc(p.hidden, func(path string) bool { return path == p.private() }), secret)
	return s, nil
}

func (s *trialEnv) listen(name string) (string, error) {
	l, err := net.Listen("unix", name)
	if err != nil {
		return "", err
	}
	s.closers = append(s.closers, l.Close)
	return name, nil
}

// someFile returns path, or a file in it.
func someFile(path string) string {
	if !fsys.IsDir(path) {
		return path
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			return filepath.Join(path, e.Name())
		}
	}
	return ""
}

// reached reports whether a datagram has arrived.
func (s *trialEnv) reached() bool {
	s.udp.SetReadDeadline(time.Now().Add(time.Millisecond)) // ok: without a deadline the test would hang, not give a wrong result
	n, _, err := s.udp.ReadFrom(make([]byte, 16))
	return err == nil && n > 0
}

// stayed reports whether none of the names that must be removed exists.
func (s *trialEnv) stayed() (held bool, detail string) {
	for _, name := range s.Absent {
		if _, err := os.Lstat(filepath.Join(s.Write, name)); err == nil {
			return false, name + " stayed"
		}
	}
	return true, "it did not stay"
}

func (s *trialEnv) close() {
	for _, f := range s.closers {
		f() // ok: best effort
	}
	if s.dir != "" {
		os.RemoveAll(s.dir) // ok: temporary directory
	}
}
