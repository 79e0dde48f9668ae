package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// callsArg makes the test binary perform system calls that a sandbox forbids.
const callsArg = "__calls"

// makeCalls performs the calls and prints the ones not refused.
func makeCalls() int {
	made := 0
	try := func(name string, number uintptr, args ...uintptr) {
		args = append(args, make([]uintptr, 6)...)
		_, _, errno := unix.RawSyscall6(number, args[0], args[1], args[2], args[3], args[4], args[5])
		if made++; errno != unix.EPERM && errno != unix.ENOSYS {
			fmt.Println(name, errno)
		}
	}
	for _, number := range forbidden {
		try(fmt.Sprint("call ", number), uintptr(number))
	}
	for _, kind := range []uintptr{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC} {
		for family := range uintptr(46) {
			if family != unix.AF_INET && family != unix.AF_INET6 {
				try(fmt.Sprint("socket of family ", family), unix.SYS_SOCKET, family, kind)
			}
		}
	}
	var pair [2]int32
	for _, kind := range []uintptr{unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK, unix.SOCK_RDM} {
		try(fmt.Sprint("pair of kind ", kind), unix.SYS_SOCKETPAIR, unix.AF_UNIX, kind, 0, uintptr(unsafe.Pointer(&pair)))
	}
	for _, space := range []uintptr{unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWPID, unix.CLONE_NEWNET, unix.CLONE_NEWIPC, unix.CLONE_NEWUTS, unix.CLONE_NEWCGROUP} {
		try("clone", unix.SYS_CLONE, space|uintptr(unix.SIGCHLD))
	}
	try("clone3", unix.SYS_CLONE3)
	try("TIOCSTI", unix.SYS_IOCTL, 0, unix.TIOCSTI)
	try("TIOCSTI with high bits", unix.SYS_IOCTL, 0, unix.TIOCSTI|1<<32)
	try("TIOCLINUX", unix.SYS_IOCTL, 0, tiocLinux)
	try("mknod of a disk", unix.SYS_MKNODAT, ^uintptr(99), uintptr(unsafe.Pointer(&[]byte("disk\x00")[0])), unix.S_IFBLK|0o600, 0x800)
	fmt.Println("made", made)
	return 0
}

// TestForbiddenCalls checks that system calls that would escape a sandbox are refused inside
// it.
//
// Proves PERM-61.
func TestForbiddenCalls(t *testing.T) {
	for name, p := range map[string]*prison{
		"bubblewrap": newPrison(t, Bubblewrap, nil), "with a network": newPrison(t, Bubblewrap, networked), "landlock": newPrison(t, Landlock, nil),
	} {
		self, err := os.ReadFile("/proc/self/exe")
		if err == nil {
			err = os.WriteFile(filepath.Join(p.root, "calls"), self, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		out, _ := p.run(t, "./calls "+callsArg)
		if !strings.HasPrefix(out, "made ") || len(out) < len("made 200") {
			t.Errorf("%s: %s", name, out)
		}
		if _, err := os.Lstat(filepath.Join(p.root, "disk")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a device was made", name)
		}
	}
	unprivileged(t)
}
