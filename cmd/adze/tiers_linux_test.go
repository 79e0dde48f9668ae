package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"adze/internal/platform/sandbox/seccomp"
)

// runUnder runs a program under a system call filter, like containers and old kernels.
func runUnder(t *testing.T, f *seccomp.Filter, cmd *exec.Cmd) (printed string, err error) {
	t.Helper()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	started := make(chan error, 1)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the filter
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			err = f.Program().Apply(false)
		}
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		<-ended
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	return out.String(), err
}

// noNamespaces refuses namespaces, like most containers.
func noNamespaces() *seccomp.Filter {
	spaces := uint32(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET)
	return new(seccomp.Filter).Refuse(unix.SYS_UNSHARE, unix.SYS_MOUNT, unix.SYS_SETNS).
		Decide(unix.SYS_CLONE3, seccomp.Fail(unix.ENOSYS)).
		Test(unix.SYS_CLONE, seccomp.Has(seccomp.Arg0, spaces), seccomp.Fail(unix.EPERM), seccomp.Allow)
}

// noLandlock is like noNamespaces on a kernel without Landlock.
func noLandlock() *seccomp.Filter {
	return noNamespaces().Decide(unix.SYS_LANDLOCK_CREATE_RULESET, seccomp.Fail(unix.ENOSYS))
}

// TestTiers checks that a container without user namespaces gets the weaker sandbox tier, a
// kernel without Landlock gets none, and adze explains the consequences and keeps its
// guarantees in each case, as root and as another user.
//
// Proves PERM-60, PERM-63.
func TestTiers(t *testing.T) {
	const on = `{"sandbox":{"enabled":true}}`
	eachUser(t, func(t *testing.T, _ bool, change func(*exec.Cmd)) {
		outside := t.TempDir()
		if err := os.Chmod(outside, 0o777); err != nil {
			t.Fatal(err)
		}
		run := func(f *seccomp.Filter, args ...string) (string, error) {
			cmd := adze(t, t.TempDir(), "say Nothing.", args...)
			change(cmd)
			return runUnder(t, f, cmd)
		}
		status := []string{"sandbox", "status", "--settings", on}
		if got, err := run(noNamespaces(), status...); err != nil {
			t.Errorf("%v: %s", err, got)
		} else {
			for _, want := range []string{
				"\nsandbox     on\n", "\ntier        landlock: Landlock ", "a stronger tier does not work: bubblewrap: ", "as without a sandbox, because this tier cannot protect .git",
				"\nnetwork     none: ", "ok      change settings of the kernel", "ok      write outside", "open    create protected paths", "reading     commands that only read run without a question, in a jail",
			} {
				if !strings.Contains(got, want) {
					t.Errorf("without namespaces %q is not said:\n%s", want, got)
				}
			}
		}
		got, err := run(noLandlock(), status...)
		for _, want := range []string{"reading     no jail here: ", "sandbox     enabled, but not in force: no sandbox works here: bubblewrap: ", "landlock: the kernel has version 0 of Landlock, and 3 is needed"} {
			if !strings.Contains(got, want) {
				t.Errorf("without Landlock %q is not said:\n%s", want, got)
			}
		}
		if err == nil {
			t.Error("the status of no sandbox is a success")
		}
		if got, err := run(noLandlock(), "-p", "hi", "--settings", `{"sandbox":{"enabled":true,"failIfUnavailable":true}}`); err == nil || !strings.Contains(got, "the settings require a sandbox") {
			t.Errorf("a required sandbox: %v, %s", err, got)
		}
		// In a tier that protects too little, commands do not run without a prompt, and write
		// nothing outside.
		file := filepath.Join(outside, "file")
		for _, f := range []*seccomp.Filter{noNamespaces(), noLandlock()} {
			for _, command := range []string{`x=1; echo x > ` + file, `touch ` + file, `awk 'BEGIN { print > "` + file + `" }'`, `find . -fprint ` + file, `git -c core.pager='touch ` + file + `' log`} {
				if got, err := run(f, "tool", "--as-model", "--settings", on, "Bash", `{"command":"`+strings.ReplaceAll(command, `"`, `\"`)+`"}`); err == nil {
					t.Errorf("%s: %s", command, got)
				}
			}
			if got, err := run(f, "tool", "--as-model", "--settings", on, "Bash", `{"command":"echo here; pwd"}`); err != nil || !strings.Contains(got, "here") {
				t.Errorf("a read-only command: %v, %s", err, got)
			}
		}
		if got, err := run(noNamespaces(), "tool", "--settings", on, "Bash", `{"command":"x=1; echo x > `+file+`"}`); err == nil || !strings.Contains(got, "Permission denied") {
			t.Errorf("in the weaker tier: %v, %s", err, got)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("a file was written outside")
		}
	})
}
