package jail

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Most programs make no use of the calls that the filter refuses, so that the test is the program.

const tryVariable = "ADZE_JAIL_TRY"

func TestMain(m *testing.M) {
	if name := os.Getenv(tryVariable); name != "" {
		outer, err := strconv.Atoi(os.Getenv("OUTER"))
		if err == nil {
			err = attempts[name](outer)
		}
		fmt.Println(err)
		return
	}
	os.Exit(m.Run())
}

// call makes a system call.
func call(number uintptr, args ...uintptr) error {
	args = append(args, make([]uintptr, 6)...)
	if _, _, errno := unix.Syscall6(number, args[0], args[1], args[2], args[3], args[4], args[5]); errno != 0 {
		return errno
	}
	return nil
}

// attempts are calls that do something without a jail, given another process of the user.
var attempts = map[string]func(outer int) error{
	"attribute": func(int) error { return unix.Setxattr("file", "user.a", []byte("b"), 0) },
	"mode of an open file": func(int) error {
		f, err := os.Open("file")
		if err != nil {
			return nil
		}
		return f.Chmod(0o600)
	},
	"flags of an open file": func(int) error {
		f, err := os.Open("file")
		if err != nil {
			return nil
		}
		flags := uint32(0x40) // no dump
		return call(unix.SYS_IOCTL, f.Fd(), unix.FS_IOC_SETFLAGS, uintptr(unsafe.Pointer(&flags)))
	},
	"program without a file": func(int) error { _, err := unix.MemfdCreate("x", 0); return err },
	"ring": func(int) error {
		var params [120]byte
		return call(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)))
	},
	"debugger":      func(outer int) error { return unix.PtraceSeize(outer) },
	"shared memory": func(int) error { return call(unix.SYS_SHMGET, 0, 4096, 0o1600) },
	"message queue": func(int) error { return call(unix.SYS_MSGGET, 0, 0o1600) },
	"limit": func(outer int) error {
		return unix.Prlimit(outer, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}, nil)
	},
	"affinity":        func(outer int) error { var s unix.CPUSet; s.Set(0); return unix.SchedSetaffinity(outer, &s) },
	"signal by file":  func(outer int) error { return signalByFile(outer) },
	"local socket":    func(int) error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"internet socket": func(int) error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0); return err },
	"kernel socket":   func(int) error { _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE); return err },
	"pair":            func(int) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0); return err },
	"namespaces":      func(int) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"key":             func(int) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err },
	"probe": func(int) error {
		fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, 1, 0, 0)
		if errno != 0 {
			return errno
		}
		return unix.Close(int(fd))
	},
}

func signalByFile(outer int) error {
	fd, err := unix.PidfdOpen(outer, 0)
	if err != nil {
		return nil
	}
	return unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
}

func TestCalls(t *testing.T) {
	dir, _ := workspace(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("OUTER", strconv.Itoa(os.Getppid()))
	for _, name := range slices.Sorted(maps.Keys(attempts)) {
		t.Setenv(tryVariable, name)
		got, _ := run(t, dir, Policy{Execute: []string{self}}, "", self)
		if !strings.HasSuffix(got, "operation not permitted\n") && got != "inappropriate ioctl for device\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
