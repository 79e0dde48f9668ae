//go:build unix

package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/permission"
	"adze/internal/permission/rule"
)

// tree creates empty files and returns their directory.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func denying(t *testing.T, base string, texts ...string) []rule.Rule {
	t.Helper()
	var rules []rule.Rule
	for _, text := range texts {
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Behavior, r.Base = permission.Deny, base
		rules = append(rules, r)
	}
	return rules
}

// TestHidden checks that rules that deny reading hide files from commands too, wherever their
// patterns lead, and that other rules hide nothing.
//
// Proves PERM-61.
func TestHidden(t *testing.T) {
	work := tree(t, "a.env", "sub/b.env", "keys/one", "keys/two", "public")
	home := tree(t, "tokens/x", "tokens/y.txt", "other")
	base := tree(t, "private/z", "open")
	p := &paths{new(sources), work, home, nil, "", nil}
	p.settings.Store(&Settings{DenyRead: []string{"extra", "~/wallet", "//mnt/disk", "/srv"}})
	fromSettings := []string{filepath.Join(work, "extra"), filepath.Join(home, "wallet"), "/mnt/disk", "/srv"}
	for _, gate := range []Gate{nil, permission.NewGate(permission.GateConfig{})} {
		p.gate = gate
		if got, err := p.hidden(); err != nil || !cmp.Equal(got, fromSettings) {
			t.Errorf("without rules: %q, %v", got, err)
		}
	}
	p.gate = permission.NewGate(permission.GateConfig{Config: permission.Config{
		Dir: work, Dirs: []string{work}, Home: home,
		Rules: denying(t, base, "Read(*.env)", "Read(keys/**)", "Read(~/tokens/*.txt)", "Read(/private/z)", "Edit(public)", "Read"),
	}})
	got, err := p.hidden()
	want := append(fromSettings,
		filepath.Join(work, "a.env"), filepath.Join(work, "keys"), filepath.Join(work, "sub/b.env"),
		filepath.Join(home, "tokens/y.txt"), filepath.Join(base, "private/z"))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestHiddenIsBounded checks that a rule that cannot be enforced is an error: the command must
// not run.
func TestHiddenIsBounded(t *testing.T) {
	work := tree(t, "a", "b", "c")
	policy := permission.Compile(permission.Config{Dirs: []string{work}, Rules: denying(t, "", "Read(*.env)")})
	if _, err := findHidden(policy, []string{work}, 4); err != nil {
		t.Error(err)
	}
	if _, err := findHidden(policy, []string{work}, 3); err == nil || !strings.Contains(err.Error(), "more than 3 files in "+work) {
		t.Errorf("too many: %v", err)
	}
}

// TestWritable checks that files that control adze's own execution, and the ones named in
// settings, cannot be written.
//
// Proves PERM-61.
func TestWritable(t *testing.T) {
	p := &paths{new(sources), "/work", "/home/a", []string{"/state"}, "", nil}
	p.settings.Store(&Settings{AllowWrite: []string{"../cache"}, DenyWrite: []string{"fixed"}})
	if got := p.roots(); !cmp.Equal(got, []string{"/work"}) {
		t.Errorf("roots before there are rules: %q", got)
	}
	p.gate = permission.NewGate(permission.GateConfig{Config: permission.Config{
		Dirs: []string{"/work", "/more"}, UserDir: "/state", Protected: []string{"/state", "/conf"},
	}})
	if got := p.roots(); !cmp.Equal(got, []string{"/work", "/more"}) {
		t.Errorf("roots: %q", got)
	}
	if got, err := p.writable(); err != nil || !cmp.Equal(got, []string{"/cache"}) {
		t.Errorf("writable: %q, %v", got, err)
	}
	if got, err := p.readOnly(); err != nil || !cmp.Equal(got, []string{"/work/fixed", "/conf", "/state/settings.json"}) {
		t.Errorf("read only: %q, %v", got, err)
	}
}
