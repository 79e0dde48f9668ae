package gitstatus

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/search/regextest"
)

// A world is a repository with git's environment.
type world struct {
	t         testing.TB
	home, dir string
}

func newWorld(t testing.TB, args ...string) *world {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("git's index differs")
	}
	w := &world{t, t.TempDir(), t.TempDir()}
	w.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return w
}

func (w *world) environ() []string {
	return []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH")}
}

// try runs git, which may fail.
func (w *world) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(w.environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a")
	out, err := cmd.Output()
	return strings.TrimRight(string(out), "\n"), err
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := w.try(w.dir, args...)
	if err != nil {
		w.t.Fatalf("git %q: %v", args, err)
	}
	return out
}

func (w *world) write(name, text string) {
	path := filepath.Join(w.dir, name)
	os.MkdirAll(filepath.Dir(path), 0o755)  // ok: a random name may be taken
	os.WriteFile(path, []byte(text), 0o644) // ok: the same
}

// commit commits all files.
func (w *world) commit() {
	w.t.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "--allow-empty", "-m", "x")
}

// tryCommit commits what git accepts, which refuses nested repositories without a commit.
func (w *world) tryCommit() {
	w.t.Helper()
	w.try(w.dir, "add", "-A", "--ignore-errors") // ok: see above
	w.git("commit", "-q", "--allow-empty", "-m", "x")
}

// short returns the status in a directory, computed without git.
func (w *world) short(dir string) (string, bool) {
	w.t.Helper()
	judge := gitrepo.New(gitrepo.Config{Environ: w.environ})
	v := judge.Of(dir)
	repo := v.Repository()
	if repo == nil {
		return "", false
	}
	tree, err := w.try(w.dir, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return "", false
	}
	return Short(w.t.Context(), repo, dir, tree)
}

// compare fails if the status differs from git's. It reports whether there was one.
func (w *world) compare(dir string) bool {
	w.t.Helper()
	got, ok := w.short(dir)
	if !ok {
		return false
	}
	want, err := w.try(dir, "status", "--short")
	if err != nil {
		w.t.Fatal(err)
	}
	if got != want {
		w.t.Fatalf("in %s: got\n%s\nwant\n%s\n\n%s", dir, got, want, w.git("ls-files", "-s", "--debug"))
	}
	return true
}

