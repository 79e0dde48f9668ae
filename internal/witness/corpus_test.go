//go:build linux && !race

package witness_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpora are the hand-written tables of the tree that hold command lines, and how to find the line in a
// row; none of it is "".
var corpora = map[string]func(row string) string{
	"../permission/testdata/adversarial.tsv": func(row string) string {
		if f := strings.SplitN(row, "\t", 5); len(f) == 5 && f[3] == "Bash" {
			return f[4]
		}
		return ""
	},
	"../platform/shell/testdata/everyday.txt": func(row string) string { return row },
	"../platform/shell/testdata/intents.txt":  func(row string) string { return row },
	"../permission/testdata/commands.tsv":     func(row string) string { return strings.Split(after(row, "\t"), "\t")[0] },
	"../permission/testdata/plain.txt":        func(row string) string { return row },
	"../platform/shell/testdata/readonly.txt": func(row string) string { return row[2:] },
	"../platform/shell/testdata/rules.txt":    func(row string) string { return after(row, " => ") },
}

// after returns what comes after a separator.
func after(row, separator string) string {
	_, rest, _ := strings.Cut(row, separator)
	return rest
}

// handWritten returns the lines of all corpora but the attacks.
func handWritten(t *testing.T) []string {
	t.Helper()
	for _, dir := range []string{"../permission/testdata", "../platform/shell/testdata"} {
		for _, pattern := range []string{"*.txt", "*.tsv"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range found {
				if corpora[file] == nil {
					t.Errorf("%s is not watched: add it to corpora", file)
				}
			}
		}
	}
	var lines []string
	for _, file := range slices.Sorted(maps.Keys(corpora)) {
		line := corpora[file]
		for _, row := range readLines(t, file) {
			if l := line(row); l != "" {
				lines = append(lines, strings.ReplaceAll(l, "␤", "\n"))
			}
		}
	}
	return lines
}

// An attack is a line that means harm.
type attack struct {
	class string
	ask   bool // it must not run without a question
	line  string
}

func attacks(t *testing.T) []attack {
	t.Helper()
	var all []attack
	seen := map[string]bool{}
	for _, row := range readLines(t, "testdata/attacks.txt") {
		f := strings.Split(row, "\t")
		if len(f) != 3 || f[1] != "ask" && f[1] != "any" || seen[f[2]] {
			t.Fatalf("attacks.txt: %q is not a class, what is expected and a line, or is there twice", row)
		}
		seen[f[2]] = true
		all = append(all, attack{class: f[0], ask: f[1] == "ask", line: f[2]})
	}
	return all
}
