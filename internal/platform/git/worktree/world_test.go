package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/proc/osproc"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("ADZE_TEST_MAKE"); dir != "" {
		makeUntilKilled(dir, os.Getenv("ADZE_TEST_AT"))
		return
	}
	goleak.VerifyTestMain(m)
}

// A world is a home directory and a place for repositories.
type world struct {
	t    testing.TB
	base string
	run  *osproc.Runner
}

func newWorld(t testing.TB) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, base: base, run: &osproc.Runner{Grace: time.Millisecond}}
	t.Cleanup(w.run.Close)
	w.write("home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.base, filepath.FromSlash(name)) }

func (w *world) environ() []string {
	return []string{"HOME=" + w.path("home"), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.command(dir, args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, w.environ()
	if !filepath.IsAbs(dir) {
		cmd.Dir = w.path(dir)
	}
	return cmd
}

// repository creates a repository with a commit.
func (w *world) repository(name string) {
	w.t.Helper()
	w.write(name+"/f", "a\n")
	w.write(name+"/sub/g", "b\n")
	w.write(name+"/.gitignore", "node_modules/\n*.env\nsecret/\n")
	w.git(name, "init", "-q")
	w.git(name, "add", ".")
	w.git(name, "commit", "-qm", "one")
}

// trees returns Manager with a judge that knows all repositories.
func (w *world) trees(change ...func(*Config)) *Manager {
	c := Config{Run: w.run, Records: w.path("state"), Judge: gitrepo.New(gitrepo.Config{Environ: w.environ})}
	for _, f := range change {
		f(&c)
	}
	return New(c)
}

func (w *world) create(t *Manager, o Options) *Tree {
	w.t.Helper()
	if o.Dir == "" {
		o.Dir = w.path("r")
	}
	if !filepath.IsAbs(o.Dir) {
		o.Dir = w.path(o.Dir)
	}
	tree, err := t.Create(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return tree
}

// traces returns all traces of worktrees in a repository.
func (w *world) traces(name string) (all []string) {
	w.t.Helper()
	for line := range strings.Lines(w.git(name, "worktree", "list", "--porcelain")) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok && path != w.path(name) {
			all = append(all, "registered "+strings.TrimPrefix(path, w.base))
		}
	}
	for line := range strings.Lines(w.git(name, "branch", "--list", "worktree-*", "--format=%(refname:short)")) {
		all = append(all, "branch "+strings.TrimSpace(line))
	}
	for _, pattern := range []string{name + "/.adze/worktrees/*", name + "/.adze/worktrees/.*", name + "/.git/worktrees/*", "state/*/*.json"} {
		found, err := filepath.Glob(w.path(pattern))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, path := range found {
			all = append(all, strings.TrimPrefix(path, w.base))
		}
	}
	slices.Sort(all)
	return all
}

func (w *world) none(name string) {
	w.t.Helper()
	if left := w.traces(name); len(left) > 0 {
		w.t.Errorf("there is left: %q", left)
	}
}
