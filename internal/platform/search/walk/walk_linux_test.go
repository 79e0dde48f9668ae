package walk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/search/walk"
)

// TestSpecialFiles would block forever if it opened one.
func TestSpecialFiles(t *testing.T) {
	root := fill(t, t.TempDir(), "a", "sub/b")
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".ignore", "sub/.rgignore"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	t.Chdir(root) // a socket path must be short
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: "socket"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "sub/b"}, list(t, walk.Options{Root: root, Ignore: true, Hidden: true})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := walk.List(t.Context(), walk.Options{Root: filepath.Join(root, "fifo")}, nil); err == nil {
		t.Error("a fifo was walked")
	}
	_, err = walk.Walk(t.Context(), walk.Options{Root: root}, func(_ int, b *walk.Batch) error {
		os.Remove(b.Files[0].Path())
		if err := syscall.Mkfifo(b.Files[0].Path(), 0o644); err != nil {
			return err
		}
		if f, err := b.Open(b.Files[0]); err == nil {
			f.Close()
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDeletedWorkingDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	fill(t, dir, "a")
	t.Chdir(dir)
	t.Setenv("PWD", "")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := walk.List(t.Context(), walk.Options{Root: "."}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestVanishingRoot removes the root during the walk.
//
// Proves ENG-01.
func TestVanishingRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "r")
	for i := range 50 {
		fill(t, root, fmt.Sprintf("d%d/a", i))
	}
	stats, err := walk.Walk(t.Context(), walk.Options{Root: root, Workers: 1}, func(int, *walk.Batch) error {
		return os.RemoveAll(root)
	})
	if err != nil || stats.Files == 0 || stats.Files == 50 || stats.Skipped != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// asNobody drops root privileges, with which everything is readable.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	if err := syscall.Setreuid(-1, 65534); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setreuid(-1, 0); err != nil {
			t.Fatal(err)
		}
	})
}

// Proves ENG-07.
func TestUnreadable(t *testing.T) {
	root := fill(t, t.TempDir(), "a", "closed/b", "open/c", "open/closed/d")
	for dir := root; dir != "/"; dir = filepath.Dir(dir) {
		if strings.HasPrefix(filepath.Base(dir), "Test") || dir == root {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, dir := range []string{"closed", "open/closed"} {
		path := filepath.Join(root, dir)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o755) })
	}
	asNobody(t)
	stats, err := walk.Walk(t.Context(), walk.Options{Root: root}, func(int, *walk.Batch) error { return nil })
	if diff := cmp.Diff(walk.Stats{Files: 2, Dirs: 2, Skipped: 2}, stats); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := walk.Walk(t.Context(), walk.Options{Root: filepath.Join(root, "closed")}, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
}

// perLevel is the number of files and directories that deep creates on each level.
const perLevel = 3

// deep creates a chain of directories, each with a file and two directories in addition to the
// next one, so that in any reading order there is work left on each level.
func deep(t *testing.T, depth int, name string) string {
	t.Helper()
	top := t.TempDir()
	dir, err := os.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		for _, n := range []string{"before", name, "side"} {
			if err := dir.Mkdir(n, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range []string{"file", "before/file", "side/file"} {
			if err := dir.WriteFile(n, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		next, err := dir.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		dir.Close()
		dir = next
	}
	dir.Close()
	return top
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestFewDescriptors gives the walk so few descriptors that it must use one worker and close
// directories that it will need again.
//
// Proves ENG-07.
func TestFewDescriptors(t *testing.T) {
	const depth = 60
	root := deep(t, depth, "d")
	write(t, filepath.Join(root, "d/d/d/.ignore"), "nothing\n")
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	before := openFiles(t)
	for spare, workers := range map[uint64]int{6: 1, 8: 1, 9: 4, 16: 4, 40: 2} {
		t.Run(fmt.Sprintf("%d for %d", spare, workers), func(t *testing.T) {
			few := limit
			few.Cur = highest(t) + spare
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
				t.Fatal(err)
			}
			stats, err := walk.Walk(t.Context(), walk.Options{Root: root, Workers: workers, Ignore: true}, func(int, *walk.Batch) error { return nil })
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(walk.Stats{Files: perLevel * depth, Dirs: perLevel*depth + 1}, stats); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d before", after, before)
	}
}

// TestStoppedWalkClosesAll stops walks that have much work left.
func TestStoppedWalkClosesAll(t *testing.T) {
	root := deep(t, 50, "d")
	before := openFiles(t)
	mine := errors.New("enough")
	for calls := range int32(20) {
		var n atomic.Int32
		_, err := walk.Walk(t.Context(), walk.Options{Root: root, Workers: 2}, func(int, *walk.Batch) error {
			if n.Add(1) > calls {
				return mine
			}
			return nil
		})
		if err != mine {
			t.Errorf("error %v", err)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d before", after, before)
	}
}

// highest returns the descriptor that would be opened next.
func highest(t *testing.T) uint64 {
	fd, err := syscall.Open("/", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(fd)
	return uint64(fd)
}

// TestNoDescriptors checks that an unreadable tree below the root is reported.
func TestNoDescriptors(t *testing.T) {
	root := fill(t, t.TempDir(), "a", "d/b")
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = highest(t) + 1
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	stats, err := walk.Walk(t.Context(), walk.Options{Root: root}, func(int, *walk.Batch) error { return nil })
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(walk.Stats{Files: 1, Dirs: 1, Skipped: 1, Partial: true}, stats); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
