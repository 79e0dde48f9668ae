package permission

import (
	"path/filepath"
	"testing"
)

// In a worktree, the copy of the repository that the session came from can be read and not be written, in every mode and
// whatever rules allow.
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
	NewGate(GateConfig{}).Relocate(w.project, "") // without a directory before
}
