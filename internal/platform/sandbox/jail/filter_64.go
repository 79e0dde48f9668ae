//go:build linux && (amd64 || arm64)

package jail

import (
	"sync"

	"golang.org/x/sys/unix"

	"adze/internal/platform/sandbox/landlock"
	"adze/internal/platform/sandbox/seccomp"
)

// Landlock covers opening files and directories. The filter covers the rest: file attributes,
// sockets, other processes, and ways around both.

// refusedCalls are calls that a read-only program does not need.
var refusedCalls = [...]uint32{
	// file attributes
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	sysSetxattrat, sysRemovexattrat, sysFileSetattr,
	// other processes and memory shared with them
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL,
	unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGCTL, unix.SYS_MSGSND, unix.SYS_MSGRCV,
	unix.SYS_SEMGET, unix.SYS_SEMCTL, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	// programs without a file and files without a name
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_OPEN_BY_HANDLE_AT,
	// kernel interfaces that bypass the filter
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	// file events and file handles, which Landlock does not restrict to the readable places
	unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_NAME_TO_HANDLE_AT,
	// system administration
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS, unix.SYS_UNSHARE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_SYSLOG, unix.SYS_PERSONALITY,
}

// Calls and ioctls that x/sys/unix does not define yet.
const (
	sysSetxattrat    = 463
	sysRemovexattrat = 466
	sysFileSetattr   = 469

	fsGetVersion = 0x80087601
	fsGetXattr   = 0x801c581f

	ioprioProcess = 1

	fionclex = 0x5450
	fioclex  = 0x5451
	fionbio  = 0x5421
)

// namespaceFlags are the clone flags that create namespaces.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// queryIoctls are ioctls that only query terminals, pipes and sizes.
var queryIoctls = [...]uint32{
	unix.TCGETS, unix.TCGETS2, unix.TIOCGWINSZ, unix.TIOCGPGRP, unix.TIOCGSID, unix.TIOCINQ, fionbio, fioclex, fionclex,
	unix.FS_IOC_GETFLAGS, fsGetVersion, fsGetXattr, unix.BLKGETSIZE64, unix.BLKSSZGET, unix.BLKGETSIZE, unix.BLKROGET,
}

// signalCalls are refused before Linux 6.12, where Landlock cannot scope signals and they would
// reach any of the user's processes: a filter cannot know the ID of a process that has not
// started yet. A program then cannot kill its own children; its time limit ends them.
var signalCalls = [...]uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO}

// baseFilter is the filter for a jail without network information, looking for a jail with it.
var (
	baseFilter    = sync.OnceValue(func() seccomp.Program { return filter(false) })
	networkFilter = sync.OnceValue(func() seccomp.Program { return filter(true) })
)

func filter(network bool) seccomp.Program {
	refuse := seccomp.Fail(unix.EPERM)
	f := new(seccomp.Filter).
		Refuse(refusedCalls[:]...).
		Refuse(oldCalls[:]...).
		Decide(unix.SYS_CLONE3, seccomp.Fail(unix.ENOSYS)). // libc falls back to clone, whose flags a filter can inspect
		Test(unix.SYS_CLONE, seccomp.Has(seccomp.Arg0, namespaceFlags), refuse, seccomp.Allow).
		Test(unix.SYS_IOCTL, seccomp.OneOf(seccomp.Arg1, queryIoctls[:]...), seccomp.Allow, seccomp.Fail(unix.ENOTTY)).
		// Process 0 is the caller: it may set its own limits and priority.
		Test(unix.SYS_PRLIMIT64, seccomp.OneOf(seccomp.Arg0, 0), seccomp.Allow, refuse).
		All(unix.SYS_SETPRIORITY, map[seccomp.Arg]uint32{seccomp.Arg0: unix.PRIO_PROCESS, seccomp.Arg1: 0}, seccomp.Allow, refuse).
		All(unix.SYS_IOPRIO_SET, map[seccomp.Arg]uint32{seccomp.Arg0: ioprioProcess, seccomp.Arg1: 0}, seccomp.Allow, refuse).
		Test(unix.SYS_SCHED_SETAFFINITY, seccomp.OneOf(seccomp.Arg0, 0), seccomp.Allow, refuse).
		Test(unix.SYS_SCHED_SETSCHEDULER, seccomp.OneOf(seccomp.Arg0, 0), seccomp.Allow, refuse).
		Test(unix.SYS_SCHED_SETPARAM, seccomp.OneOf(seccomp.Arg0, 0), seccomp.Allow, refuse).
		Test(unix.SYS_SCHED_SETATTR, seccomp.OneOf(seccomp.Arg0, 0), seccomp.Allow, refuse).
		// A connected socket pair reaches nothing else, except with datagram sockets.
		Test(unix.SYS_SOCKETPAIR, seccomp.Masked(seccomp.Arg1, 0xf, unix.SOCK_STREAM, unix.SOCK_SEQPACKET), seccomp.Allow, refuse)
	if landlock.Version() < landlock.ScopeVersion {
		f.Refuse(signalCalls[:]...)
	}
	if !network {
		return f.Refuse(unix.SYS_SOCKET).Program()
	}
	// Netlink answers queries about sockets and interfaces. Without privileges it cannot change
	// them.
	return f.Test(unix.SYS_SOCKET, seccomp.OneOf(seccomp.Arg0, unix.AF_NETLINK), seccomp.Allow, refuse).Program()
}
