package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLeft checks that in a worktree, the repository copy the session came from can be read but
// not written, in every mode and even if a rule allows it.
//
// Proves AGENT-30.
func TestLeft(t *testing.T) {
	w := newWorld(t)
	tree := filepath.Join(w.project, ".adze/worktrees/one")
	w.write(t, "project/.adze/worktrees/one/main.go", "project/sub/x.go")
	w.link(t, w.project, ".adze/worktrees/one/up")
	for _, mode := range []Mode{Default, AcceptEdits, Bypass} {
		c := w.config(mode, "allow Edit", "allow Edit(//**)", "allow Write")
		c.Dirs = []string{w.project, filepath.Join(w.project, "sub")}
		g := NewGate(GateConfig{Config: c, MayBypass: true})
		g.Relocate(tree, w.project)
		g.SetRules(c.Rules, []string{filepath.Join(w.project, "sub")})
		p := g.Policy()
		judge := func(path string, write bool) Behavior {
			r := resolver{p: p}
			target := Target{Given: path, Write: write, Set: r.resolve(p.cfg.Dir, path)}
			target.names = r.names(target.Set)
			return pathCheck{p, &Facts{Names: []string{"Write"}}}.judge(&target).behavior
		}
		for path, want := range map[string]Behavior{
			"main.go": Allow, "new.go": Allow, ".": Allow, tree + "/main.go": Allow,
			w.project + "/main.go": Deny, "../../../main.go": Deny, "up/main.go": Deny, w.project + "/sub/x.go": Deny, w.project + "/new": Deny,
			w.project + "/.adze/worktrees/two/main.go": Deny, w.project: Deny,
		} {
			if got := judge(path, true); got != want {
				t.Errorf("%s: writing %s: %s, want %s", mode, path, got, want)
			}
		}
		for _, path := range []string{"main.go", w.project + "/main.go", "up/src/a.go"} {
			if got := judge(path, false); got != Allow {
				t.Errorf("%s: reading %s: %s", mode, path, got)
			}
		}
		g.Relocate(w.project, "")
		if p = g.Policy(); judge(w.project+"/main.go", true) != Allow || p.cfg.start() != w.project {
			t.Errorf("%s: the copy cannot be written again", mode)
		}
	}
	NewGate(GateConfig{}).Relocate(w.project, "") // no directory before
}

// TestRulesInCopies checks that a rule that denies a file in one copy of the repository denies
// it in all: in the session's worktree, in the registered worktrees, and in the main copy.
//
// Proves PERM-83.
func TestRulesInCopies(t *testing.T) {
	w := newWorld(t)
	one, two := filepath.Join(w.project, ".adze/worktrees/one"), filepath.Join(w.home, "elsewhere")
	for name, dir := range map[string]string{"one": one, "two": two} {
		admin := filepath.Join(w.project, ".git/worktrees", name)
		for _, made := range []string{admin, filepath.Join(dir, "secrets"), filepath.Join(dir, "sub")} {
			if err := os.MkdirAll(made, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for file, text := range map[string]string{
			filepath.Join(admin, "gitdir"): dir + "/.git\n", filepath.Join(admin, "commondir"): "../..\n", filepath.Join(dir, ".git"): "gitdir: " + admin + "\n",
			filepath.Join(dir, ".env"): "x", filepath.Join(dir, "secrets/key"): "x", filepath.Join(dir, "sub/.env"): "x",
		} {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.write(t, "project/secrets/key", "project/sub/.env")
	abs := func(dir, name string) string { return "//" + dir[1:] + "/" + name }
	for _, text := range []string{
		"/.env", "./.env", abs(w.project, ".env"), abs(one, ".env"), abs(two, ".env"), "~/project/.env", "~/project/.en*", abs(w.project, ".e?v"), "~/elsewhere/.env",
	} {
		for _, start := range []string{w.project, one, two} {
			c := w.config(Bypass, "deny Read("+text+")", "allow Read")
			for i := range c.Rules {
				c.Rules[i].Base = w.project
			}
			c.Dir, c.Dirs = start, []string{start, w.project, two}
			p := Compile(c)
			for _, dir := range []string{w.project, one, two} {
				if !p.Hidden(filepath.Join(dir, ".env")) {
					t.Errorf("in %s, %s does not hide .env in %s", start, text, dir)
				}
				if p.Hidden(filepath.Join(dir, "secrets/key")) || p.Hidden(filepath.Join(dir, "main.go")) {
					t.Errorf("in %s, %s hides more than .env in %s", start, text, dir)
				}
			}
			if places := p.DeniedPlaces(); !strings.ContainsAny(text, "*?") && len(places) != 3 {
				t.Errorf("in %s, %s names %v", start, text, places)
			}
		}
	}
	c := w.config(Default, "deny Read(/secrets/**)", "allow Read(/sub/**)")
	for i := range c.Rules {
		c.Rules[i].Base = w.project
	}
	p := Compile(c)
	if r, _ := p.rules.Deny.Reads.Below(filepath.Join(w.project, ".adze")); r == nil {
		t.Error("a search above a copy does not know of the rule")
	}
	if r := p.rules.Allow.Reads.Match(filepath.Join(two, "sub/.env"), nil); r != nil {
		t.Error("a rule that allows counts in another copy")
	}
	if err := os.MkdirAll(filepath.Join(w.project, ".git/worktrees/three"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !p.stale() {
		t.Error("a new worktree goes unnoticed")
	}
}
