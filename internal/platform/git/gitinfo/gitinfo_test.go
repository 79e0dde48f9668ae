package gitinfo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/platform/git/gitrepo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func environ(home string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig")}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func judge(env []string) *gitrepo.Judge {
	return gitrepo.New(gitrepo.Config{Environ: func() []string {
		return append([]string{"PATH=" + os.Getenv("PATH")}, env[0])
	}})
}

// take returns a snapshot without a time limit.
func take(t *testing.T, j *gitrepo.Judge, dir string) Snapshot {
	s := Open(Config{Judge: j, Dir: dir, Wait: time.Hour})
	defer s.Close()
	return s.Snapshot()
}

// repository creates a repository with a commit and returns its directory and environment.
func repository(t *testing.T) (string, []string) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	env := environ(home)
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n")
	write(t, filepath.Join(dir, "a.txt"), "a\n")
	git(t, dir, env, "init", "-q")
	git(t, dir, env, "add", ".")
	git(t, dir, env, "commit", "-q", "-m", "first")
	return dir, env
}

func git(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// Proves CTX-20.
func TestTake(t *testing.T) {
	dir, env := repository(t)
	got := take(t, judge(env), dir)
	got.Log, _ = strings.CutPrefix(got.Log, strings.Fields(got.Log)[0])
	want := Snapshot{Branch: "main", Default: "main", User: "Ada", Clean: true, Log: " first"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	git(t, dir, env, "checkout", "-q", "-b", "work")
	for i := range 500 {
		write(t, filepath.Join(dir, fmt.Sprintf("new%03d.txt", i)), "x")
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a.txt"), later, later); err != nil { // so that git wants to write its index
		t.Fatal(err)
	}
	index := filepath.Join(dir, ".git", "index")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	got = take(t, judge(env), dir)
	if n := len(got.Status); !got.Cut || n > maxStatus || n < maxStatus-20 || !strings.HasSuffix(got.Status, ".txt") || got.Clean {
		t.Errorf("%d bytes of status, cut %v, clean %v: %q", n, got.Cut, got.Clean, got.Status)
	}
	if got.Branch != "work" || got.Default != "main" {
		t.Errorf("branch %q, default %q", got.Branch, got.Default)
	}
	if after, err := os.ReadFile(index); err != nil || string(after) != string(before) {
		t.Error("the index was written")
	}
}

func TestDefaultBranchIsThatOfTheRemote(t *testing.T) {
	dir, env := repository(t)
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, env, "checkout", "-q", "-b", "trunk")
	git(t, filepath.Dir(clone), env, "clone", "-q", dir, clone)
	if got := take(t, judge(env), clone); got.Default != "trunk" {
		t.Errorf("%+v", got)
	}
}

func TestNothingToKnow(t *testing.T) {
	dir, env := repository(t)
	helped, _ := repository(t)
	git(t, helped, env, "config", "filter.x.clean", "touch "+filepath.Join(helped, "ran"))
	broken, _ := repository(t)
	write(t, filepath.Join(broken, ".git", "HEAD"), "nonsense")
	write(t, filepath.Join(broken, ".git", "config"), "[core\n")
	for name, got := range map[string]Snapshot{
		"no repository":                   take(t, judge(env), t.TempDir()),
		"a helper that always runs":       take(t, judge(env), helped),
		"broken":                          take(t, judge(env), broken),
		"a directory that does not exist": take(t, judge(env), filepath.Join(dir, "none")),
	} {
		if got != (Snapshot{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(helped, "ran")); err == nil {
		t.Error("the helper ran")
	}
	t.Setenv("PATH", t.TempDir())
	if got := take(t, judge(env), dir); got != (Snapshot{}) {
		t.Errorf("no git: %+v", got)
	}
}

// A wrapper is a git executable that logs its calls.
type wrapper struct {
	t   *testing.T
	log string
}

// wrap puts a git on PATH that runs shell lines before the real git.
func wrap(t *testing.T, lines string) *wrapper {
	t.Helper()
	bin, w := t.TempDir(), &wrapper{t, filepath.Join(t.TempDir(), "log")}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(bin, "git")
	write(t, path, "#!/bin/sh\necho \"$*\" >>"+w.log+"\n"+lines+"\nexec "+git+" \"$@\"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return w
}

// calls returns the git calls since the last time.
func (w *wrapper) calls() []string {
	w.t.Helper()
	text, err := os.ReadFile(w.log)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	os.Remove(w.log) // ok: it may not exist
	return strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' })
}

// TestAnswersAreKept checks that adze runs only git status in an unchanged repository, and one
// more command after a commit.
//
// Proves CTX-20.
func TestAnswersAreKept(t *testing.T) {
	dir, env := repository(t)
	w := wrap(t, "")
	cache := filepath.Join(t.TempDir(), "kept", "git")
	start := func() (Snapshot, []string) {
		s := Open(Config{Judge: judge(env), Dir: dir, Cache: cache, Wait: time.Hour})
		got := s.Snapshot()
		s.Close()
		return got, w.calls()
	}
	// Files that have just changed are checked again until their stamps are conclusive.
	settle := func() (got Snapshot) {
		t.Helper()
		var calls []string
		for range 1000 {
			if got, calls = start(); len(calls) == 1 {
				break
			}
		}
		if len(calls) != 1 || !strings.Contains(calls[0], "status") {
			t.Fatalf("git runs %q", calls)
		}
		return got
	}
	asked, _ := start()
	if kept := settle(); kept != asked || kept.Log == "" || kept.Branch != "main" || kept.User != "Ada" || !kept.Clean {
		t.Errorf("%+v is kept as %+v", asked, kept)
	}
	git(t, dir, env, "commit", "-q", "--allow-empty", "-m", "second")
	w.calls()
	got, calls := start()
	if len(calls) != 2 || !strings.Contains(got.Log, "second") {
		t.Errorf("after a commit git runs %q, and the log is %q", calls, got.Log)
	}
	write(t, filepath.Join(dir, "new"), "")
	git(t, dir, env, "add", "new")
	w.calls()
	if got := settle(); got.Status != "A  new" {
		t.Errorf("after an addition: %+v", got)
	}
	git(t, dir, env, "config", "user.name", "Grace")
	w.calls()
	if got, calls := start(); len(calls) < 3 || got.User != "Grace" {
		t.Errorf("after a change of settings git runs %q, and the user is %s", calls, got.User)
	}
	git(t, dir, env, "config", "filter.x.clean", "touch ran")
	for range 3 {
		if got, _ := start(); got != (Snapshot{}) {
			t.Errorf("where git would run programs: %+v", got)
		}
	}
}

// TestSlowStatus checks that a slow status does not delay the start but arrives later, and that
// the next start does not wait for it at all.
//
// Proves CTX-20.
func TestSlowStatus(t *testing.T) {
	dir, env := repository(t)
	cache, release := filepath.Join(t.TempDir(), "git"), filepath.Join(t.TempDir(), "release")
	wrap(t, `case "$*" in *status*) while ! test -e `+release+`; do sleep 0.01; done ;; esac`)
	for range 2 {
		s := Open(Config{Judge: judge(env), Dir: dir, Cache: cache, Wait: time.Nanosecond})
		if got := s.Snapshot(); !got.Pending || got.Clean || got.Branch != "main" || got.Log == "" {
			t.Errorf("at the start: %+v", got)
		}
		write(t, release, "")
		<-s.status
		if got := s.Snapshot(); got.Pending || !got.Clean {
			t.Errorf("later: %+v", got)
		}
		s.Close()
		if err := os.Remove(release); err != nil {
			t.Fatal(err)
		}
	}
	// Closing does not wait for a canceled status, and the next start knows that it was slow.
	cache = filepath.Join(t.TempDir(), "git")
	for n := 0; ; n++ {
		s := Open(Config{Judge: judge(env), Dir: dir, Cache: cache, Wait: time.Nanosecond})
		s.Snapshot()
		s.Close()
		if s.slow {
			break
		}
		if n > 1000 {
			t.Fatal("it is not known that the status is slow")
		}
	}
}

// TestSlowQuickStatus checks that the next start does not wait for a status that was slow to
// compute without git.
//
// Proves CTX-20.
func TestSlowQuickStatus(t *testing.T) {
	dir, env := repository(t)
	cache := filepath.Join(t.TempDir(), "git")
	start := func(wait time.Duration) (quick, slow bool) {
		s := Open(Config{Judge: judge(env), Dir: dir, Cache: cache, Wait: wait, Quick: func(context.Context, *gitrepo.Repository, string, string) (string, bool) {
			quick = true
			return "", true
		}})
		s.Snapshot()
		<-s.status
		s.Close()
		return quick, s.slow
	}
	deadline := time.Now().Add(time.Minute)
	for quick := false; !quick; quick, _ = start(time.Hour) { // files that have just changed are checked again
		if time.Now().After(deadline) {
			t.Fatal("git is asked each time")
		}
	}
	start(time.Nanosecond)
	if quick, slow := start(time.Hour); !quick || !slow {
		t.Errorf("after a slow status: computed %t, known to be slow %t", quick, slow)
	}
	if _, slow := start(time.Hour); slow {
		t.Error("a fast status is known to be slow")
	}
}

// TestRefs checks that facts read from git's files agree with git.
func TestRefs(t *testing.T) {
	tests := map[string]func(t *testing.T, dir string, env []string) string{
		"a branch": func(_ *testing.T, dir string, _ []string) string { return dir },
		"another": func(t *testing.T, dir string, env []string) string {
			git(t, dir, env, "checkout", "-qb", "a/b.c")
			return dir
		},
		"no branch": func(t *testing.T, dir string, env []string) string {
			git(t, dir, env, "checkout", "-q", "--detach")
			return dir
		},
		"packed": func(t *testing.T, dir string, env []string) string {
			git(t, dir, env, "pack-refs", "--all")
			return dir
		},
		"no commit": func(t *testing.T, dir string, env []string) string {
			git(t, dir, env, "checkout", "-q", "--orphan", "new")
			return dir
		},
		"master": func(t *testing.T, dir string, env []string) string {
			git(t, dir, env, "branch", "-qm", "master")
			return dir
		},
		"no usual name": func(t *testing.T, dir string, env []string) string {
			git(t, dir, env, "branch", "-qm", "x")
			return dir
		},
		"a work tree": func(t *testing.T, dir string, env []string) string {
			git(t, dir, env, "worktree", "add", "-q", dir+"/w")
			return dir + "/w"
		},
		"a remote": func(t *testing.T, dir string, env []string) string {
			git(t, dir, env, "branch", "-qm", "trunk")
			git(t, dir, env, "clone", "-q", dir, dir+"/clone")
			git(t, dir+"/clone", env, "pack-refs", "--all")
			return dir + "/clone"
		},
		"a remote without its branch": func(t *testing.T, dir string, env []string) string {
			git(t, dir, env, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
			return dir
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			dir, env := repository(t)
			dir = prepare(t, dir, env)
			repo := judge(env).Of(dir).Repository()
			r, ok := openRefs(repo)
			if !ok {
				t.Fatal("they cannot be read")
			}
			said := func(args ...string) string {
				out, _ := repo.Ask(t.Context(), dir, args...) // ok: the answer may be empty
				return strings.TrimSpace(string(out))
			}
			want := []string{
				said("symbolic-ref", "-q", "--short", "HEAD"), said("rev-parse", "-q", "--verify", "HEAD"),
				defaultBranch(said("for-each-ref", "--format=%(refname) %(symref)", "refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")),
			}
			if diff := cmp.Diff(want, []string{r.branch, r.current(), r.usual()}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHostileRefs checks that a reference cannot point to another file.
func TestHostileRefs(t *testing.T) {
	for _, head := range []string{
		"ref: refs/heads/../../../secret", "ref: /etc/passwd", "ref: refs/heads//x", "ref: refs/heads/.x", "ref: refs/heads/a b",
		"ref: refs/heads/x.lock", "ref: refs/heads/a\nb", "ref: refs/heads/\x1b[31m", "ref: heads/x", "ref: ", "x", "",
	} {
		dir, env := repository(t)
		repo := judge(env).Of(dir).Repository()
		write(t, filepath.Join(dir, ".git", "HEAD"), head+"\n")
		if r, ok := openRefs(repo); ok {
			t.Errorf("%q: %+v", head, r)
		}
	}
}
