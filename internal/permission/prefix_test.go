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
