package jail

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"adze/internal/platform/sandbox/landlock"
	"adze/internal/platform/sandbox/seccomp"
)

// Check returns nil if the kernel can enforce jails, or an error with the reason it cannot. It
// checks once, by jailing a thread.
func Check() error { return check() }

var check = sync.OnceValue(func() error {
	if !seccomp.Supported() {
		return errors.New("seccomp is not supported on this processor")
	}
	entered := make(chan error, 1)
	var try func()
	try = func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			entered <- (&Policy{}).Enter()
			return
		}
		tried := make(chan struct{})
		go func() { defer close(tried); try() }() // the process's first thread cannot be discarded
		<-tried
		runtime.UnlockOSThread()
	}
	go try()
	return <-entered
})

// Detail names the mechanisms that enforce jails on this system.
func Detail() string { return fmt.Sprintf("Landlock %d, seccomp", landlock.Version()) }

// Start starts cmd in the jail. It does so from a jailed thread that ends with its goroutine,
// since it is never unlocked.
func (p *Policy) Start(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go p.start(cmd, started)
	return <-started
}

// start starts cmd from a dedicated thread that is not the process's first. The first thread
// represents the process: a jailed child could signal it, and it lives as long as the process.
func (p *Policy) start(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		passed := make(chan error, 1)
		go p.start(cmd, passed) // use another thread; this one is the first
		started <- <-passed
		runtime.UnlockOSThread()
		return
	}
	err := p.Enter()
	if err == nil {
		err = cmd.Start()
	}
	started <- err
	if err == nil && cmd.SysProcAttr != nil && cmd.SysProcAttr.Pdeathsig != 0 {
		await(cmd.Process.Pid) // keep the thread: its end would send the child its parent-death signal
	}
}

// await waits for a process to end without reaping it.
func await(pid int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Enter permanently puts the calling thread, and everything it starts or executes, into the
// jail. The thread must be locked.
func (p *Policy) Enter() error {
	rules, err := p.rules()
	if err != nil {
		return err
	}
	defer rules.Close()
	if err := rules.Restrict(); err != nil {
		return err
	}
	if err := dropCaps(); err != nil {
		return err
	}
	f := baseFilter()
	if p.Network {
		f = networkFilter()
	}
	return f.Apply(false)
}

// Rights granted in a jail.
const (
	read    = landlock.Read | landlock.List
	handled = landlock.Execute | read | landlock.File | landlock.Device | landlock.Dir
)

// processPlaces show processes, mounts and devices. The kernel hides a process's private data,
// such as its environment, from jailed processes.
var processPlaces = [...]string{"/proc", "/sys/devices", "/sys/class", "/sys/block", "/sys/dev", "/sys/bus", "/sys/fs/cgroup", "/run/udev", "/run/utmp"}

// rules returns the policy as Landlock rules.
func (p *Policy) rules() (*landlock.Ruleset, error) {
	set, err := landlock.New(landlock.Options{Handled: handled, NoTCP: true, Scoped: true})
	if err != nil {
		return nil, err
	}
	whole, listed := p.readable()
	allow := func(rights landlock.Rights, places ...string) {
		for _, place := range places {
			if err == nil {
				err = set.Allow(place, rights)
			}
		}
	}
	allowReal := func(rights landlock.Rights, places ...string) {
		for _, place := range places {
			if err == nil {
				err = set.AllowReal(place, rights)
			}
		}
	}
	allow(read, system()...)
	allow(read|landlock.File|landlock.Device, "/dev/null")
	allow(read, whole...)
	allow(landlock.List, listed...)
	allowReal(read, p.Real...)
	allowReal(landlock.List, p.List...)
	allow(landlock.Read|landlock.Execute, p.Execute...)
	if p.Processes {
		allow(read, processPlaces[:]...)
	}
	if p.Network {
		allow(read, "/proc") // /proc/net is inside the process directory
	}
	if err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}

// Warm precomputes the parts shared by all jails, which is slow the first time.
func Warm() {
	if Check() == nil {
		system()
	}
}

// system returns the existing places of [System], deduplicated by target.
var system = sync.OnceValue(func() []string {
	var there []string
	for _, place := range System() {
		real, err := filepath.EvalSymlinks(place)
		if err == nil && !covered(real, there) {
			there = append(there, real)
		}
	}
	return there
})

func covered(path string, places []string) bool {
	for _, place := range places {
		if within(path, place) {
			return true
		}
	}
	return false
}

// dropCaps drops root's capabilities beyond file rules, except reading other users' files,
// which commands run by root are expected to do.
func dropCaps() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return fmt.Errorf("looking at capabilities: %w", err)
	}
	const readAll = 1 << unix.CAP_DAC_READ_SEARCH
	kept := [2]unix.CapUserData{{Effective: have[0].Effective & readAll, Permitted: have[0].Permitted & readAll}}
	if err := unix.Capset(&header, &kept[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}
