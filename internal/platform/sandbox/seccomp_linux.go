package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the data that a filter is given: the number of the call, the architecture, and the lower
// halves of the arguments on a little-endian machine.
const (
	offNumber = 0
	offArch   = 4
	offArg0   = 16
	offArg1   = 24
)

const (
	allowCall = 0x7fff0000 // SECCOMP_RET_ALLOW
	killCall  = 0x80000000 // SECCOMP_RET_KILL_PROCESS
	failCall  = 0x00050000 // SECCOMP_RET_ERRNO
)

// newSpaces are the flags of clone that make namespaces.
const newSpaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// forbidden are calls that a confined program has no use for, other than to get out: into other
// processes, other file systems, other namespaces, or deep into the kernel.
var forbidden = [...]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_SETNS, unix.SYS_UNSHARE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP, unix.SYS_SYSLOG, unix.SYS_PERSONALITY,
}

func statement(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
}

const (
	loadWord   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	ifEqual    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	ifAtLeast  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	ifAny      = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	keepBits   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	returnThis = unix.BPF_RET | unix.BPF_K
	refuse     = failCall | uint32(unix.EPERM)
	absent     = failCall | uint32(unix.ENOSYS)
)

// filter returns the program that the kernel runs for each call. With inet, sockets of the internet may
// be made, which is harmless where there is no network; without it, none at all.
func filter(arch uint32, inet bool) []unix.SockFilter {
	f := []unix.SockFilter{
		statement(loadWord, offArch),
		jump(ifEqual, arch, 1, 0),
		statement(returnThis, killCall),
		statement(loadWord, offNumber),
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		f = append(f, jump(ifAtLeast, 0x40000000, 0, 1), statement(returnThis, killCall)) // the x32 calls
	}
	for _, number := range forbidden {
		f = append(f, jump(ifEqual, number, 0, 1), statement(returnThis, refuse))
	}
	// The C library falls back to clone, whose flags can be looked at.
	f = append(f, jump(ifEqual, unix.SYS_CLONE3, 0, 1), statement(returnThis, absent))
	f = append(f, when(unix.SYS_CLONE,
		statement(loadWord, offArg0), jump(ifAny, newSpaces, 0, 1), statement(returnThis, refuse))...)
	f = append(f, when(unix.SYS_IOCTL,
		statement(loadWord, offArg1),
		jump(ifEqual, unix.TIOCSTI, 1, 0), jump(ifEqual, tiocLinux, 0, 1), statement(returnThis, refuse))...)
	if inet {
		f = append(f, when(unix.SYS_SOCKET,
			statement(loadWord, offArg0),
			jump(ifEqual, unix.AF_INET, 2, 0), jump(ifEqual, unix.AF_INET6, 1, 0), statement(returnThis, refuse))...)
	} else {
		f = append(f, jump(ifEqual, unix.SYS_SOCKET, 0, 1), statement(returnThis, refuse))
	}
	// A pair of connected sockets leads nowhere else, unless it is one of datagrams, which can be sent
	// to any name.
	f = append(f, when(unix.SYS_SOCKETPAIR,
		statement(loadWord, offArg1), statement(keepBits, 0xf),
		jump(ifEqual, unix.SOCK_STREAM, 2, 0), jump(ifEqual, unix.SOCK_SEQPACKET, 1, 0), statement(returnThis, refuse))...)
	return append(f, statement(returnThis, allowCall))
}

const tiocLinux = 0x541c

// when returns a piece of program that is run for one call, and ends in letting it pass.
func when(number uint32, body ...unix.SockFilter) []unix.SockFilter {
	body = append(body, statement(returnThis, allowCall))
	return append([]unix.SockFilter{jump(ifEqual, number, 0, uint8(len(body)))}, body...)
}

// encodeFilter returns a program as the kernel has it in memory.
func encodeFilter(program []unix.SockFilter) []byte {
	var b []byte
	for _, f := range program {
		b = binary.LittleEndian.AppendUint16(b, f.Code)
		b = append(b, f.Jt, f.Jf)
		b = binary.LittleEndian.AppendUint32(b, f.K)
	}
	return b
}

// applyFilter puts all threads under the filter, for good.
func applyFilter(inet bool) error {
	if auditArch == 0 {
		return errors.New("seccomp is not supported on this processor")
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	program := filter(auditArch, inet)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("applying the filter of system calls: %w", errno)
	}
	return nil
}
