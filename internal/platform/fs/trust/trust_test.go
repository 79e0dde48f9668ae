package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/replace"
)

// A world is a test machine with a home directory.
type world struct {
	t    *testing.T
	root string
	*Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root}
	w.mkdir("home/.adze")
	w.Store = Open(w.path("home/.adze"), replace.New(w.path("home/.adze/locks")))
	return w
}

func (w *world) path(rel string) string { return filepath.Join(w.root, filepath.FromSlash(rel)) }

func (w *world) mkdir(dirs ...string) {
	w.t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(w.path(dir), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) write(rel, text string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(rel))
	if err := os.WriteFile(w.path(rel), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) find(rel string) Workspace {
	w.t.Helper()
	ws, err := Find(w.path(rel), w.path("home"))
	if err != nil {
		w.t.Fatal(err)
	}
	return ws
}

func (w *world) trust(rel string) {
	w.t.Helper()
	if err := w.Add(w.t.Context(), w.find(rel), nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) trusted(rel string) bool {
	w.t.Helper()
	given, err := w.Consent(w.find(rel))
	if err != nil {
		w.t.Fatal(err)
	}
	return given.Trusted
}

// worktree makes tree a worktree of the repository main, as git would.
func (w *world) worktree(main, tree string) {
	w.write(tree+"/.git", "gitdir: "+w.path(main+"/.git/worktrees/wt")+"\n")
	w.write(main+"/.git/worktrees/wt/gitdir", w.path(tree+"/.git")+"\n")
	w.write(main+"/.git/worktrees/wt/commondir", "../..\n")
}

// Proves PERM-70.
func TestTrusted(t *testing.T) {
	tests := []struct {
		name   string
		set    func(w *world)
		trust  string
		ask    string
		expect bool
	}{
		{"nothing is trusted at first", func(w *world) { w.mkdir("a") }, "", "a", false},
		{"the same directory", func(w *world) { w.mkdir("a") }, "a", "a", true},
		{"below it, outside a repository", func(w *world) { w.mkdir("a/b") }, "a", "a/b", false},
		{"above it", func(w *world) { w.mkdir("a/b") }, "a/b", "a", false},
		{"a name that begins alike", func(w *world) { w.mkdir("a", "ab") }, "a", "ab", false},
		{"a repository", func(w *world) { w.mkdir("a/.git", "a/b/c") }, "a", "a/b/c", true},
		{"a repository trusted from below", func(w *world) { w.mkdir("a/.git", "a/b/c") }, "a/b/c", "a", true},
		{"a nested repository", func(w *world) { w.mkdir("a/.git", "a/b/.git", "a/b/c") }, "a", "a/b/c", false},
		{"a directory that looks like a repository", func(w *world) { w.mkdir("a/.git", "a/b/refs", "a/b/objects", "a/b/c"); w.write("a/b/HEAD", "x") }, "a", "a/b/c", false},
		{"a submodule", func(w *world) { w.mkdir("a/.git/modules/m", "a/m"); w.write("a/m/.git", "gitdir: ../.git/modules/m") }, "a", "a/m", false},
		{"a worktree", func(w *world) { w.mkdir("a/.git", "wt/sub"); w.worktree("a", "wt") }, "a", "wt/sub", true},
		{"a worktree trusted itself", func(w *world) { w.mkdir("a/.git", "wt"); w.worktree("a", "wt") }, "wt", "wt", true},
		{"the main tree of a trusted worktree", func(w *world) { w.mkdir("a/.git", "wt"); w.worktree("a", "wt") }, "wt", "a", false},
		{"a worktree inside the main tree", func(w *world) { w.mkdir("a/.git", "a/wt"); w.worktree("a", "a/wt") }, "a", "a/wt", true},
		{"a worktree that the repository does not know", func(w *world) {
			w.mkdir("a/.git", "evil", "wt")
			w.worktree("a", "wt")
			w.write("evil/.git", "gitdir: "+w.path("a/.git/worktrees/wt"))
		}, "a", "evil", false},
		{"a forged common directory", func(w *world) {
			w.mkdir("a/.git", "evil/.git/worktrees")
			w.worktree("evil", "evil2")
			w.write("evil/.git/worktrees/wt/commondir", w.path("a/.git"))
		}, "a", "evil2", false},
		{"a forged directory elsewhere", func(w *world) {
			w.mkdir("a/.git", "evil")
			w.write("evil/.git", "gitdir: "+w.path("evil/g"))
			w.write("evil/g/commondir", w.path("a/.git"))
			w.write("evil/g/gitdir", w.path("evil/.git"))
		}, "a", "evil", false},
		{"a link to a git directory", func(w *world) {
			w.mkdir("a/.git", "evil")
			if err := os.Symlink(w.path("a/.git"), w.path("evil/.git")); err != nil {
				w.t.Fatal(err)
			}
		}, "a", "evil", false},
		{"through a link", func(w *world) {
			w.mkdir("a/.git", "a/b")
			if err := os.Symlink(w.path("a/b"), w.path("link")); err != nil {
				w.t.Fatal(err)
			}
		}, "a", "link", true},
		{"trust given through a link is for its target", func(w *world) {
			w.mkdir("a", "c")
			if err := os.Symlink(w.path("a"), w.path("c/link")); err != nil {
				w.t.Fatal(err)
			}
		}, "c/link", "a", true},
		{"home is a repository", func(w *world) { w.mkdir("home/.git", "home/p/sub") }, "home/p", "home/p/sub", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.set(w)
			if tt.trust != "" {
				w.trust(tt.trust)
			}
			if got := w.trusted(tt.ask); got != tt.expect {
				t.Errorf("trusted: %t, want %t", got, tt.expect)
			}
		})
	}
}

// TestReplacedDirectory checks that trust applies to a directory, not to a path.
//
// Proves PERM-70.
func TestReplacedDirectory(t *testing.T) {
	w := newWorld(t)
	w.mkdir("a/.git", "b/.git")
	w.trust("a")
	for _, step := range [][2]string{{"a", "old"}, {"b", "a"}} {
		if err := os.Rename(w.path(step[0]), w.path(step[1])); err != nil {
			t.Fatal(err)
		}
	}
	if w.trusted("a") {
		t.Error("another directory at the same path is trusted")
	}
	w.trust("a")
	if entries, err := w.List(); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestBecameARepository(t *testing.T) {
	w := newWorld(t)
	w.mkdir("a/b")
	w.trust("a")
	w.mkdir("a/.git")
	if !w.trusted("a") || w.trusted("a/b") {
		t.Errorf("%t, %t", w.trusted("a"), w.trusted("a/b"))
	}
}

// Proves PERM-70.
func TestUnusableStore(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"not JSON":        func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"another version": func(path string) error { return os.WriteFile(path, []byte(`{"version":9}`), 0o600) },
		"writable":        func(path string) error { return os.Chmod(path, 0o666) },
		"a directory":     func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.mkdir("a")
			w.trust("a")
			if err := spoil(w.path("home/.adze/trust.json")); err != nil {
				t.Fatal(err)
			}
			if given, err := w.Consent(w.find("a")); given.Trusted || given.Approved(Item{}) || err == nil {
				t.Errorf("%+v, %v", given, err)
			}
			if err := w.Add(t.Context(), w.find("a"), nil); err == nil {
				t.Error("it was overwritten")
			}
		})
	}
}

