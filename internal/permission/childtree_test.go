package permission

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// A node is a conversation in a tree of leads and children.
type node struct {
	gate   *Gate
	parent *node
	copy   rule.Copy
	remote bool // runs in another process
	own    bool // received a grant of its own
}

// in translates a path of the node to the corresponding path in the lead's workspace.
func (n *node) in(name string) string {
	if n.copy.Root == "" {
		return name
	}
	if rel, ok := rule.Below(n.copy.Root, name); ok {
		return filepath.Join(n.copy.Main, rel)
	}
	return name
}

// TestChildrenNeverWiden checks that no conversation may do more than its lead after any
// sequence of grants and revocations: agents, forks, agents in worktrees, and teammates in
// other processes.
//
// Proves AGENT-15.
func TestChildrenNeverWiden(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/secrets/key", "project/docs/a.md", "project/sub/.env", "project/sub/docs/b.md", "project/b/c/d.txt", "other/x.txt")
	for i := range 4 {
		w.write(t, fmt.Sprintf("project/.adze/worktrees/t%d/main.go", i), fmt.Sprintf("project/.adze/worktrees/t%d/.env", i),
			fmt.Sprintf("project/.adze/worktrees/t%d/secrets/key", i), fmt.Sprintf("project/.adze/worktrees/t%d/sub/docs/b.md", i))
		w.link(t, w.outside, fmt.Sprintf(".adze/worktrees/t%d/way", i))
	}
	w.link(t, w.outside, "way")
	tree := func(i int) string { return filepath.Join(w.project, fmt.Sprintf(".adze/worktrees/t%d", i)) }
	other := filepath.Join(w.home, "other")
	contents := []string{".env", "./.env", "/.env", "//" + w.project[1:] + "/.env", "~/project/.env", "**/.env", "secrets/**", "./secrets", "/secrets",
		"docs/**", "./docs/**", "//" + other[1:] + "/**", "**", "src/*.go", "/sub/**", "//" + w.outside[1:] + "/**"}
	lines := []string{"make", "make:*", "touch:*", "cat:*", "git *", "rm:*"}
	rules := rapid.Custom(func(t *rapid.T) rule.Rule {
		text := rapid.SampledFrom([]string{"Read", "Edit", "Bash", "WebFetch", "mcp__s"}).Draw(t, "tool")
		switch {
		case rapid.IntRange(0, 5).Draw(t, "whole") == 0 || text == "mcp__s":
		case text == "Bash":
			text += "(" + rapid.SampledFrom(lines).Draw(t, "line") + ")"
		case text == "WebFetch":
			text += "(domain:example.org)"
		default:
			text += "(" + rapid.SampledFrom(contents).Draw(t, "content") + ")"
		}
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		r.Behavior = rapid.SampledFrom([]Behavior{Allow, Allow, Ask, Deny}).Draw(t, "behavior")
		r.Scope = rapid.SampledFrom([]scope.Scope{scope.Managed, scope.Flag, scope.CLI, scope.Local, scope.Project, scope.User}).Draw(t, "scope")
		r.Base = w.project
		return r
	})
	modes := rapid.SampledFrom([]Mode{Default, AcceptEdits, Plan, DontAsk, Bypass, Auto})
	dirs := rapid.SampledFrom([]string{"", w.project, filepath.Join(w.project, "sub"), filepath.Join(w.project, "way"), other, w.outside, w.home, "/", filepath.Join(w.project, "b/..")})
	rapid.Check(t, func(t *rapid.T) {
		settings := rapid.SliceOfN(rules, 0, 6).Draw(t, "rules")
		cfg := Config{
			Rules: settings, Mode: modes.Draw(t, "mode"), Dirs: []string{w.project}, Home: w.home, UserDir: w.state, Protected: []string{w.state},
			ManagedOnly: rapid.IntRange(0, 9).Draw(t, "managed") == 0,
		}
		if rapid.Bool().Draw(t, "added") {
			cfg.Dirs = append(cfg.Dirs, other)
		}
		root := &node{gate: NewGate(GateConfig{Config: cfg, MayBypass: true})}
		all := []*node{root}
		for step := range rapid.IntRange(1, 9).Draw(t, "steps") {
			n := all[rapid.IntRange(0, len(all)-1).Draw(t, "node")]
			switch what := rapid.IntRange(0, 9).Draw(t, "step"); {
			case what < 4:
				if made := hire(t, n, modes, dirs, tree(step%4), cfg); made != nil {
					all = append(all, made)
				}
			case what == 4:
				r := rules.Draw(t, "rule")
				r.Scope = scope.Session
				n.gate.AddRule(r)
				n.own = n.own || r.Behavior == Allow
			case what == 5:
				dir := rapid.SampledFrom([]string{other, w.outside}).Draw(t, "dir")
				kind := rapid.SampledFrom([]UpdateType{AddDirectories, RemoveDirectories}).Draw(t, "update")
				n.gate.Apply(t.Context(), []Update{{Type: kind, Directories: []string{dir}, Destination: scope.Session}})
				n.own = n.own || kind == AddDirectories
			case what == 6 && n.parent == nil:
				n.gate.SetMode(modes.Draw(t, "mode"))
			case what == 7: // live settings reach every conversation, in any order
				next := rapid.SliceOfN(rules, 0, 6).Draw(t, "reload")
				more := rapid.SampledFrom([][]string{nil, {other}}).Draw(t, "dirs")
				for _, i := range rapid.Permutation(seq(len(all))).Draw(t, "order")[:rapid.IntRange(0, len(all)).Draw(t, "reached")] {
					all[i].gate.SetRules(next, more)
				}
			case what == 8:
				n.gate.SetCommand(rapid.SliceOfN(rules, 0, 2).Draw(t, "command"))
				n.own = true
			}
		}
		for _, n := range all[1:] { // leads come first
			if n.remote {
				n.gate.SetLimits(handed(t, n.parent.gate.Limits()))
			}
			if !n.own {
				compare(t, n, w)
			}
		}
	})
}

