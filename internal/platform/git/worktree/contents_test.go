package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Proves AGENT-31.
func TestContents(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	w.write("r/node_modules/x", "module")
	w.write("r/a.env", "A=1")
	w.write("r/sub/b.env", "B=1")
	w.write("r/secret/key", "k")
	w.write("r/loose", "untracked and not ignored")
	w.write("r/.adze/settings.local.json", "{}")
	w.write("r/.husky/_/pre-commit", "#!/bin/sh\necho hooked >&2\nexit 1\n")
	w.write("r/.worktreeinclude", "# what is needed\n*.env\n!sub/b.env\nloose\nf\nout.env\n")
	w.write("home/passwords", "p")
	w.link("home/passwords", "r/out.env")
	w.git("r", "config", "core.hooksPath", ".husky/_")
	if err := os.Chmod(w.path("r/.husky/_/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.path("r/a.env"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := w.create(w.trees(), Options{Name: "one", Links: []string{"node_modules", "./node_modules/", "vendor", "sub"}, Copies: []string{".adze/settings.local.json", ".claude/settings.local.json"}})
	at := "r/.adze/worktrees/one/"
	for name, want := range map[string]string{"node_modules/x": "module", "a.env": "A=1", ".adze/settings.local.json": "{}", "sub/g": "b\n"} {
		if got := w.read(at + name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"sub/b.env", "loose", "secret", "out.env", "vendor"} {
		if exists(w.path(at + name)) {
			t.Errorf("%s is there", name)
		}
	}
	if len(tree.Notes) != 1 || !strings.Contains(tree.Notes[0], "out.env was not copied") {
		t.Errorf("%q", tree.Notes)
	}
	if info, err := os.Stat(w.path(at + "a.env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if target, err := os.Readlink(w.path(at + ".husky/_")); err != nil || target != w.path("r/.husky/_") {
		t.Errorf("the hooks lead to %q, %v", target, err)
	}
	if got := w.git(tree.Path, "status", "--porcelain", "node_modules"); got != "" {
		t.Errorf("git sees %q", got)
	}
	w.write(at+"f", "changed")
	if out := w.fails(tree.Path, "commit", "-qam", "x"); !strings.Contains(out, "hooked") {
		t.Errorf("the hook of the repository did not run: %s", out)
	}
	w.git(tree.Path, "checkout", "-q", "f")
	if kept, note, err := tree.Finish(t.Context()); kept || err != nil {
		t.Errorf("kept %v, %q, %v", kept, note, err)
	}
	if w.read("r/node_modules/x") != "module" || w.read("r/.husky/_/pre-commit") == "" || w.read("r/a.env") != "A=1" {
		t.Error("the main copy was changed")
	}
}

// fails runs a git command that must fail, and returns its output.
func (w *world) fails(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.command(dir, args...).CombinedOutput()
	if err == nil {
		w.t.Errorf("git %v did not fail", args)
	}
	return string(out)
}

// TestBroughtAndChanged checks that a file added to a worktree counts as a change once it is
// modified.
func TestBroughtAndChanged(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	w.write("r/.adze/settings.local.json", "{}")
	tree := w.create(w.trees(), Options{Name: "one", Copies: []string{".adze/settings.local.json"}})
	w.write("r/.adze/worktrees/one/.adze/settings.local.json", `{"a": 1}`)
	if kept, note, err := tree.Finish(t.Context()); !kept || err != nil || !strings.Contains(note, "1 uncommitted change") {
		t.Errorf("kept %v, %q, %v", kept, note, err)
	}
}

// Proves AGENT-31.
func TestSparse(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	w.write("r/big/x", "")
	w.write("r/öd \"x\"/y", "")
	w.write("r/.githooks/pre-commit", "")
	w.git("r", "add", ".")
	w.git("r", "commit", "-qm", "more")
	w.git("r", "config", "core.hooksPath", ".githooks")
	tree := w.create(w.trees(), Options{Name: "one", Sparse: []string{"sub", "öd \"x\"", "nowhere"}})
	for name, want := range map[string]bool{"f": true, "sub/g": true, "öd \"x\"/y": true, "big": false, ".githooks/pre-commit": true} {
		if exists(filepath.Join(tree.Path, name)) != want {
			t.Errorf("%s: it should be there: %v", name, want)
		}
	}
	if !exists(w.path("r/big/x")) || w.git("r", "status", "--porcelain") != "" {
		t.Error("the main copy was changed")
	}
	if kept, note, err := tree.Finish(t.Context()); kept || err != nil {
		t.Errorf("kept %v, %q, %v", kept, note, err)
	}
	w.none("r")
}

// Proves AGENT-31.
func TestPathsOutside(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	w.link("home", "r/out")
	for _, name := range []string{"../home", "/etc", "out", "sub/../../home", "", ".", ".git", ".GIT/hooks", "a\nb"} {
		for _, o := range []Options{{Links: []string{name}}, {Sparse: []string{name}}} {
			o.Dir, o.Name = w.path("r"), "one"
			if _, err := w.trees().Create(t.Context(), o); err == nil {
				t.Errorf("%q was taken", name)
			}
			w.none("r")
		}
	}
}

// TestLinkInCommit checks that a committed symlink does not redirect copies out of the
// worktree.
func TestLinkInCommit(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	w.link("home", "r/secret")
	w.git("r", "add", "-f", "secret")
	w.git("r", "commit", "-qm", "link")
	if err := os.Remove(w.path("r/secret")); err != nil {
		t.Fatal(err)
	}
	w.write("r/secret/below/new.env", "x")
	w.write("r/.worktreeinclude", "*.env\n")
	if _, err := w.trees().Create(t.Context(), Options{Dir: w.path("r"), Name: "one"}); err == nil || !strings.Contains(err.Error(), "secret/below: path escapes") {
		t.Errorf("%v", err)
	}
	if exists(w.path("home/below")) {
		t.Error("a directory was created outside the worktree")
	}
	w.none("r")
}