// TestShort checks the cases that are recognized without git, and cases that are left to it.
//
// Proves CTX-20.
func TestShort(t *testing.T) {
	files := func(w *world) {
		w.write("a.txt", "one\n")
		w.write("empty", "")
		w.write("dir/b.txt", "two\n")
		w.write("dir/sub/c.txt", "three\n")
		w.write("dir.txt", "four\n")
		w.write(".gitignore", "*.log\nbuild/\n!keep.log\n")
		os.Symlink("a.txt", filepath.Join(w.dir, "link")) // ok: checked by git
		w.commit()
	}
	config := func(args ...string) func(*world) {
		return func(w *world) { w.git(append([]string{"config"}, args...)...) }
	}
	tests := []struct {
		name   string
		change func(*world)
		want   bool // recognized
	}{
		{"clean", func(*world) {}, true},
		{"size", func(w *world) { w.write("a.txt", "other\n") }, true},
		{"content", func(w *world) { w.write("a.txt", "two\n") }, true},
		{"touched", func(w *world) { touch(w, "a.txt") }, true},
		{"mode", func(w *world) { os.Chmod(filepath.Join(w.dir, "a.txt"), 0o755) }, true},
		{"mode without core.fileMode", func(w *world) {
			config("core.fileMode", "false")(w)
			os.Chmod(filepath.Join(w.dir, "a.txt"), 0o755)
		}, true},
		{"deleted", func(w *world) { os.RemoveAll(filepath.Join(w.dir, "dir")) }, true},
		{"untracked", func(w *world) {
			w.write("new", "")
			w.write("dir/new.txt", "")
			w.write("other/deep/new.txt", "")
			w.write("dir/other/x.log", "")
			w.write("dir/build/x.txt", "")
			w.write("logs/keep.log", "")
			w.write("dir/none/x.log", "")
			w.write("a-b/.gitignore", "*\n")
			os.MkdirAll(filepath.Join(w.dir, "nothing"), 0o755)
		}, true},
		{"excluded by the user", func(w *world) {
			w.write("../"+filepath.Base(w.home)+"/x", "")
			os.MkdirAll(filepath.Join(w.home, ".config", "git"), 0o755)
			os.WriteFile(filepath.Join(w.home, ".config", "git", "ignore"), []byte("*.tmp\n"), 0o644)
			os.WriteFile(filepath.Join(w.dir, ".git", "info", "exclude"), []byte("/own\n"), 0o644)
			w.write("x.tmp", "")
			w.write("own", "")
			w.write("shown", "")
		}, true},
		{"excluded by a setting", func(w *world) {
			w.git("config", "--global", "core.excludesFile", "~/mine")
			os.WriteFile(filepath.Join(w.home, "mine"), []byte("*.tmp\n"), 0o644)
			w.write("x.tmp", "")
			w.write("shown", "")
		}, true},
		{"pattern that versions of git read differently", func(w *world) {
			w.write(".gitignore", "foo**/bar\n")
			w.write("fooq/r/bar", "")
		}, false},
		{"the same in info/exclude", func(w *world) {
			os.WriteFile(filepath.Join(w.dir, ".git", "info", "exclude"), []byte("foo**/bar\n"), 0o644)
			w.write("fooq/r/bar", "")
		}, false},
		{"long info/exclude", func(w *world) {
			os.WriteFile(filepath.Join(w.dir, ".git", "info", "exclude"), []byte(strings.Repeat("#\n", 2<<20)+"secret\n"), 0o644)
			w.write("secret", "")
		}, false},
		{"tracked in an ignored directory", func(w *world) {
			w.write("build/.gitignore", "!*\n")
			w.write("build/tracked", "")
			w.git("add", "-f", "build/tracked")
			w.commit()
			w.write("build/new", "")
			w.write("build/tracked", "x")
		}, true},
		{"link", func(w *world) { relink(w, "dir.txt") }, true},
		{"reset", func(w *world) {
			w.write("a.txt", "another\n")
			w.git("add", ".")
			w.git("reset", "-q", "--hard")
		}, true},
		{"compressed index", func(w *world) { w.git("update-index", "--index-version", "4") }, true},

		{"staged", func(w *world) { w.write("a.txt", "x\n"); w.git("add", ".") }, false},
		{"renamed", func(w *world) { w.git("mv", "a.txt", "z.txt") }, false},
		{"intent to add", func(w *world) { w.write("new", "x"); w.git("add", "-N", "new") }, false},
		{"assumed unchanged", func(w *world) { w.git("update-index", "--assume-unchanged", "a.txt") }, false},
		{"not checked out", func(w *world) { w.git("update-index", "--skip-worktree", "a.txt") }, false},
		{"split index", func(w *world) { w.git("update-index", "--split-index") }, false},
		{"another kind", func(w *world) {
			os.Remove(filepath.Join(w.dir, "a.txt"))
			os.Symlink("x", filepath.Join(w.dir, "a.txt"))
		}, false},
		{"file by directory", func(w *world) { os.Remove(filepath.Join(w.dir, "a.txt")); w.write("a.txt/x", "") }, false},
		{"directory by file", func(w *world) { os.RemoveAll(filepath.Join(w.dir, "dir")); w.write("dir", "") }, false},
		{"directory by link", func(w *world) {
			os.Rename(filepath.Join(w.dir, "dir"), filepath.Join(w.dir, "moved"))
			os.Symlink("moved", filepath.Join(w.dir, "dir"))
		}, false},
		{"nested repository", func(w *world) { w.write("nested/x", ""); w.try(filepath.Join(w.dir, "nested"), "init", "-q") }, false},
		{"quoted", func(w *world) { w.write("with space", "") }, false},
		{"not ASCII", func(w *world) { w.write("größe", "") }, false},
		{"attributes and touched", func(w *world) { w.write("dir/.gitattributes", "* text\n"); touch(w, "a.txt") }, false},
		{"user's attributes and touched", func(w *world) {
			os.MkdirAll(filepath.Join(w.home, ".config", "git"), 0o755)
			os.WriteFile(filepath.Join(w.home, ".config", "git", "attributes"), []byte("* text\n"), 0o644)
			touch(w, "a.txt")
		}, false},
		{"line ends and touched", func(w *world) { config("core.autocrlf", "input")(w); touch(w, "a.txt") }, false},
		{"linked ignore file", func(w *world) {
			w.write("mine", "*\n")
			os.Symlink("../mine", filepath.Join(w.dir, "dir", ".gitignore"))
		}, false},
		{"all untracked", config("status.showUntrackedFiles", "all"), false},
		{"branch", config("status.branch", "true"), false},
		{"absolute paths", config("status.relativePaths", "false"), false},
		{"color", config("color.ui", "always"), false},
		{"minimal stat", config("core.checkStat", "minimal"), false},
		{"sparse", config("core.sparseCheckout", "true"), false},
		{"unknown setting", func(w *world) { w.git("config", "--global", "core.madeUp", "1") }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			files(w)
			tt.change(w)
			if got := w.compare(w.dir); got != tt.want {
				t.Errorf("recognized: %t", got)
			}
			for _, dir := range []string{"dir", "dir/sub", "other/deep"} {
				if info, err := os.Lstat(filepath.Join(w.dir, dir)); err == nil && info.IsDir() {
					w.compare(filepath.Join(w.dir, dir))
				}
			}
		})
	}
	t.Run("sha256", func(t *testing.T) {
		w := newWorld(t, "--object-format=sha256")
		files(w)
		touch(w, "a.txt")
		if !w.compare(w.dir) {
			t.Error("not recognized")
		}
	})
	t.Run("worktree", func(t *testing.T) {
		w := newWorld(t)
		files(w)
		dir := filepath.Join(t.TempDir(), "tree")
		w.git("worktree", "add", "-q", dir)
		w.dir = dir
		w.write("new", "")
		touch(w, "a.txt")
		if !w.compare(dir) {
			t.Error("not recognized")
		}
	})
	t.Run("submodule", func(t *testing.T) {
		w, other := newWorld(t), newWorld(t)
		files(w)
		files(other)
		w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.dir, "module")
		w.commit()
		if w.compare(w.dir) {
			t.Error("recognized")
		}
	})
	t.Run("conflict", func(t *testing.T) {
		w := newWorld(t)
		files(w)
		w.git("checkout", "-q", "-b", "other")
		w.write("a.txt", "x\n")
		w.commit()
		w.git("checkout", "-q", "main")
		w.write("a.txt", "y\n")
		w.commit()
		if _, err := w.try(w.dir, "merge", "other"); err == nil {
			t.Fatal("there is no conflict")
		}
		if w.compare(w.dir) {
			t.Error("recognized")
		}
	})
	t.Run("no program runs", func(t *testing.T) {
		w := newWorld(t)
		files(w)
		w.git("config", "--global", "filter.f.clean", "touch "+filepath.Join(w.home, "ran"))
		os.WriteFile(filepath.Join(w.dir, ".git", "info", "attributes"), []byte("* filter=f\n"), 0o644)
		w.git("config", "--global", "core.fsmonitor", "touch "+filepath.Join(w.home, "ran"))
		touch(w, "a.txt")
		if _, ok := w.short(w.dir); ok {
			t.Error("recognized")
		}
		if _, err := os.Lstat(filepath.Join(w.home, "ran")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a program ran: %v", err)
		}
	})
}