// hire creates a conversation that works for n, or returns nil if that is not possible.
func hire(t *rapid.T, n *node, modes *rapid.Generator[Mode], dirs *rapid.Generator[string], tree string, cfg Config) *node {
	made := &node{parent: n}
	if rapid.IntRange(0, 3).Draw(t, "process") == 0 {
		made.remote = true
		cfg.Mode = modes.Draw(t, "flag")
		l := handed(t, n.gate.Limits())
		made.gate = NewGate(GateConfig{Config: cfg, MayBypass: true, Lead: &l})
		return made
	}
	c := Child{Dir: dirs.Draw(t, "cwd")}
	if rapid.Bool().Draw(t, "wish") {
		c.Mode = modes.Draw(t, "wished")
	}
	if rapid.IntRange(0, 3).Draw(t, "worktree") == 0 {
		c.Dir, c.Copy = tree, rule.Copy{Root: tree, Main: n.gate.Standing().Config().Start()}
		made.copy = c.Copy
	}
	var err error
	if made.gate, err = n.gate.Child(c); err != nil {
		return nil
	}
	return made
}

// handed returns the limits after a round trip through their encoding for another process.
func handed(t *rapid.T, l Limits) (read Limits) {
	data, err := json.Marshal(l)
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// compare checks that n may do nothing its lead may not.
func compare(t *rapid.T, n *node, w world) {
	start := n.gate.Standing().Config().Start()
	var names []string
	for _, rel := range []string{"main.go", ".env", "secrets/key", "docs/a.md", "sub/.env", "sub/docs/b.md", "new.txt", "b/c/d.txt", "way/data.txt"} {
		names = append(names, filepath.Join(start, rel), filepath.Join(w.project, rel))
	}
	names = append(names, w.outside+"/data.txt", w.home+"/other/x.txt", w.home+"/.ssh/id", "/etc/hostname", w.state+"/settings.json")
	check := func(what string, name string, own, lead call) {
		mine, theirs := decision(t, n.gate, name, own), decision(t, n.parent.gate, name, lead)
		if mine.Behavior == Allow && theirs.Behavior != Allow || theirs.Behavior == Deny && theirs.Reason.Type() == ByRule && mine.Behavior != Deny {
			t.Fatalf("%s: the child says %s (%s), its lead %s (%s)\nchild %s\nlead %s", what, mine.Behavior, mine.Reason, theirs.Behavior, theirs.Reason, n.gate.about(), n.parent.gate.about())
		}
	}
	for _, name := range names {
		there := n.in(name)
		for verb, toolName := range map[tool.Verb]string{tool.Read: "Read", tool.Write: "Edit"} {
			check(fmt.Sprint(toolName, " ", name), toolName, call{Access_: []tool.Access{{Verb: verb, Target: name}}, Reads: verb == tool.Read},
				call{Access_: []tool.Access{{Verb: verb, Target: there}}, Reads: verb == tool.Read})
		}
		for _, program := range []string{"cat ", "touch ", "rm "} {
			check(program+name, "Bash", command(program+name), command(program+there))
		}
	}
	for _, line := range []string{"make", "git status", "make test", "curl example.org"} {
		check(line, "Bash", command(line), command(line))
	}
	fetch := call{Access_: []tool.Access{{Verb: tool.Connect, Target: "https://example.org/"}}}
	check("fetch", "WebFetch", fetch, fetch)
	check("a server's tool", "mcp__s__t", call{}, call{})
}

func command(line string) call {
	return call{Access_: []tool.Access{{Verb: tool.Execute, Target: line}}}
}

func decision(t *rapid.T, g *Gate, name string, c call) Decision {
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	tl := fake{name: name}
	bound, err := tl.Bind(data)
	if err != nil {
		t.Fatal(err)
	}
	p := g.Policy()
	return Decide(p, FactsOf(p, tl, bound))
}

// about describes a gate's configuration for test messages.
func (g *Gate) about() string {
	c := g.Policy().Config()
	var rules []string
	for _, r := range c.Rules {
		rules = append(rules, fmt.Sprint(r.Scope, " ", r.Behavior, " ", r))
	}
	return fmt.Sprintf("mode %s (saved %q), dir %s, dirs %v, copies %v, managed only %v\n  %s", c.Mode, c.Saved, c.Dir, c.Dirs, c.Copies, c.ManagedOnly, strings.Join(rules, "\n  "))
}

func seq(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return slices.Clip(all)
}

// TestChildDir checks that a child starts only inside its lead's directories, also through a
// symlink.
//
// Proves AGENT-15.
func TestChildDir(t *testing.T) {
	w := newWorld(t)
	w.link(t, w.outside, "way")
	w.link(t, filepath.Join(w.project, "src"), "in")
	if err := os.MkdirAll(filepath.Join(w.home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	g := NewGate(GateConfig{Config: w.config(Default)})
	for dir, want := range map[string]bool{
		w.project: true, w.project + "/src": true, w.project + "/in": true, w.project + "/src/..": true,
		w.home: false, "/": false, w.home + "/.ssh": false, w.project + "/way": false, w.project + "/..": false, w.project + "/none": false, w.outside: false,
		w.project + "x": false,
	} {
		c, err := g.Child(Child{Dir: dir})
		if (err == nil) != want {
			t.Errorf("%s: %v", dir, err)
		}
		if err == nil && !slices.Equal(c.Policy().Config().Dirs, []string{w.project}) {
			t.Errorf("%s: the working directories are %v", dir, c.Policy().Config().Dirs)
		}
	}
	if _, err := g.Child(Child{Copy: rule.Copy{Root: w.outside, Main: w.home}}); err == nil {
		t.Error("a copy of what is outside is inside")
	}
}
