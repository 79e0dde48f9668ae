package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Proves FPRM-03.
func TestResolveDoubtsWhatItMayNotRead(t *testing.T) {
	root := tree(t, "locked/dir/file")
	if err := os.Chmod(filepath.Join(root, "locked"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(root, "locked"), 0o755) })
	if os.Getuid() == 0 { // root may read everything, so this thread switches to another user
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		unix.SetfsuidRetUid(65534)
		defer unix.SetfsuidRetUid(0)
	}
	s, err := Base{Dir: root}.Resolve("locked/dir/file")
	if err != nil || !errors.Is(s.ResolveErr, fs.ErrPermission) || s.Info != nil {
		t.Errorf("doubt %v, found %v, error %v", s.ResolveErr, s.Info, err)
	}
	if _, err := s.Open(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("opened with doubt: %v", err)
	}
}