func touch(w *world, name string) {
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(w.dir, name), later, later); err != nil {
		w.t.Fatal(err)
	}
}

func relink(w *world, target string) {
	link := filepath.Join(w.dir, "link")
	if err := errors.Join(os.Remove(link), os.Symlink(target, link)); err != nil {
		w.t.Fatal(err)
	}
}

// TestRandomRepositories compares the status with git's after random changes.
func TestRandomRepositories(t *testing.T) {
	r := rand.New(rand.NewPCG(regextest.Seed(t), 0))
	recognized, rounds := 0, 12
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		w := newWorld(t)
		for range 10 {
			w.random(r)
		}
		w.tryCommit()
		for range 8 {
			for range 1 + r.IntN(3) {
				w.random(r)
			}
			switch r.IntN(8) {
			case 0:
				w.tryCommit()
			case 1:
				w.try(w.dir, "add", w.name(r)) // ok: may not exist
			case 2:
				w.try(w.dir, "reset", "-q", "--hard") // ok: compared below
			case 3:
				w.try(w.dir, "mv", w.name(r), w.name(r)) // ok: may not exist
			case 4:
				w.try(w.dir, "rm", "-rq", "--cached", w.name(r)) // ok: may not exist
			}
			if w.compare(w.dir) {
				recognized++
			}
			if dir := filepath.Join(w.dir, w.name(r)); isDir(dir) && w.compare(dir) {
				recognized++
			}
		}
	}
	if recognized < rounds {
		t.Errorf("only %d states were recognized", recognized)
	}
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func (w *world) name(r *rand.Rand) string {
	parts := []string{"a", "b", "A", "a.b", "build", "x.log", "a-b"}
	if r.IntN(12) == 0 {
		parts = append(parts, "a b", `q"`, "ü", "b\t")
	}
	name := parts[r.IntN(len(parts))]
	for range r.IntN(3) {
		name = parts[r.IntN(len(parts))] + "/" + name
	}
	return name
}

// random changes a file.
func (w *world) random(r *rand.Rand) {
	name := w.name(r)
	path := filepath.Join(w.dir, name)
	switch r.IntN(16) {
	case 0:
		os.RemoveAll(path)
	case 1:
		os.Chmod(path, []fs.FileMode{0o644, 0o755}[r.IntN(2)])
	case 2:
		os.Symlink([]string{"a", "b", "nowhere"}[r.IntN(3)], path)
	case 3:
		os.Rename(path, filepath.Join(w.dir, w.name(r)))
	case 4:
		os.MkdirAll(path, 0o755)
	case 5, 6:
		lines := []string{"*.log", "build/", "/a", "!x.log", "b", "a/b", "**/A", "a.*", "*", "!*/", "/a/*"}
		text := ""
		for range 1 + r.IntN(3) {
			text += lines[r.IntN(len(lines))] + "\n"
		}
		w.write(filepath.Join(filepath.Dir(name), ".gitignore"), text)
	case 7:
		if r.IntN(6) == 0 && isDir(path) {
			w.try(path, "init", "-q")
		}
	case 8:
		if r.IntN(4) == 0 {
			w.write(filepath.Join(filepath.Dir(name), ".gitattributes"), "* text=auto\n")
		}
	default:
		w.write(name, []string{"", "1\n", "2\n", "12\n", "1\r\n"}[r.IntN(5)])
	}
}
