package replace

import (
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

// As somebody who may write the file, but not to its directory.
//
// Proves EDIT-10.
func TestReplaceInALockedDirectory(t *testing.T) {
	p := newPlace(t, "old")
	p.locks.dir = t.TempDir()
	if os.Getuid() == 0 { // to whom no directory is locked: this thread goes on as somebody else
		for _, path := range []string{p.path("f"), p.locks.dir} {
			if err := os.Chown(path, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		// The directories above belong to root alone.
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
