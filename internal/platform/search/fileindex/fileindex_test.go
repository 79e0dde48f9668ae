package fileindex

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// fixture creates empty files and returns their directory.
func fixture(t testing.TB, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), "")
	}
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// git runs git in a directory, isolated from the user's configuration.
func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repo returns a repository with tracked, untracked and ignored files.
func repo(t testing.TB) string {
	t.Helper()
	dir := fixture(t, "a.go", "sub/b.go", "sub/deep/c.go", "tracked.log", "gone.go")
	write(t, filepath.Join(dir, ".gitignore"), "*.log\nbuild/\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-f", ".")
	if err := os.Remove(filepath.Join(dir, "gone.go")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"new.go", "other.log", "build/out.go", "sub/new.md"} {
		write(t, filepath.Join(dir, name), "")
	}
	return dir
}

// all returns all names in an idle index.
func all(t testing.TB, x *Index) []string {
	t.Helper()
	if _, err := x.Find(context.Background(), "", 1); err != nil {
		t.Fatal(err)
	}
	x.Settle()
	var out []string
	for _, e := range x.names.entries {
		path := e.path
		if e.dir {
			path += "/"
		}
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

func open(t testing.TB, c Config) *Index {
	t.Helper()
	x := New(c)
	t.Cleanup(x.Close)
	return x
}

// Proves IDX-01.
func TestSources(t *testing.T) {
	inRepo := []string{".gitignore", "a.go", "new.go", "sub/", "sub/b.go", "sub/deep/", "sub/deep/c.go", "sub/new.md", "tracked.log"}
	walked := []string{".gitignore", "a.go", "new.go", "sub/", "sub/b.go", "sub/deep/", "sub/deep/c.go", "sub/new.md"}
	var logged []string
	log := func(text string) { logged = append(logged, text) }

	t.Run("repository", func(t *testing.T) {
		t.Setenv("PATH", os.Getenv("PATH"))
		dir := repo(t)
		t.Setenv("PATH", "") // git is not needed
		if diff := cmp.Diff(inRepo, all(t, open(t, Config{Dir: dir}))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a directory of it", func(t *testing.T) {
		want := []string{"../.gitignore", "../a.go", "../new.go", "../tracked.log", "b.go", "deep/", "deep/c.go", "new.md"}
		if diff := cmp.Diff(want, all(t, open(t, Config{Dir: filepath.Join(repo(t), "sub")}))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("an ignored directory of it", func(t *testing.T) {
		got := all(t, open(t, Config{Dir: filepath.Join(repo(t), "build")}))
		if !slices.Contains(got, "out.go") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("with ignored files", func(t *testing.T) {
		got := all(t, open(t, Config{Dir: repo(t), All: true}))
		if !slices.Contains(got, "other.log") || !slices.Contains(got, "build/out.go") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("broken index", func(t *testing.T) {
		dir := repo(t)
		index := filepath.Join(dir, ".git", "index")
		data, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 0xff
		write(t, index, string(data))
		logged = nil
		if diff := cmp.Diff(walked, all(t, open(t, Config{Dir: dir, Log: log}))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(logged) != 1 || !strings.Contains(logged[0], "checksum is wrong") {
			t.Errorf("logged %q", logged)
		}
	})
	t.Run("plain directory", func(t *testing.T) {
		dir := fixture(t, "x/y.txt", "z.txt")
		write(t, filepath.Join(dir, ".ignore"), "z.txt\n")
		if diff := cmp.Diff([]string{".ignore", "x/", "x/y.txt"}, all(t, open(t, Config{Dir: dir}))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("worktree", func(t *testing.T) {
		dir := repo(t)
		git(t, dir, "commit", "-qm", "x")
		tree := filepath.Join(fixture(t), "tree")
		git(t, dir, "worktree", "add", "-q", tree)
		want := []string{".gitignore", "a.go", "gone.go", "sub/", "sub/b.go", "sub/deep/", "sub/deep/c.go", "tracked.log"}
		if diff := cmp.Diff(want, all(t, open(t, Config{Dir: tree}))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("denied", func(t *testing.T) {
		dir := repo(t)
		got := all(t, open(t, Config{Dir: dir, Skip: func(path string, _ bool) bool {
			return path == filepath.Join(dir, "sub") || path == filepath.Join(dir, "new.go")
		}}))
		if diff := cmp.Diff([]string{".gitignore", "a.go", "tracked.log"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("missing directory", func(t *testing.T) {
		x := open(t, Config{Dir: filepath.Join(fixture(t), "nowhere")})
		if got, err := x.Find(t.Context(), "a", 5); err == nil {
			t.Errorf("found %v", got)
		}
	})
}

// Proves IDX-02.
func TestRefresh(t *testing.T) {
	dir := repo(t)
	synctest.Test(t, func(t *testing.T) {
		x := open(t, Config{Dir: dir})
		ask := func() int {
			if _, err := x.Find(t.Context(), "a", 5); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			return x.builds
		}
		if n := ask(); n != 1 {
			t.Errorf("%d refreshes for the first question", n)
		}
		time.Sleep(2 * time.Second)
		ask()
		time.Sleep(2 * time.Second)
		if n := ask(); n != 1 {
			t.Errorf("%d refreshes for 3 questions in 5 s", n)
		}
		time.Sleep(time.Second)
		if n := ask(); n != 2 {
			t.Errorf("%d refreshes after 5 s", n)
		}
		index := filepath.Join(dir, ".git", "index")
		at := time.Unix(1_900_000_000, 0)
		if err := os.Chtimes(index, at, at); err != nil {
			t.Fatal(err)
		}
		if n := ask(); n != 3 {
			t.Errorf("%d refreshes after git has changed its index", n)
		}
		if n := ask(); n != 3 {
			t.Errorf("%d refreshes for one change", n)
		}
	})
}

// TestFailedRefresh checks that a failed refresh keeps the known names and is retried.
//
// Proves IDX-02.
func TestFailedRefresh(t *testing.T) {
	dir := fixture(t, "tree/a.go")
	root := filepath.Join(dir, "tree")
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var logged []string
		x := open(t, Config{Dir: root, Log: func(text string) {
			mu.Lock()
			logged = append(logged, text)
			mu.Unlock()
		}})
		ask := func() []string {
			got, err := x.Find(t.Context(), "go", 5)
			if err != nil {
				t.Error(err)
			}
			synctest.Wait()
			return pathsOf(got)
		}
		ask()
		if err := os.Rename(root, root+"2"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(throttle)
		ask()
		if got := ask(); !slices.Equal(got, []string{"a.go"}) || len(logged) != 1 {
			t.Errorf("found %q, logged %q", got, logged)
		}
		if err := os.Rename(root+"2", root); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, "b.go"), "")
		if got := ask(); len(got) != 1 {
			t.Errorf("it was tried again at once: %q", got)
		}
		time.Sleep(throttle)
		ask()
		if got := ask(); len(got) != 2 {
			t.Errorf("it was not tried again: %q", got)
		}
	})
}

func TestFindWaitsAndStops(t *testing.T) {
	defer goleak.VerifyNone(t)
	x := New(Config{Dir: fixture(t, "a.go")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := x.Find(ctx, "a", 5); err == nil {
		t.Errorf("a cancelled query found %v", got)
	}
	if got, err := x.Find(t.Context(), "a", 5); err != nil || len(got) != 1 {
		t.Errorf("found %v, %v", got, err)
	}
	x.Close()
	closed := New(Config{Dir: fixture(t, "a.go")})
	closed.Close()
	if got, err := closed.Find(t.Context(), "a", 5); err == nil {
		t.Errorf("a closed index found %v", got)
	}
}

// TestFirstResults queries an index while it is being built.
func TestFirstResults(t *testing.T) {
	x := open(t, Config{Dir: "/"})
	shown := make(chan int, 10)
	c := &collection{Index: x, builder: newBuilder(), publish: func(ns *names) { shown <- len(ns.entries) }}
	c.add("a/b.go")
	c.show()
	early := c.entries[:len(c.entries):len(c.entries)]
	for i := range 1000 {
		c.add(fmt.Sprintf("a/%d.go", i))
	}
	if n := <-shown; n != 2 || early[1].path != "a/b.go" {
		t.Errorf("%d names were shown", n)
	}
}
