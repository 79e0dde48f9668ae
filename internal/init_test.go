package internal_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// maxInit is the budget for all package initialization. Every run pays it, even --version. It
// is counted in allocated bytes, which do not depend on the load of the machine; the start
// benchmarks of internal/bench measure the time.
const maxInit = 440 << 10

// TestInit measures a binary that it builds itself, without the race detector that the test may
// run under.
func TestInit(t *testing.T) {
	trace := traceInit(t, "..", "./cmd/adze")
	t.Logf("initialization: %d bytes", total(trace))
	if total(trace) > maxInit {
		t.Errorf("initialization allocates %d bytes, more than %d:\n%s", total(trace), maxInit, costliest(trace, 5))
	}
}

// An initCost is the memory that the initialization of one package allocates.
type initCost struct {
	Package string
	Bytes   int
}

// traceInit builds pkg in dir, runs it and returns each package's cost.
func traceInit(t *testing.T, dir, pkg string) []initCost {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "bin")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, pkg)
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	var stderr bytes.Buffer
	run := exec.CommandContext(t.Context(), bin, "--version")
	run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	run.Stderr = &stderr
	if err := run.Run(); err != nil {
		t.Fatalf("running %s --version: %v\n%s", pkg, err, stderr.String())
	}
	trace := parseInitTrace(stderr.String())
	if len(trace) == 0 {
		t.Fatalf("no initialization trace in:\n%s", stderr.String())
	}
	return trace
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @[0-9.]+ ms, [0-9.]+ ms clock, ([0-9]+) bytes`)

// parseInitTrace parses the output of GODEBUG=inittrace=1.
func parseInitTrace(text string) []initCost {
	var trace []initCost
	for _, m := range initLine.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		trace = append(trace, initCost{Package: m[1], Bytes: n})
	}
	return trace
}

func total(trace []initCost) int {
	sum := 0
	for _, c := range trace {
		sum += c.Bytes
	}
	return sum
}

// costliest lists the n most expensive packages, one per line.
func costliest(trace []initCost, n int) string {
	sorted := slices.SortedStableFunc(slices.Values(trace), func(a, b initCost) int {
		return cmp.Compare(b.Bytes, a.Bytes)
	})
	var b strings.Builder
	for _, c := range sorted[:min(n, len(sorted))] {
		fmt.Fprintf(&b, "%8d bytes  %s\n", c.Bytes, c.Package)
	}
	return b.String()
}

func TestInitParse(t *testing.T) {
	const text = `init internal/bytealg @0.005 ms, 0 ms clock, 0 bytes, 0 allocs
init runtime @0.03 ms, 0.061 ms clock, 480 bytes, 3 allocs
adze 1.0
init adze/internal/app @1.2 ms, 1.5 ms clock, 4096 bytes, 12 allocs
`
	trace := parseInitTrace(text)
	want := []initCost{{"internal/bytealg", 0}, {"runtime", 480}, {"adze/internal/app", 4096}}
	if diff := gocmp.Diff(want, trace); diff != "" {
		t.Error(diff)
	}
	const top = "    4096 bytes  adze/internal/app\n     480 bytes  runtime\n"
	if diff := gocmp.Diff(top, costliest(trace, 2)); diff != "" {
		t.Error(diff)
	}
}

// TestInitSlow checks that a costly package variable is detected and named.
func TestInitSlow(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module slow\n\ngo 1.26\n",
		"main.go": `package main

import "regexp"

var patterns = compile(1000)

func compile(n int) (all []*regexp.Regexp) {
	for range n {
		all = append(all, regexp.MustCompile("a+b*"))
	}
	return all
}

func main() {}
`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	trace := traceInit(t, dir, ".")
	if total(trace) <= maxInit || !strings.Contains(costliest(trace, 1), "main") {
		t.Errorf("costly initialization not seen: %d bytes\n%s", total(trace), costliest(trace, 5))
	}
}
