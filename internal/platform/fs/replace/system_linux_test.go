package replace

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func setAttribute(path, name, value string) bool {
	return unix.Setxattr(path, name, []byte(value), 0) == nil
}

func getAttribute(path, name string) string {
	buf := make([]byte, 100)
	n, err := unix.Getxattr(path, name, buf)
	if err != nil {
		return err.Error()
	}
	return string(buf[:n])
}

// TestReplaceInALockedDirectory runs as a user who may write to the file, but not to its
// directory.
//
// Proves EDIT-10.
func TestReplaceInALockedDirectory(t *testing.T) {
	p := newPlace(t, "old")
	p.locks.dir = t.TempDir()
	if os.Getuid() == 0 { // root may write anywhere, so this thread switches to another user
		for _, path := range []string{p.path("f"), p.locks.dir} {
			if err := os.Chown(path, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		// Only root has access to the parent directories.
		if err := os.Chmod(parent(p.locks.dir), 0o755); err != nil {
			t.Fatal(err)
		}
		unix.SetfsuidRetUid(65534)
		defer unix.SetfsuidRetUid(0)
	} else {
		if err := os.Chmod(p.root, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(p.root, 0o755)
	}
	out, err := p.replace("new", nil)
	if err != nil || out.InPlace == nil || !strings.Contains(out.InPlace.Error(), "permission denied") {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	data := make([]byte, 10)
	f, err := p.lock("f").dir.open("f", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, _ := f.Read(data); string(data[:n]) != "new" {
		t.Errorf("content %q", data[:n])
	}
}

func parent(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// TestNoNameUntilComplete checks that the new file has no name, which a killed process could
// leave behind, while its content is written and synced.
//
// Proves EDIT-10.
func TestNoNameUntilComplete(t *testing.T) {
	p := newPlace(t, "old")
	seen := map[string]int{}
	p.fault = func(step string) error {
		seen[step] = len(p.names())
		return nil
	}
	if _, err := p.replace("new", nil); err != nil {
		t.Fatal(err)
	}
	f := p.lock("fresh")
	defer f.Unlock()
	for _, step := range []string{"temp", "write", "attributes", "sync", "check"} {
		if seen[step] != 1 {
			t.Errorf("%d names at step %q", seen[step], step)
		}
	}
	if _, err := f.Create([][]byte{[]byte("x")}, 0o644); err != nil {
		t.Fatal(err)
	}
	if seen["rename"] != 1 {
		t.Errorf("%d names just before a new file gets its own", seen["rename"])
	}
	if err := p.WriteFile(p.path("f"), []byte("newer"), 0o644); err != nil { // done by rewind (D14)
		t.Fatal(err)
	}
	if seen["sync"] != 2 {
		t.Errorf("%d names of two files during a write", seen["sync"])
	}
}

// TestFileWithoutSize checks that a file in /proc, which has content but no size, cannot be
// replaced.
func TestFileWithoutSize(t *testing.T) {
	p := newPlace(t, "")
	dir, err := os.Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	f, err := p.Lock(t.Context(), dir, "version")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Unlock()
	if _, err := f.Read(maxSize); !errors.Is(err, ErrSpecial) {
		t.Errorf("error %v", err)
	}
}

// TestReadOnlyFile checks that a read-only file in a writable directory is not modified.
func TestReadOnlyFile(t *testing.T) {
	p := newPlace(t, "old")
	if err := os.Chmod(p.path("f"), 0o444); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // root may write anywhere, so this thread switches to another user
		if err := os.Chmod(p.root, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(parent(p.root), 0o755); err != nil {
			t.Fatal(err)
		}
		p.locks.dir = t.TempDir()
		if err := os.Chown(p.locks.dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		unix.SetfsuidRetUid(65534)
		defer unix.SetfsuidRetUid(0)
	}
	if _, err := p.replace("new", nil); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "mode -r--r--r--") {
		t.Errorf("error %v", err)
	}
	if p.content("f") != "old" {
		t.Error("it was changed")
	}
}

// TestNoInheritedAccessList checks that a file without an access control list does not inherit
// the directory's default list.
//
// Proves EDIT-10.
func TestNoInheritedAccessList(t *testing.T) {
	p := newPlace(t, "old")
	// user::rwx user:1234:rw- group::r-x mask::rwx other::---, as the default list.
	list := []byte("\x02\x00\x00\x00" + "\x01\x00\x07\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\xd2\x04\x00\x00" +
		"\x04\x00\x05\x00\xff\xff\xff\xff" + "\x10\x00\x07\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff")
	err := os.Chmod(p.path("f"), 0o640)
	if err == nil {
		err = unix.Setxattr(p.root, "system.posix_acl_default", list, 0)
	}
	if errors.Is(err, unix.ENOTSUP) {
		t.Log("no access control lists here")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.replace("new", nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(p.path("f"))
	if n, bad := unix.Getxattr(p.path("f"), accessList, nil); n > 0 || !errors.Is(bad, unix.ENODATA) || err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("a list of %d bytes, %v; %v, %v", n, bad, info, err)
	}
	// The file's own list is preserved.
	own := append([]byte(nil), list...)
	own[14] = 4
	if err := unix.Setxattr(p.path("f"), accessList, own, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := p.replace("newer", nil); err != nil || getAttribute(p.path("f"), accessList) != string(own) {
		t.Errorf("%v, %q", err, getAttribute(p.path("f"), accessList))
	}
}
