//go:build linux || darwin

package replace

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const maxSize = 1 << 30

// A place is a directory with one file in it.
type place struct {
	*Replacer
	t    testing.TB
	root string
	dir  *os.File
}

func newPlace(t testing.TB, content string) *place {
	t.Helper()
	p := &place{t: t, root: t.TempDir(), Replacer: New(filepath.Join(t.TempDir(), "locks"))}
	dir, err := os.Open(p.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	p.dir = dir
	p.write("f", content)
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.root, name) }

func (p *place) write(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(p.path(name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) content(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// names lists the directory and the lock directory, without lock files.
func (p *place) names() []string {
	var names []string
	for _, dir := range []string{p.root, p.locks.dir} {
		entries, _ := os.ReadDir(dir) // ok: the lock directory may not exist yet
		for _, e := range entries {
			if dir == p.root || len(e.Name()) > bucket {
				names = append(names, e.Name())
			}
		}
	}
	return names
}

func (p *place) lock(name string) *File {
	p.t.Helper()
	f, err := p.Lock(p.t.Context(), p.dir, name)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// replace reads f, calls the given function and then replaces the content.
func (p *place) replace(content string, meanwhile func()) (Outcome, error) {
	p.t.Helper()
	f := p.lock("f")
	defer f.Unlock()
	v, err := f.Read(maxSize)
	if err != nil {
		return Outcome{}, err
	}
	defer v.Close()
	if meanwhile != nil {
		meanwhile()
	}
	half := len(content) / 2
	return f.Replace(v, [][]byte{[]byte(content[:half]), []byte(content[half:])})
}

// Proves EDIT-10.
func TestReplaceKeepsWhatIsNotContent(t *testing.T) {
	p := newPlace(t, "old")
	if err := os.Chmod(p.path("f"), 0o767); err != nil { // a mode that no usual umask preserves
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(p.path("f"), 65534, 65533); err != nil {
			t.Fatal(err)
		}
	}
	hasAttributes := setAttribute(p.path("f"), "user.colour", "blue")
	before, err := os.Stat(p.path("f"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.replace("new content", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.content("f"); got != "new content" {
		t.Errorf("content %q", got)
	}
	after, err := os.Stat(p.path("f"))
	if err != nil {
		t.Fatal(err)
	}
	type properties struct {
		Mode     fs.FileMode
		UID, GID uint32
	}
	of := func(info fs.FileInfo) properties {
		st := info.Sys().(*syscall.Stat_t)
		return properties{info.Mode(), st.Uid, st.Gid}
	}
	if diff := cmp.Diff(of(before), of(after)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if hasAttributes {
		if got := getAttribute(p.path("f"), "user.colour"); got != "blue" {
			t.Errorf("extended attribute %q", got)
		}
	}
	if os.SameFile(before, after) {
		t.Error("the file was not replaced but rewritten")
	}
	if !os.SameFile(out.Info, after) || sum(t, out) != sha256.Sum256([]byte("new content")) || out.InPlace != nil || out.Unsynced != nil {
		t.Errorf("outcome %+v", out)
	}
	if diff := cmp.Diff([]string{"f"}, p.names()); diff != "" {
		t.Errorf("files left behind: %s", diff)
	}
}

func sum(t *testing.T, out Outcome) [sha256.Size]byte {
	t.Helper()
	if out.Hash == nil {
		t.Error("the outcome has no hash")
		return [sha256.Size]byte{}
	}
	sum, err := out.Hash()
	if err != nil {
		t.Error(err)
	}
	return sum
}

// TestReplaceIsFlushed checks that the content is synced before the rename, and the directory
// afterwards.
//
// Proves EDIT-10.
func TestReplaceIsFlushed(t *testing.T) {
	p := newPlace(t, "old")
	var synced []string
	p.fsync = func(f *os.File) error {
		what := "content " + p.content("f")
		if info, err := f.Stat(); err != nil || info.IsDir() {
			what = "directory " + p.content("f")
		}
		synced = append(synced, what)
		return f.Sync()
	}
	if _, err := p.replace("new", nil); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteFile(p.path("f"), []byte("newer"), 0o640); err != nil {
		t.Fatal(err)
	}
	f := p.lock("g")
	defer f.Unlock()
	if _, err := f.Create([][]byte{[]byte("x")}, 0o644); err != nil {
		t.Fatal(err)
	}
	want := []string{"content old", "directory new", "content new", "directory newer", "content newer", "directory newer"}
	if diff := cmp.Diff(want, synced); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(p.path("f")); err != nil || info.Mode() != 0o640 || p.content("f") != "newer" {
		t.Errorf("%v, %v, %q", info.Mode(), err, p.content("f"))
	}
}

// Proves EDIT-10.
func TestReplaceSeparatesHardLinks(t *testing.T) {
	p := newPlace(t, "old")
	if err := os.Link(p.path("f"), p.path("other")); err != nil {
		t.Fatal(err)
	}
	out, err := p.replace("new", nil)
	if err != nil || out.Links != 1 {
		t.Errorf("%d other links, %v", out.Links, err)
	}
	if p.content("f") != "new" || p.content("other") != "old" {
		t.Errorf("f %q, other %q", p.content("f"), p.content("other"))
	}
}

// Proves EDIT-02, EDIT-09.
func TestReplaceLeavesOthersChanges(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	tests := []struct {
		name      string
		size      int
		meanwhile func(*place)
		want      string // content afterwards
	}{
		{"written to", 3, func(p *place) { p.write("f", "theirs") }, "theirs"},
		{"one byte, size and times as before", 3, func(p *place) {
			info, _ := os.Stat(p.path("f"))
			p.write("f", "xyz")
			os.Chtimes(p.path("f"), info.ModTime(), info.ModTime())
		}, "xyz"},
		{"one byte of a large file, size and times as before", 3 << 20, func(p *place) {
			info, _ := os.Stat(p.path("f"))
			p.write("f", "xyz"+p.content("f")[3:])
			os.Chtimes(p.path("f"), info.ModTime(), info.ModTime())
		}, "xyz" + strings.Repeat("a", 3<<20-3)},
		{"replaced by the same", 3, func(p *place) {
			p.write("g", "aaa")
			os.Rename(p.path("g"), p.path("f"))
		}, "aaa"},
		{"removed", 3, func(p *place) { os.Remove(p.path("f")) }, ""},
		{"now a link", 3, func(p *place) {
			p.write("g", "aaa")
			os.Remove(p.path("f"))
			os.Symlink("g", p.path("f"))
		}, "aaa"},
		{"now a directory", 3, func(p *place) {
			os.Remove(p.path("f"))
			os.Mkdir(p.path("f"), 0o755)
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t, strings.Repeat("a", tt.size))
			if err := os.Chtimes(p.path("f"), old, old); err != nil {
				t.Fatal(err)
			}
			if _, err := p.replace("ours", func() { tt.meanwhile(p) }); !errors.Is(err, ErrChanged) {
				t.Fatalf("error %v", err)
			}
			if got, _ := os.ReadFile(p.path("f")); string(got) != tt.want {
				t.Errorf("content %.40q", got)
			}
			for _, name := range p.names() {
				if strings.Contains(name, "adze") {
					t.Errorf("%s was left behind", name)
				}
			}
		})
	}
}

// Proves WRITE-04.
func TestCreateDoesNotReplace(t *testing.T) {
	p := newPlace(t, "theirs")
	f := p.lock("f")
	if _, err := f.Create([][]byte{[]byte("ours")}, 0o644); !errors.Is(err, ErrExists) {
		t.Errorf("error %v", err)
	}
	f.Unlock()
	if got := p.content("f"); got != "theirs" {
		t.Errorf("content %q", got)
	}
	g := p.lock("g")
	defer g.Unlock()
	out, err := g.Create([][]byte{[]byte("ours")}, 0o640)
	if err != nil || p.content("g") != "ours" {
		t.Errorf("created %q, %v", p.content("g"), err)
	}
	if info, _ := os.Stat(p.path("g")); !os.SameFile(info, out.Info) || info.Mode().Perm()&^0o640 != 0 || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	// The fallback for file systems without support for it.
	p.write("temp", "x")
	if err := g.dir.link("temp", "f"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("link over a file: %v", err)
	}
	if err := g.dir.link("temp", "h"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"f", "g", "h"}, p.names()[:3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRead(t *testing.T) {
	p := newPlace(t, "12345")
	if err := syscall.Mkfifo(p.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(name string, max int64) error {
		f := p.lock(name)
		defer f.Unlock()
		v, err := f.Read(max)
		if err == nil {
			v.Close()
		}
		return err
	}
	var large *TooLarge
	if err := read("f", 4); !errors.As(err, &large) || large.Size != 5 {
		t.Errorf("too large: %v", err)
	}
	if err := read("f", 5); err != nil {
		t.Error(err)
	}
	if err := read("fifo", 5); !errors.Is(err, ErrSpecial) {
		t.Errorf("a FIFO: %v", err)
	}
	if err := read("none", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	for _, size := range []int64{0, 1, 9 << 20} {
		p.write("f", strings.Repeat("x", int(size)))
		f := p.lock("f")
		v, err := f.Read(maxSize)
		if err != nil || int64(len(v.Data)) != size {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if _, err := f.Replace(v, [][]byte{v.Data, []byte("end")}); err != nil {
			t.Error(err)
		}
		v.Close()
		f.Unlock()
		if got := p.content("f"); got != strings.Repeat("x", int(size))+"end" {
			t.Errorf("%d bytes became %d", size, len(got))
		}
	}
}

// Proves EDIT-10.
func TestRewriteInPlace(t *testing.T) {
	p := newPlace(t, "old content")
	if err := os.Link(p.path("f"), p.path("other")); err != nil {
		t.Fatal(err)
	}
	for _, cause := range []error{syscall.EBUSY, syscall.EXDEV, syscall.EPERM} {
		for _, at := range []string{"rename", "temp"} {
			if at == "temp" && cause != syscall.EPERM {
				continue
			}
			p.write("f", "old content")
			p.fault = func(step string) error {
				if step == at {
					return cause
				}
				return nil
			}
			before, _ := os.Stat(p.path("f"))
			out, err := p.replace("new", nil)
			if err != nil || !errors.Is(out.InPlace, cause) || sum(t, out) != sha256.Sum256([]byte("new")) {
				t.Errorf("%v at %s: outcome %+v, %v", cause, at, out, err)
			}
			after, _ := os.Stat(p.path("f"))
			if p.content("f") != "new" || !os.SameFile(before, after) || !os.SameFile(out.Info, after) {
				t.Errorf("%v at %s: content %q", cause, at, p.content("f"))
			}
			if diff := cmp.Diff([]string{"f", "other"}, p.names()); diff != "" {
				t.Errorf("files left behind: %s", diff)
			}
		}
	}
	p.fault = func(step string) error { return map[string]error{"rename": syscall.EBUSY}[step] }
	if _, err := p.replace("ours", func() { p.write("f", "theirs") }); !errors.Is(err, ErrChanged) || p.content("f") != "theirs" {
		t.Errorf("changed concurrently: %v, %q", err, p.content("f"))
	}
}

// TestEveryStepFails makes every step fail once for each possible reason. It checks that the
// old content stays or, where there is a fallback, that the new content is in place, and that
// nothing is left behind.
//
// Proves EDIT-10, WRITE-04.
func TestEveryStepFails(t *testing.T) {
	const old, fresh = "the old content", "something new"
	for _, first := range []error{nil, syscall.EBUSY} { // EBUSY leads to rewriting in place
		for _, cause := range []error{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT, fs.ErrPermission} {
			for n := 1; ; n++ {
				p := newPlace(t, old)
				steps, failed := 0, ""
				p.fault = func(step string) error {
					if steps++; steps == n {
						failed = step
						return cause
					}
					if step == "rename" {
						return first
					}
					return nil
				}
				out, err := p.replace(fresh, nil)
				where := fmt.Sprintf("%v at step %d (%s), then %v", cause, n, failed, first)
				want := old
				if err == nil {
					want = fresh
				}
				if got := p.content("f"); got != want {
					t.Fatalf("%s: error %v, content %q", where, err, got)
				}
				if diff := cmp.Diff([]string{"f"}, p.names()); diff != "" {
					t.Fatalf("%s: files left behind: %s", where, diff)
				}
				if err != nil && !errors.Is(err, cause) {
					t.Errorf("%s: the error does not name the cause: %v", where, err)
				}
				if failed == "sync directory" && !errors.Is(out.Unsynced, cause) {
					t.Errorf("%s: not told", where)
				}
				if failed == "" {
					break
				}
			}
		}
	}
	for n := 1; ; n++ {
		p := newPlace(t, old)
		steps := 0
		p.fault = func(string) error {
			if steps++; steps == n {
				return syscall.ENOSPC
			}
			return nil
		}
		f := p.lock("new")
		out, err := f.Create([][]byte{[]byte(fresh)}, 0o644)
		f.Unlock()
		want := []string{"f"}
		if err == nil {
			want = append(want, "new")
		}
		if diff := cmp.Diff(want, p.names()); diff != "" {
			t.Fatalf("creating, step %d: %v: %s", n, err, diff)
		}
		if err == nil && out.Unsynced == nil {
			break
		}
	}
}

// TestRewriteRestores checks that a write in place that fails halfway restores the old content
// and that, if even that fails, the error names the backup.
func TestRewriteRestores(t *testing.T) {
	const old = "the old content"
	for fails, damaged := range map[int]bool{1: false, 1000: true} {
		p := newPlace(t, old)
		writes := 0
		p.fault = func(step string) error {
			switch step {
			case "rename":
				return syscall.EXDEV
			case "write in place":
				if writes++; writes > 1 && writes <= 1+fails {
					return syscall.ENOSPC
				}
			}
			return nil
		}
		_, err := p.replace(strings.Repeat("a longer content", chunk/10), nil)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("error %v", err)
		}
		if got := p.content("f"); (got == old) == damaged {
			t.Errorf("%d failures: content %.40q", fails, got)
		}
		_, where, found := strings.Cut(err.Error(), "its old content is in ")
		if found != damaged {
			t.Errorf("error %v", err)
		}
		if kept, _ := os.ReadFile(where); damaged && string(kept) != old {
			t.Errorf("kept %q", kept)
		}
	}
}

// TestShortenedMeanwhile checks that truncating a large file while it is being read counts as a
// change and does not crash.
//
// Proves EDIT-09.
func TestShortenedMeanwhile(t *testing.T) {
	const size = 20 << 20
	p := newPlace(t, strings.Repeat("x", size))
	f := p.lock("f")
	defer f.Unlock()
	v, err := f.Read(maxSize)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := os.Truncate(p.path("f"), 10); err != nil {
		t.Fatal(err)
	}
	sum := 0
	err = Guard(func() error {
		for _, c := range v.Data {
			sum += int(c)
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrChanged) { // the data stays available if the system copies the file
		t.Errorf("looking at it: %v", err)
	}
	if _, err := f.Replace(v, [][]byte{v.Data, []byte("y")}); !errors.Is(err, ErrChanged) {
		t.Errorf("replacing it: %v", err)
	}
	if got := p.content("f"); got != strings.Repeat("x", 10) {
		t.Errorf("%d bytes", len(got))
	}
	if len(p.names()) != 1 {
		t.Errorf("files left behind: %v", p.names())
	}
}

func TestRewriteLargeInPlace(t *testing.T) {
	old := strings.Repeat("0123456789abcdef", 20<<20/16)
	p := newPlace(t, old)
	p.fault = func(step string) error { return map[string]error{"rename": syscall.EBUSY}[step] }
	f := p.lock("f")
	defer f.Unlock()
	v, err := f.Read(maxSize)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	// The end comes first, because a mapped file would change while it is being written.
	if _, err := f.Replace(v, [][]byte{v.Data[10<<20:], []byte("!"), v.Data[:10<<20]}); err != nil {
		t.Fatal(err)
	}
	if p.content("f") != old[10<<20:]+"!"+old[:10<<20] {
		t.Error("wrong content")
	}
}
