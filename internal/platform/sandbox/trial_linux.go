package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// system tries system-specific operations.
func (t *trial) system(blocked func(name string, err error)) {
	blocked(tryDNS, lookUpInside())
	blocked(tryAbstract, connectUnix(t.Abstract))
	blocked(tryDatagram, datagramPair())
	blocked(tryNetlink, netlink())
	blocked(tryPtrace, unix.PtraceSeize(os.Getppid()))
	blocked(tryMount, unix.Mount("none", t.Write, "tmpfs", 0, ""))
	blocked(tryRemount, unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	blocked(tryNamespace, unix.Unshare(unix.CLONE_NEWNS|unix.CLONE_NEWUSER))
	blocked(tryCaps, noCaps())
	blocked(tryNewPrivs, noNewPrivs())
	blocked(tryKernel, firstSuccess(kernelSettings[:], writable))
	blocked(tryProcess, readable(fmt.Sprintf("/proc/%d/environ", t.PID)))
}

// kernelSettings are files through which root changes the kernel globally, even without
// capabilities. Not all of them exist on every machine.
var kernelSettings = [...]string{
	"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/fs/lease-break-time", "/proc/sys/vm/drop_caches",
	"/proc/sysrq-trigger", "/proc/mtrr", "/proc/irq/default_smp_affinity", "/sys/kernel/uevent_helper", "/sys/kernel/profiling",
	"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs", "/sys/fs/cgroup/memory/cgroup.procs",
}

// writable opens a file for writing, without writing to it.
func writable(path string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd) // ok: should not be open
	}
	return err
}

func netlink() error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd) // ok: creating it is enough
	}
	return err
}

// lookUpInside sends a datagram to a name server that any networked machine can route to.
func lookUpInside() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: 53, Addr: [4]byte{192, 0, 2, 53}})
}

func datagramPair() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(pair[0]) // ok: creating them is enough
		unix.Close(pair[1]) // ok: creating them is enough
	}
	return err
}

// noCaps returns an error if the process has no capabilities, the desired outcome. An
// unprivileged program never has any.
func noCaps() error {
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if set, ok := strings.CutPrefix(line, "CapEff:"); ok && strings.Trim(strings.TrimSpace(set), "0") != "" {
			return nil
		}
	}
	return errors.New("there are none")
}

func noNewPrivs() error {
	if on, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || on == 1 {
		return errors.New("programs get none")
	}
	return nil
}
