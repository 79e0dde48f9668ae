package regextest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Times returns n, or a fraction of it with the race detector: these tests use one goroutine.
func Times(n int) int {
	if Race {
		return n / 10
	}
	return n
}

// SourceRoot returns the directory of the standard library's source.
func SourceRoot(tb testing.TB) string {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatalf("asking for GOROOT: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// Source returns about n bytes of Go source.
func Source(tb testing.TB, n int) []byte {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(SourceRoot(tb), "*", "*.go"))
	if err != nil {
		tb.Fatal(err)
	}
	var b []byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		if b = append(b, text...); len(b) > n {
			break
		}
	}
	return b
}
