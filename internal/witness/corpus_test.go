//go:build linux && !race

package witness_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpora are the hand-written tables of command lines in the tree, each with a function that
// extracts the line from a row, or "" if it has none.
var corpora = map[string]func(row string) string{
	"../permission/testdata/adversarial.tsv": func(row string) string {
		if f := strings.SplitN(row, "\t", 5); len(f) == 5 && f[3] == "Bash" {
			return f[4]
		}
		return ""
	},
	"../platform/shell/testdata/everyday.txt": func(row string) string { return row },
	"../platform/shell/testdata/intents.txt":  func(row string) string { return row },
	"../permission/testdata/plain.txt":        func(row string) string { return row },
	"../platform/shell/testdata/readonly.txt": func(row string) string { return row[2:] },
	"../platform/shell/testdata/rules.txt":    func(row string) string { return after(row, " => ") },
}

// after returns the text after a separator.
func after(row, separator string) string {
	_, rest, _ := strings.Cut(row, separator)
	return rest
}

// handWritten returns the lines of all corpora except the attacks. In an unknown table, every
// field after the first counts as a line.
func handWritten(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, pattern := range []string{"../permission/testdata/*.t*", "../platform/shell/testdata/*.t*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no corpora in %s: %v", pattern, err)
		}
		for _, file := range files {
			for _, row := range readLines(t, file) {
				row = strings.ReplaceAll(row, "␤", "\n")
				if line := corpora[file]; line != nil {
					lines = append(lines, line(row))
				} else {
					lines = append(lines, strings.Split(after(row, "\t"), "\t")...)
				}
			}
		}
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// An attack is a malicious line.
type attack struct {
	class string
	ask   bool // must not run without a prompt
	line  string
}

func attacks(t *testing.T) []attack {
	t.Helper()
	var all []attack
	seen := map[string]bool{}
	for _, row := range readLines(t, "testdata/attacks.txt") {
		f := strings.Split(row, "\t")
		if len(f) != 3 || f[1] != "ask" && f[1] != "any" || seen[f[2]] {
			t.Fatalf("attacks.txt: %q is malformed (want class, expectation and line) or a duplicate", row)
		}
		seen[f[2]] = true
		all = append(all, attack{class: f[0], ask: f[1] == "ask", line: f[2]})
	}
	return all
}
