package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrefixRules checks that a wildcard rule covers neither options that run or read something
// else nor files outside the working directories, and that it covers the intended uses.
//
// Proves SHAST-10.
func TestPrefixRules(t *testing.T) {
	w := newWorld(t)
	w.write(t, ".ssh/id_rsa", "project/Makefile", "project/evil.sh", "project/msg.txt", "project/src/a.ts", "project/x.json", "../outside/data.go")
	w.link(t, filepath.Join(w.home, ".ssh", "id_rsa"), "leak")
	for _, dir := range []string{"web", "tests", "build", "include", "other"} {
		if err := os.MkdirAll(filepath.Join(w.project, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("testdata/prefix.pairs")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	fill := strings.NewReplacer("$HOME", "$HOME", "HOME", w.home, "OUT", w.outside)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			t.Fatalf("%q has %d fields", line, len(fields))
		}
		want, rule, command := fields[0], fill.Replace(fields[1]), fill.Replace(fields[2])
		count[want]++
		d := decide(t, w.config(Default, "allow Bash("+rule+")"), "Bash", runs(command))
		if string(d.Behavior) != want {
			t.Errorf("%s => %s: %s (%s)", fields[1], fields[2], d.Behavior, d.Reason.String())
		}
	}
	if count["ask"] < 300 || count["allow"] < 90 {
		t.Errorf("only %v pairs", count)
	}
}

// TestReadersNextToRules checks that a reader needs no rule next to commands that have one, and
// that diff needs it for anything but regular files, since it follows the links in a directory.
//
// Proves SHRO-01, SHAST-04.
func TestReadersNextToRules(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/a", "project/b", "project/dir/x")
	w.link(t, w.outside+"/data.txt", "dir/link")
	w.link(t, w.outside, "away")
	for line, want := range map[string]Behavior{
		"diff a b": Allow, "diff -u a b | head": Allow, "diff a src/a.go": Allow, "tac a": Allow, "expr 1 + 2": Allow, "type ls": Allow, "sleep 2": Allow,
		"diff a -": Allow, "sed -n 1,5p a": Allow, "awk 'NR > 1 {print $1}' a": Allow,
		"diff dir src": Ask, "diff -r dir src": Ask, "diff a dir": Ask, "diff a missing": Ask, "diff a ../../outside/data.txt": Ask, "diff away src": Ask,
		"diff a *": Ask, "sed -n 'w a' b": Ask, "awk '{print > \"a\"}' b": Ask,
	} {
		for _, jail := range []bool{false, true} {
			in := runs("go test ./... && " + line)
			in.Jail = jail
			if d := decide(t, w.config(Default, "allow Bash(go test:*)"), "Bash", in); d.Behavior != want {
				t.Errorf("%s (jail %v): %s, not %s (%s)", line, jail, d.Behavior, want, d.Reason)
			}
		}
	}
}
