package internal_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDependencies compares the direct dependencies with the page that gives the reason for
// each.
func TestDependencies(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z]\S*\.\S+) \|`).FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = true
	}
	direct := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(\S+) v\S+(.*)$`).FindAllStringSubmatch(string(mod), -1) {
		if direct[m[1]] = !strings.Contains(m[2], "// indirect"); direct[m[1]] && !listed[m[1]] {
			t.Errorf("docs/dependencies.md has no reason for %s", m[1])
		}
	}
	for name := range listed {
		if !direct[name] {
			t.Errorf("docs/dependencies.md lists %s, which is not a direct dependency", name)
		}
	}
}
