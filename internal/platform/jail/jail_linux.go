package jail

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"adze/internal/platform/landlock"
	"adze/internal/platform/seccomp"
)

// Check returns nil if the kernel enforces jails, and else what it lacks. It is found out once, by
// putting a thread into one.
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
		go func() { defer close(tried); try() }() // the first thread cannot be left behind
		<-tried
		runtime.UnlockOSThread()
	}
	go try()
	return <-entered
})

// Detail names what jails are made of here.
func Detail() string { return fmt.Sprintf("Landlock %d, seccomp", landlock.Version()) }

// Start starts the program of cmd in the jail: from a thread that is in it, and that ends with the goroutine
// since it is never unlocked.
func (p *Policy) Start(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go p.start(cmd, started)
	return <-started
}

// start starts cmd from a thread of its own that is not the first of the process: that one stands for the process, so
// that a jailed child could signal it, and does not end before the process does.
func (p *Policy) start(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		passed := make(chan error, 1)
		go p.start(cmd, passed) // on another thread, as this one is taken
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
		await(cmd.Process.Pid) // it is sent the signal when the thread ends that started it
	}
}

// await waits for the end of a process and leaves it to others to ask how it ended.
func await(pid int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Enter puts the calling thread, and what it starts or becomes, into the jail for good. The thread must be
// locked.
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
	f := closed()
	if p.Network {
		f = looking()
	}
	return f.Apply(false)
}

// Rights in the jail.
const (
	read    = landlock.Read | landlock.List
	handled = landlock.Execute | read | landlock.File | landlock.Device | landlock.Dir
)

// processPlaces show processes, mounts and devices. What belongs to a process alone, such as its
// environment, the kernel keeps from those in a jail.
var processPlaces = [...]string{"/proc", "/sys/devices", "/sys/class", "/sys/block", "/sys/dev", "/sys/bus", "/sys/fs/cgroup", "/run/udev", "/run/utmp"}

// rules returns the policy as rules about files.
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
		allow(read, "/proc") // it stands there below the number of the process
	}
	if err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}

// Warm computes the shared parts of all jails, which is slow the first time.
func Warm() {
	if Check() == nil {
		system()
	}
}

// system returns the places of [System] that are there, each once however many names it has.
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

// dropCaps gives up what a process of root may do beyond the rules for files, other than to read those of
// other users, which commands of root are expected to.
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
