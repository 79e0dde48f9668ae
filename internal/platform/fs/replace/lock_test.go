//go:build linux || darwin

package replace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/lockfile"
)

// Set in the child processes that tests start: their role and directories.
const (
	envRole  = "REPLACE_TEST_ROLE"
	envRoot  = "REPLACE_TEST_ROOT"
	envLocks = "REPLACE_TEST_LOCKS"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(envRole); role != "" {
		if err := play(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play runs in the child process.
func play(role string) error {
	dir, err := os.Open(os.Getenv(envRoot))
	if err != nil {
		return err
	}
	r := New(os.Getenv(envLocks))
	switch role {
	case "count":
		for range 25 {
			if err := increment(r, dir); err != nil {
				return err
			}
		}
		return nil
	case "hold":
		if _, err := r.Lock(context.Background(), dir, "f"); err != nil {
			return err
		}
		fmt.Println("locked")
		_, err := os.Stdin.Read(make([]byte, 1)) // wait until the test ends
		return err
	case "flip":
		for i := 0; ; i++ {
			if err := flip(r, dir); err != nil {
				return err
			}
			fmt.Println(i)
		}
	}
	return errors.New("unknown role " + role)
}

func (p *place) child(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role, envRoot+"="+p.root, envLocks+"="+p.locks.dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// change applies edit to the content of f.
func change(r *Replacer, dir *os.File, edit func([]byte) []byte) error {
	f, err := r.Lock(context.Background(), dir, "f")
	if err != nil {
		return err
	}
	defer f.Unlock()
	v, err := f.Read(maxSize)
	if err != nil {
		return err
	}
	defer v.Close()
	_, err = f.Replace(v, [][]byte{edit(v.Data)})
	return err
}

func increment(r *Replacer, dir *os.File) error {
	return change(r, dir, func(data []byte) []byte {
		n, _ := strconv.Atoi(string(data))
		return []byte(strconv.Itoa(n + 1))
	})
}

// contents returns the two contents a file alternates between. They differ in length and in
// every byte.
func contents() [2][]byte {
	return [2][]byte{bytes.Repeat([]byte("old."), 12<<10), bytes.Repeat([]byte("NEW!!"), 20<<10)}
}

func flip(r *Replacer, dir *os.File) error {
	both := contents()
	return change(r, dir, func(data []byte) []byte {
		if data[0] == both[0][0] {
			return both[1]
		}
		return both[0]
	})
}

// Proves EDIT-09.
func TestNoUpdateIsLost(t *testing.T) {
	p := newPlace(t, "0")
	var wg sync.WaitGroup
	const calls, children = 50, 3
	for range calls {
		wg.Go(func() {
			if err := increment(p.Replacer, p.dir); err != nil {
				t.Error(err)
			}
		})
	}
	for range children {
		cmd := p.child("count")
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, want := p.content("f"), strconv.Itoa(calls+25*children); got != want {
		t.Errorf("%s updates landed, of %s", got, want)
	}
	if len(p.locks.held) != 0 {
		t.Errorf("%d locks are held", len(p.locks.held))
	}
	if len(p.names()) != 1 {
		t.Errorf("files left behind: %v", p.names())
	}
}

// Proves EDIT-09.
func TestLockIsWaitedFor(t *testing.T) {
	p := newPlace(t, "old")
	if p.locks.wait != 10*time.Second {
		t.Errorf("a lock is waited for %v", p.locks.wait)
	}
	held := p.lock("f")
	other := New(p.locks.dir) // simulates another process
	released := make(chan time.Time, 1)
	go func() {
		time.Sleep(50 * time.Millisecond)
		released <- time.Now()
		held.Unlock()
	}()
	f, err := other.Lock(t.Context(), p.dir, "f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Unlock()
	if got := time.Now(); got.Before(<-released) {
		t.Error("the lock was had by two")
	}
}

// Proves EDIT-09.
func TestLockNamesItsHolder(t *testing.T) {
	p := newPlace(t, "x")
	p.locks.wait = 50 * time.Millisecond
	held := p.lock("f")
	_, err := p.Lock(t.Context(), p.dir, "F") // the same file, because case is folded
	if err == nil || !strings.Contains(err.Error(), "another call of this session") {
		t.Errorf("held by this process: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Lock(ctx, p.dir, "f"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	held.Unlock()

	cmd := p.child("hold")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_, err = p.Lock(t.Context(), p.dir, "f")
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d", cmd.Process.Pid)) {
		t.Errorf("held by another process: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil { // killing it releases its lock
		t.Fatal(err)
	}
	stdin.Close()
	cmd.Wait() // ok: it was killed
	p.lock("f").Unlock()
}

// TestLockProgress checks that a call is told each time another process gets the lock, so that its
// patience starts again.
//
// Proves EDIT-09.
func TestLockProgress(t *testing.T) {
	l := &New(t.TempDir()).locks
	path := filepath.Join(l.dir, "aa")
	holder, err := lockfile.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	changes, acquired := make(chan string), make(chan error)
	go func() {
		unlock, err := l.acquireFile(t.Context(), "aaaa", func() { changes <- lockfile.Holder(path) })
		if err == nil {
			unlock()
		}
		acquired <- err
	}()
	for _, name := range []string{"", "next", "last"} {
		if name != "" {
			if _, err := holder.WriteAt([]byte(name), 0); err != nil {
				t.Fatal(err)
			}
		}
		if got := <-changes; !strings.HasPrefix(got, name) {
			t.Errorf("holder %q, want %q", got, name)
		}
	}
	holder.Close()
	if err := <-acquired; err != nil {
		t.Error(err)
	}
}

func TestLockIsOfTheFileWhateverThePath(t *testing.T) {
	p := newPlace(t, "x")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.root, link); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(link)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	held := p.lock("f")
	defer held.Unlock()
	p.locks.wait = 20 * time.Millisecond
	if _, err := p.Lock(t.Context(), dir, "f"); err == nil {
		t.Error("locked twice")
	}
	name := "g"
	for held.dir.key(name)[:bucket] == held.dir.key("f")[:bucket] { // files in the same bucket wait for each other
		name += "g"
	}
	if other, err := p.Lock(t.Context(), dir, name); err != nil {
		t.Error(err)
	} else {
		other.Unlock()
	}
}

// TestLocksOfOneProcessDoNotCollide checks that a call that changes a second file while it
// holds the first does not deadlock, even if both share a lock file, and that another process
// waits for both.
//
// Proves EDIT-09.
func TestLocksOfOneProcessDoNotCollide(t *testing.T) {
	p := newPlace(t, "x")
	p.locks.wait = 50 * time.Millisecond
	first := p.lock("f")
	name := "g"
	for first.dir.key(name)[:bucket] != first.dir.key("f")[:bucket] {
		name += "g"
	}
	second := p.lock(name)
	other := New(p.locks.dir) // simulates another process
	other.locks.wait = p.locks.wait
	for range 2 {
		if _, err := other.Lock(t.Context(), p.dir, "f"); err == nil {
			t.Fatal("the lock was had by two")
		}
		first.Unlock()
		first = second
	}
	f, err := other.Lock(t.Context(), p.dir, "f")
	if err != nil {
		t.Fatal(err)
	}
	f.Unlock()
	if len(p.locks.files) != 0 {
		t.Errorf("%d lock files are held", len(p.locks.files))
	}
}

// Proves EDIT-10.
func TestKilledWritersLeaveOldOrNew(t *testing.T) {
	p := newPlace(t, "")
	both := contents()
	if err := os.WriteFile(p.path("f"), both[0], 0o644); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		data, err := os.ReadFile(p.path("f"))
		if err != nil || !bytes.Equal(data, both[0]) && !bytes.Equal(data, both[1]) {
			t.Fatalf("a third content of %d bytes, %v", len(data), err)
		}
	}
	for writes, kills := 0, 0; writes < 1000; kills++ {
		cmd := p.child("flip")
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64)
		for range 10 + kills%17*5 { // the killed writer has finished some writes or is in the middle of one
			if _, err := stdout.Read(buf); err != nil {
				t.Fatal(err)
			}
			writes++
			check()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() // ok: it was killed
		check()
	}
	left := p.names()
	age(t, p, left[:len(left)-1]) // all but f
	f := New(p.locks.dir)
	if err := flip(f, p.dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"f"}, p.names()); diff != "" {
		t.Errorf("still there, of %d files left behind: %s", len(left)-1, diff)
	}
}

// age makes files old enough to count as abandoned.
func age(t *testing.T, p *place, names []string) {
	t.Helper()
	then := time.Now().Add(-2 * tempAge)
	for _, name := range names {
		if err := os.Chtimes(p.path(name), then, then); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLeavings checks that files left by a killed process are removed, but not files that
// another process is using or that someone else created.
//
// Proves EDIT-10.
func TestLeavings(t *testing.T) {
	p := newPlace(t, "old")
	abandoned, held, young := tempName(), tempName(), tempName()
	others := []string{".adze-notes.tmp", ".adze-" + strings.Repeat("a", 26) + ".tmp", "x" + abandoned}
	for _, name := range append(others, abandoned, held, young) {
		p.write(name, "x")
	}
	dir := tempName()
	if err := os.Mkdir(p.path(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	age(t, p, append(others, abandoned, held, dir))
	live, err := os.Open(p.path(held))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if err := lockfile.Lock(live); err != nil {
		t.Fatal(err)
	}
	if _, err := p.replace("new", nil); err != nil {
		t.Fatal(err)
	}
	want := append(others, held, young, dir, "f")
	slices.Sort(want)
	if diff := cmp.Diff(want, p.names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
