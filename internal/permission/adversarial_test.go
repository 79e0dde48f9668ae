package permission

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/tool"
)

// An attack is one line of the adversarial suite: the expected result, mode, rules, tool and
// target.
type attack struct {
	line                     int
	want, mode, tool, target string
	rules                    []string
}

func attacks(t testing.TB) []attack {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "adversarial.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // ok: it was only read
	var all []attack
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		if strings.HasPrefix(in.Text(), "#") {
			continue
		}
		parts := strings.Split(in.Text(), "\t")
		if len(parts) != 5 {
			t.Fatalf("line %d has %d fields", n, len(parts))
		}
		a := attack{line: n, want: parts[0], mode: parts[1], tool: parts[3], target: parts[4]}
		if parts[2] != "" {
			a.rules = strings.Split(parts[2], "; ")
		}
		if strings.HasPrefix(a.target, `"`) {
			if err := json.Unmarshal([]byte(a.target), &a.target); err != nil {
				t.Fatalf("line %d: %v", n, err)
			}
		}
		all = append(all, a)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func (a attack) call() call {
	switch a.tool {
	case "Bash":
		return runs(a.target)
	case "WebFetch":
		return connects(a.target)
	case "Edit", "Write", "NotebookEdit":
		return writesTo(a.target)
	}
	return call{Reads: true, Access_: []tool.Access{{Verb: tool.Read, Target: a.target}}}
}

// hostileWorld returns a project with links to outside directories and to denied files.
func hostileWorld(t testing.TB) world {
	w := newWorld(t)
	w.write(t, "project/secret.txt", "project/go.sum", "project/locked/sub/x", "project/sub/x", "project/list", "project/x")
	w.link(t, w.outside, "out")
	w.link(t, filepath.Join(w.outside, "data.txt"), "link-to-out")
	w.link(t, ".env", "link-to-env")
	w.link(t, "loop2", "loop1")
	w.link(t, "loop1", "loop2")
	return w
}

// TestAdversarial checks that no attack is allowed, no deny is weakened, and every call that
// needs a prompt gets one.
//
// Proves PERM-08, PERM-37, PERM-38.
func TestAdversarial(t *testing.T) {
	w := hostileWorld(t)
	all := attacks(t)
	if len(all) < 400 {
		t.Errorf("the suite has only %d cases", len(all))
	}
	for _, a := range all {
		d := decide(t, w.config(Mode(a.mode), a.rules...), a.tool, a.call())
		ok := string(d.Behavior) == a.want
		if a.want == "no" {
			ok = d.Behavior != Allow
		}
		if !ok {
			t.Errorf("adversarial.tsv:%d: %s, want %s: %s %.80q in %s with %q (%s)", a.line, d.Behavior, a.want, a.tool, a.target, a.mode, a.rules, d.Reason.String())
		}
	}
}

// TestPlainCommands checks that at most 2% of the plain commands developers use to look around
// prompt.
func TestPlainCommands(t *testing.T) {
	w := newWorld(t)
	data, err := os.ReadFile(filepath.Join("testdata", "plain.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	asked := 0
	for _, line := range lines {
		d := decide(t, w.config(Default), "Bash", jailed(line))
		if d.Behavior != Allow || !d.ReadOnly {
			asked++
			t.Logf("%s: %s, read-only %v (%s)", line, d.Behavior, d.ReadOnly, d.Reason.String())
		}
	}
	if len(lines) < 200 || asked*50 > len(lines) {
		t.Errorf("%d of %d commands ask", asked, len(lines))
	}
}
