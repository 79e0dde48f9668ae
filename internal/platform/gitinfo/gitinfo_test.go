package gitinfo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/platform/gitrepo"
	"adze/internal/platform/osproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func environ(home string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig")}
}

func runner(t *testing.T) *osproc.Runner {
	r := &osproc.Runner{Grace: time.Millisecond}
	t.Cleanup(r.Close)
	return r
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

// repository makes one with a commit and returns its directory and its environment.
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
	got := Take(t.Context(), runner(t), judge(env), dir)
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
	got = Take(t.Context(), runner(t), judge(env), dir)
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
	if got := Take(t.Context(), runner(t), judge(env), clone); got.Default != "trunk" {
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
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, got := range map[string]Snapshot{
		"no repository":                   Take(t.Context(), runner(t), judge(env), t.TempDir()),
		"a helper that always runs":       Take(t.Context(), runner(t), judge(env), helped),
		"broken":                          Take(t.Context(), runner(t), judge(env), broken),
		"a context that is done":          Take(gone, runner(t), judge(env), dir),
		"a directory that does not exist": Take(t.Context(), runner(t), judge(env), filepath.Join(dir, "none")),
	} {
		if got != (Snapshot{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(helped, "ran")); err == nil {
		t.Error("the helper ran")
	}
	t.Setenv("PATH", t.TempDir())
	if got := Take(t.Context(), runner(t), judge(env), dir); got != (Snapshot{}) {
		t.Errorf("no git: %+v", got)
	}
}

// Five commands run at once: each waits for the others. One that hangs takes only its own piece away.
func TestCommandsRunTogether(t *testing.T) {
	dir, env := repository(t)
	bin, seen := t.TempDir(), t.TempDir()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	script := `#!/bin/sh
case "$1" in
--no-pager) ;;
*) exec ` + real + ` "$@" ;; # the judge asks
esac
touch ` + seen + `/$$
while [ $(ls ` + seen + ` | wc -l) -lt 5 ]; do sleep 0.01; done
case "$*" in
*status*) sleep 60 ;;
*user.name*) exit 1 ;;
*) echo "said" ;;
esac
`
	write(t, filepath.Join(bin, "git"), script)
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	// On a busy machine those that answer may need longer than a second.
	want := Snapshot{Branch: "said", Log: "said"}
	for limit := time.Second; ; limit *= 4 {
		if err := errors.Join(os.RemoveAll(seen), os.Mkdir(seen, 0o755)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		got := Take(ctx, runner(t), judge(env), dir)
		cancel()
		if got == want {
			break
		}
		if limit > 10*time.Second {
			t.Fatal(cmp.Diff(want, got))
		}
	}
}
