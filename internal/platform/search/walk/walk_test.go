package walk_test

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/platform/search/regextest"
	"adze/internal/platform/search/walk"
)

// fill creates files; a name that ends in a slash is an empty directory.
func fill(t *testing.T, root string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, filepath.Join(root, name), name)
	}
	return root
}

// Proves ENG-05.
func TestWhatIsListed(t *testing.T) {
	s := newSandbox(t)
	root := fill(t, s.at("r"),
		"a", ".hidden", ".dir/a", "sub/deep/a", "empty/",
		".git/HEAD", ".git/objects/x", ".git/config", "sub/.git/x", ".svn/a", ".hg/a", ".bzr/a", ".jj/a", ".sl/a", "x/.svn", "..a", "...",
		"line\nbreak", "invalid\xff", "é", "by-git.o", "by-exclude", "by-global", "by-ignore", "by-rgignore", "kept", "dir/by-nested", "dir/kept",
	)
	write(t, filepath.Join(root, ".gitignore"), "*.o\nkept\n[\n")
	write(t, filepath.Join(root, ".ignore"), "by-ignore\n!kept\n")
	write(t, filepath.Join(root, ".rgignore"), "by-rgignore\n")
	write(t, filepath.Join(root, ".git/info/exclude"), "by-exclude\n")
	write(t, filepath.Join(root, "dir/.gitignore"), "by-nested\n")
	write(t, s.at(".config/git/ignore"), "by-global\n")
	s.link("a", "r/link")
	s.link("..", "r/loop")
	s.link("nowhere", "r/dangling")

	all := []string{
		"...", "..a", ".dir/a", ".gitignore", ".hidden", ".ignore", ".rgignore", "a", "by-exclude", "by-git.o", "by-global", "by-ignore", "by-rgignore",
		"dir/.gitignore", "dir/by-nested", "dir/kept", "invalid\xff", "kept", "line\nbreak", "sub/deep/a", "x/.svn", "é",
	}
	without := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(p string) bool { return slices.Contains(names, p) })
	}
	tests := []struct {
		name string
		o    walk.Options
		want []string
	}{
		{"all", walk.Options{Hidden: true}, all},
		{"not hidden", walk.Options{}, slices.DeleteFunc(slices.Clone(all), func(p string) bool {
			return strings.HasPrefix(p, ".") || strings.Contains(p, "/.")
		})},
		{"not ignored", walk.Options{Hidden: true, Ignore: true}, without("by-exclude", "by-git.o", "by-global", "by-ignore", "by-rgignore", "dir/by-nested")},
		{"not skipped", walk.Options{Hidden: true, Skip: func(rel string, dir bool) bool {
			return rel == "dir" && dir || rel == "a" && !dir || rel == "sub/deep/a"
		}}, without("dir/.gitignore", "dir/by-nested", "dir/kept", "a", "sub/deep/a")},
		{"matching", walk.Options{Match: func(rel string) bool { return strings.HasSuffix(rel, "/a") }}, []string{"sub/deep/a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Root, tt.o.Getenv = root, s.getenv
			if diff := cmp.Diff(tt.want, list(t, tt.o)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Proves ENG-06.
func TestSkippedPathsLeaveNoTrace(t *testing.T) {
	root := fill(t, t.TempDir(), "a", "secrets/b", "secrets/deep/c", "d/secret.key")
	seen := sync.Map{}
	o := walk.Options{
		Root:  root,
		Skip:  func(rel string, dir bool) bool { return dir && rel == "secrets" || strings.HasSuffix(rel, ".key") },
		Match: func(rel string) bool { seen.Store(rel, true); return true },
	}
	found, stats, err := walk.Newest(t.Context(), o, 10)
	if err != nil || len(found) != 1 || found[0].Path != "a" {
		t.Errorf("found %v, %v", found, err)
	}
	if diff := cmp.Diff(walk.Stats{Files: 1, Dirs: 2}, stats); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	seen.Range(func(rel, _ any) bool {
		if rel != "a" {
			t.Errorf("unexpected call for %v", rel)
		}
		return true
	})
}

// Proves ENG-01, ENG-05.
func TestRoot(t *testing.T) {
	s := newSandbox(t)
	root := fill(t, s.at("r"), ".git/HEAD", ".git/objects/x", "ignored/a", "ignored/b.o", "other", "file.o")
	write(t, filepath.Join(root, ".gitignore"), "ignored/\n*.o\n")
	s.link("r/ignored", "link")
	s.link("r/file.o", "filelink")
	tests := []struct {
		root string
		want []string
	}{
		{"r", []string{".gitignore", "other"}},
		{"r/ignored", []string{"a"}},
		{"r/ignored/", []string{"a"}},
		{"r/file.o", []string{"."}},
		{"link", []string{"a"}},
		{"filelink", []string{"."}},
		{"r/.git", []string{"HEAD", "objects/x"}},
	}
	for _, tt := range tests {
		t.Run(tt.root, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, s.listed(s.at(tt.root))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("relative", func(t *testing.T) {
		t.Chdir(root)
		if diff := cmp.Diff([]string{"a"}, s.listed("ignored")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("missing", func(t *testing.T) {
		_, err := walk.List(t.Context(), walk.Options{Root: s.at("no")}, nil)
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no") {
			t.Errorf("error %v", err)
		}
	})
}

func TestOpenAndStat(t *testing.T) {
	root := fill(t, t.TempDir(), "a", "dir/b", "dir/c")
	if err := os.Chtimes(filepath.Join(root, "dir/b"), time.Time{}, time.Unix(5, 7)); err != nil {
		t.Fatal(err)
	}
	for _, start := range []string{root, filepath.Join(root, "dir/b")} {
		var read atomic.Int32
		_, err := walk.Walk(t.Context(), walk.Options{Root: start}, func(_ int, b *walk.Batch) error {
			for _, e := range b.Files {
				f, err := b.Open(e)
				if err != nil {
					return err
				}
				defer f.Close()
				text, err := io.ReadAll(f)
				if err != nil {
					return err
				}
				if filepath.Base(string(text)) != e.Name() || start == root && string(text) != e.Path() {
					t.Errorf("%s holds %q", e.Path(), text)
				}
				info, err := b.Stat(e)
				if err != nil || !info.Regular() || info.Size != int64(len(text)) {
					t.Errorf("%s: %+v, %v", e.Path(), info, err)
				}
				if opened, err := f.Stat(); err != nil || opened != info {
					t.Errorf("%s: %+v when open, %+v before", e.Path(), opened, info)
				}
				if e.Name() == "b" && info.Modified != 5e9+7 {
					t.Errorf("modified at %d", info.Modified)
				}
				read.Add(1)
			}
			return nil
		})
		if err != nil || read.Load() == 0 {
			t.Errorf("%d files, %v", read.Load(), err)
		}
	}
}

// TestManyWorkers walks random trees with more workers than work and compares with the standard
// library.
func TestManyWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(regextest.Seed(t), 0))
	root := t.TempDir()
	for range 600 {
		path := root
		for range 1 + r.IntN(6) {
			path = filepath.Join(path, fmt.Sprint(r.IntN(5)))
		}
		os.MkdirAll(filepath.Dir(path), 0o755) // ok: some paths are taken by files
		os.WriteFile(path, nil, 0o644)         // ok: some paths are taken by directories
	}
	var want []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(root, path)
			want = append(want, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	for workers := range 18 {
		if diff := cmp.Diff(want, list(t, walk.Options{Root: root, Workers: workers, Batch: 1 + workers%3})); diff != "" {
			t.Fatalf("%d workers (-want +got):\n%s", workers, diff)
		}
	}
}

// TestLargeDirectory reads directories that do not fit into a buffer, with ignore files that
// are found only by looking them up.
func TestLargeDirectory(t *testing.T) {
	const files, dirs = 9000, 3000
	root := t.TempDir()
	write(t, filepath.Join(root, ".ignore"), "f1*\nd1*\n")
	want := 1
	for i := range files {
		fill(t, root, fmt.Sprintf("f%05d-with-a-rather-long-name", i))
	}
	for i := range dirs {
		fill(t, root, fmt.Sprintf("d%05d-with-a-rather-long-name/a", i))
	}
	want += files + dirs
	stats, err := walk.Walk(t.Context(), walk.Options{Root: root, Ignore: true, Hidden: true}, func(int, *walk.Batch) error { return nil })
	if diff := cmp.Diff(walk.Stats{Files: want, Dirs: dirs + 1}, stats); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	write(t, filepath.Join(root, ".ignore"), "f*\nd*\n")
	if diff := cmp.Diff([]string{".ignore"}, list(t, walk.Options{Root: root, Ignore: true, Hidden: true})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestChangingTree removes and replaces directories that the walk is about to read.
func TestChangingTree(t *testing.T) {
	root := t.TempDir()
	for i := range 200 {
		fill(t, root, fmt.Sprintf("d%d/x/a", i), fmt.Sprintf("d%d/b", i))
	}
	next := atomic.Int32{}
	stats, err := walk.Walk(t.Context(), walk.Options{Root: root, Batch: 1}, func(_ int, b *walk.Batch) error {
		dir := filepath.Join(root, fmt.Sprintf("d%d", next.Add(1)))
		os.RemoveAll(dir)             // ok: may be gone
		os.WriteFile(dir, nil, 0o644) // ok: may fail
		if f, err := b.Open(b.Files[0]); err == nil {
			f.Close()
		}
		return nil
	})
	if err != nil || stats.Skipped != 0 || stats.Partial {
		t.Errorf("%+v, %v", stats, err)
	}
}

// Proves ENG-08.
func TestStreaming(t *testing.T) {
	defer goleak.VerifyNone(t)
	root := t.TempDir()
	for i := range 400 {
		for j := range 5 {
			fill(t, root, fmt.Sprintf("d%d/e%d/a", i, j))
		}
	}
	var entered atomic.Int32
	o := walk.Options{Root: root, Workers: 4, Skip: func(_ string, dir bool) bool {
		if dir {
			entered.Add(1)
		}
		return false
	}}

	first := int32(0)
	if _, err := walk.List(t.Context(), o, func([]string) error {
		if first == 0 {
			first = entered.Load()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if all := entered.Load(); first > all/2 {
		t.Errorf("%d of %d directories were found before the first file was delivered", first, all)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	entered.Store(0)
	names, after := 0, 0
	stats, err := walk.List(ctx, o, func(paths []string) error {
		if ctx.Err() != nil {
			after += len(paths)
		}
		if names += len(paths); names >= 50 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || !stats.Partial {
		t.Errorf("cancelled: %+v, %v", stats, err)
	}
	if after > 4*64 || entered.Load() > 1500 {
		t.Errorf("after 50 names %d more were delivered and %d directories found in all", after, entered.Load())
	}

	mine := errors.New("enough")
	calls := 0
	if _, err := walk.List(t.Context(), o, func([]string) error { calls++; return mine }); err != mine || calls != 1 {
		t.Errorf("%d calls, error %v", calls, err)
	}
}

func TestNoVisitAfterAnError(t *testing.T) {
	root := t.TempDir()
	for i := range 100 {
		fill(t, root, fmt.Sprintf("f%d", i), fmt.Sprintf("d/f%d", i))
	}
	mine := errors.New("enough")
	calls := 0
	stats, err := walk.Walk(t.Context(), walk.Options{Root: root, Workers: 1, Batch: 1}, func(int, *walk.Batch) error {
		calls++
		return mine
	})
	if diff := cmp.Diff(walk.Stats{Files: 1, Dirs: 1, Partial: true}, stats); diff != "" || err != mine || calls != 1 {
		t.Errorf("%d calls, error %v (-want +got):\n%s", calls, err, diff)
	}
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stats, err := walk.List(ctx, walk.Options{Root: t.TempDir()}, nil)
	if !errors.Is(err, context.Canceled) || !stats.Partial {
		t.Errorf("%+v, %v", stats, err)
	}
}

// Proves ENG-07.
func TestInterrupt(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var visits atomic.Int32
	stats, err := walk.Walk(ctx, walk.Options{Root: build.Default.GOROOT, Workers: 2, Batch: 1}, func(int, *walk.Batch) error {
		if visits.Add(1) == 1 {
			cancel()
		} else {
			time.Sleep(10 * time.Millisecond) // time to stop
		}
		return nil
	})
	if n := visits.Load(); n > 500 {
		t.Errorf("stopped after %d visits", n)
	}
	if !errors.Is(err, context.Canceled) || !stats.Partial || stats.Files == 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// Proves GLOB-02.
func TestNewestOrder(t *testing.T) {
	root := fill(t, t.TempDir(), "c", "b/a", "b/d", "old", "new")
	for name, sec := range map[string]int64{"c": 300, "b/a": 300, "b/d": 200, "old": -7, "new": 400} {
		if err := os.Chtimes(filepath.Join(root, name), time.Time{}, time.Unix(sec, 0)); err != nil {
			t.Fatal(err)
		}
	}
	found, stats, err := walk.Newest(t.Context(), walk.Options{Root: root}, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Path)
	}
	if diff := cmp.Diff([]string{"new", "b/a", "c", "b/d", "old"}, got); diff != "" || stats.Files != 5 {
		t.Errorf("%d files (-want +got):\n%s", stats.Files, diff)
	}
}

// Proves GLOB-03.
func TestNewestLimit(t *testing.T) {
	const files, limit = 1000, 250
	root := t.TempDir()
	for _, i := range rand.Perm(files) {
		name := fmt.Sprintf("d%d/f%03d", i%7, i)
		fill(t, root, name)
		if err := os.Chtimes(filepath.Join(root, name), time.Time{}, time.Unix(int64(i/2), 0)); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := walk.Newest(t.Context(), walk.Options{Root: root}, files)
	if err != nil || len(all) != files {
		t.Fatalf("%d files, %v", len(all), err)
	}
	for n := range all[1:] {
		a, b := all[n], all[n+1]
		if a.Modified.Before(b.Modified) || a.Modified.Equal(b.Modified) && a.Path > b.Path {
			t.Fatalf("%v comes before %v", a, b)
		}
	}
	cut, stats, err := walk.Newest(t.Context(), walk.Options{Root: root, Workers: 3}, limit)
	if diff := cmp.Diff(all[:limit], cut); diff != "" || err != nil || stats.Files != files {
		t.Errorf("%d files, %v (-want +got):\n%s", stats.Files, err, diff)
	}
}
