package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"

	"adze/internal/platform/sandbox/seccomp"
)

// namespaceFlags are the clone flags that create namespaces.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// forbidden are calls that a confined program needs only to escape: into other processes, file
// systems or namespaces, or deep into the kernel.
var forbidden = [...]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT,
	sysOpenTreeAttr, unix.SYS_SETNS, unix.SYS_UNSHARE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_SYSLOG, unix.SYS_PERSONALITY,
}

const (
	sysOpenTreeAttr = 467 // missing in x/sys/unix
	tiocLinux       = 0x541c
)

// filter returns the seccomp program. If inet is true, it allows internet sockets, which are
// harmless in an empty network namespace; otherwise it allows no sockets.
func filter(inet bool) seccomp.Program {
	refuse := seccomp.Fail(unix.EPERM)
	f := new(seccomp.Filter).
		Refuse(forbidden[:]...).
		Decide(unix.SYS_CLONE3, seccomp.Fail(unix.ENOSYS)). // libc falls back to clone, whose flags a filter can inspect
		Test(unix.SYS_CLONE, seccomp.Has(seccomp.Arg0, namespaceFlags), refuse, seccomp.Allow).
		Test(unix.SYS_IOCTL, seccomp.OneOf(seccomp.Arg1, unix.TIOCSTI, tiocLinux), refuse, seccomp.Allow).
		// A connected socket pair reaches nothing else, except with datagram sockets, which can
		// send to any name.
		Test(unix.SYS_SOCKETPAIR, seccomp.Masked(seccomp.Arg1, 0xf, unix.SOCK_STREAM, unix.SOCK_SEQPACKET), seccomp.Allow, refuse)
	if !inet {
		return f.Refuse(unix.SYS_SOCKET).Program()
	}
	return f.Test(unix.SYS_SOCKET, seccomp.OneOf(seccomp.Arg0, unix.AF_INET, unix.AF_INET6), seccomp.Allow, refuse).Program()
}

// applyFilter applies the filter to all threads permanently.
func applyFilter(inet bool) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	return filter(inet).Apply(true)
}