func TestStore(t *testing.T) {
	w := newWorld(t)
	w.mkdir("a", "b/.git")
	w.trust("b")
	w.trust("a")
	info, err := os.Stat(w.path("home/.adze/trust.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	entries, err := w.List()
	if err != nil || len(entries) != 2 || entries[0].Path != w.path("a") || !entries[1].Repository {
		t.Errorf("%+v, %v", entries, err)
	}
	if err := w.Remove(t.Context(), w.path("a")); err != nil || w.trusted("a") || !w.trusted("b") {
		t.Errorf("%v", err)
	}
	if err := w.Remove(t.Context(), w.path("a")); !errors.Is(err, ErrNotTrusted) {
		t.Errorf("%v", err)
	}
}

// Proves PERM-70.
func TestApproval(t *testing.T) {
	w := newWorld(t)
	w.mkdir("a/.git", "b/.git", "wt")
	w.worktree("a", "wt")
	hook := Hook("PreToolUse", "Bash", json.RawMessage(`{"type":"command", "command":"./x.sh"}`))
	if err := w.Add(t.Context(), w.find("a"), nil, hook); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		in   string
		item Item
		want bool
	}{
		{"as approved", "a", hook, true},
		{"written otherwise", "a", Hook("PreToolUse", "Bash", json.RawMessage("{\n\"command\":\"./x.sh\",\"type\":\"command\"}")), true},
		{"another command", "a", Hook("PreToolUse", "Bash", json.RawMessage(`{"type":"command","command":"./y.sh"}`)), false},
		{"another event", "a", Hook("Stop", "Bash", json.RawMessage(`{"type":"command","command":"./x.sh"}`)), false},
		{"another matcher", "a", Hook("PreToolUse", "", json.RawMessage(`{"type":"command","command":"./x.sh"}`)), false},
		{"another kind", "a", Server("PreToolUse(Bash)", json.RawMessage(`{"type":"command","command":"./x.sh"}`)), false},
		{"another workspace", "b", hook, false},
		{"a worktree", "wt", hook, true},
	}
	for _, tt := range tests {
		given, err := w.Consent(w.find(tt.in))
		if err != nil || given.Approved(tt.item) != tt.want {
			t.Errorf("%s: %t, %v", tt.name, given.Approved(tt.item), err)
		}
	}
	server := Server("s", json.RawMessage(`{"command":"x"}`))
	if err := w.Approve(t.Context(), w.find("a"), server); err != nil {
		t.Fatal(err)
	}
	if given, err := w.Consent(w.find("a")); err != nil || !given.Approved(server) || !given.Approved(hook) {
		t.Errorf("%v", err)
	}
	if err := w.Add(t.Context(), w.find("a"), nil, server); err != nil {
		t.Fatal(err)
	}
	if given, err := w.Consent(w.find("a")); err != nil || given.Approved(hook) {
		t.Errorf("a removed item stays approved: %v", err)
	}
}

func TestTwoProcesses(t *testing.T) {
	const each = 15
	if dir := os.Getenv("TRUST_TEST_DIR"); dir != "" {
		w := &world{t: t, root: dir, Store: Open(filepath.Join(dir, "home/.adze"), replace.New(filepath.Join(dir, "home/.adze/locks")))}
		for i := range each {
			name := fmt.Sprintf("%s%d", os.Getenv("TRUST_TEST_NAME"), i)
			w.mkdir(name)
			w.trust(name)
		}
		return
	}
	w := newWorld(t)
	var wg sync.WaitGroup
	for _, name := range []string{"p", "q"} {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcesses$", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), "TRUST_TEST_DIR="+w.root, "TRUST_TEST_NAME="+name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if entries, err := w.List(); err != nil || len(entries) != 2*each {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

func TestHide(t *testing.T) {
	w := newWorld(t)
	w.mkdir("a/.git", "a/sub", "wt", "plain")
	w.write("a/.git/info/exclude", "# mine\n*.tmp")
	w.worktree("a", "wt")
	for _, step := range []struct{ ws, file, want string }{
		{"a", "a/.adze/settings.local.json", "a/.git/info/exclude"},
		{"a/sub", "a/.adze/settings.local.json", ""},
		{"wt", "wt/.adze/x.json", "a/.git/info/exclude"},
		{"plain", "plain/.adze/x.json", ""},
		{"a", "plain/x", ""},
	} {
		got, err := w.find(step.ws).Hide(w.path(step.file))
		if want := step.want; err != nil || got != "" && got != w.path(want) || (got == "") != (want == "") {
			t.Errorf("%v: %s, %v", step, got, err)
		}
	}
	data, err := os.ReadFile(w.path("a/.git/info/exclude"))
	if diff := cmp.Diff("# mine\n*.tmp\n/.adze/settings.local.json\n/.adze/x.json\n", string(data)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestGitsWorktrees checks worktrees created by git itself.
func TestGitsWorktrees(t *testing.T) {
	w := newWorld(t)
	w.mkdir("a")
	for _, args := range [][]string{
		{"init", "-q"}, {"-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "x"}, {"worktree", "add", "-q", w.path("wt")},
	} {
		cmd := exec.Command("git", append([]string{"-C", w.path("a")}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	w.trust("a")
	if !w.trusted("wt") || w.find("wt").Main != w.path("a") {
		t.Errorf("%+v", w.find("wt"))
	}
}

func TestCovers(t *testing.T) {
	w := newWorld(t)
	w.mkdir("home/p")
	for rel, want := range map[string]bool{"home": true, ".": true, "home/p": false, "home/.adze": false} {
		if got := w.find(rel).Covers(w.path("home")); got != want {
			t.Errorf("%s: %t", rel, got)
		}
	}
}

func FuzzPointer(f *testing.F) {
	f.Add("gitdir: ../a/.git/worktrees/wt\n")
	f.Add("gitdir:")
	f.Add("gitdir: \x00")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".git"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if w, err := Find(dir, ""); err == nil && w.Main != "" {
			t.Errorf("%q names %s as the main working tree", text, w.Main)
		}
	})
}
