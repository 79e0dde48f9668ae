package jail

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Few programs make the calls that the filter refuses, so the test binary makes them itself.

const tryVariable = "ADZE_JAIL_TRY"

// Keep the process's first thread on the main goroutine, for [TestFirstThread].
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	if os.Getenv("ADZE_JAIL_FIRST") != "" {
		fmt.Println(startOnFirst())
		return
	}
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

// startOnFirst starts a program from the first thread and returns how that thread is confined.
func startOnFirst() (string, error) {
	started := make(chan error, 1)
	cmd := exec.Command("/bin/true")
	(&Policy{Read: []string{"/"}, Execute: []string{"/bin", "/usr", "/lib", "/lib64"}}).start(cmd, started)
	if err := <-started; err != nil {
		return "", err
	}
	if err := cmd.Wait(); err != nil {
		return "", err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", os.Getpid()))
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Seccomp:") {
			return strings.Fields(line)[1], err
		}
	}
	return "", err
}

// TestFirstThread checks that the process's first thread never enters a jail.
func TestFirstThread(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "ADZE_JAIL_FIRST=1")
	out, err := cmd.CombinedOutput()
	status, _ := os.ReadFile("/proc/self/status")
	want := "0"
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Seccomp:") {
			want = strings.Fields(line)[1]
		}
	}
	if got := strings.TrimSpace(string(out)); err != nil || got != want+" <nil>" {
		t.Errorf("%q, %v; want %s", got, err, want)
	}
}

func call(number uintptr, args ...uintptr) error {
	args = append(args, make([]uintptr, 6)...)
	if _, _, errno := unix.Syscall6(number, args[0], args[1], args[2], args[3], args[4], args[5]); errno != 0 {
		return errno
	}
	return nil
}

// attempts are calls that succeed outside a jail, given another of the user's processes.
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
	"affinity":                     func(outer int) error { var s unix.CPUSet; s.Set(0); return unix.SchedSetaffinity(outer, &s) },
	"priority of the user":         func(int) error { return unix.Setpriority(unix.PRIO_USER, 0, 5) },
	"priority of the group":        func(int) error { return unix.Setpriority(unix.PRIO_PGRP, 0, 5) },
	"priority of another":          func(outer int) error { return unix.Setpriority(unix.PRIO_PROCESS, outer, 5) },
	"disk priority of the user":    func(int) error { return call(unix.SYS_IOPRIO_SET, 3, 0, 2<<13|5) },
	"disk priority of the group":   func(int) error { return call(unix.SYS_IOPRIO_SET, 2, 0, 2<<13|5) },
	"disk priority of another":     func(outer int) error { return call(unix.SYS_IOPRIO_SET, 1, uintptr(outer), 2<<13|5) },
	"events of files":              func(int) error { _, err := unix.InotifyInit1(0); return err },
	"handle of a file":             func(int) error { _, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/", 0); return err },
	"signal to a thread of others": func(outer int) error { return unix.Tgkill(outer, outer, unix.SIGCONT) },
	"signal by file":               func(outer int) error { return signalByFile(outer) },
	"local socket":                 func(int) error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"internet socket":              func(int) error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0); return err },
	"kernel socket":                func(int) error { _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE); return err },
	"pair":                         func(int) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0); return err },
	"namespaces":                   func(int) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"key":                          func(int) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err },
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
