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

// maxInit is the budget for all package initialization, in milliseconds. Every run pays it,
// even --version.
const maxInit = 2.0

// TestInitTime measures a binary that it builds itself, without the race detector that the test
// may run under.
func TestInitTime(t *testing.T) {
	trace := measureInit(t, "..", "./cmd/adze", maxInit)
	t.Logf("initialisation: %.3f ms", total(trace))
	if total(trace) > maxInit {
		t.Errorf("initialisation takes %.3f ms, more than %.1f ms:\n%s", total(trace), maxInit, costliest(trace, 5))
	}
}

// An initCost is the initialization time of one package, in milliseconds.
type initCost struct {
	Package string
	Clock   float64
}

// measureInit builds pkg in dir and returns each package's time in the cheapest of many runs:
// other load on the machine can only slow a run down, and on a busy machine no run is
// unaffected in all packages. It stops when the total is within enough milliseconds.
func measureInit(t *testing.T, dir, pkg string, enough float64) []initCost {
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

	var best []initCost
	for range 50 {
		var stderr bytes.Buffer
		run := exec.CommandContext(t.Context(), bin, "--version")
		run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		run.Stderr = &stderr
		if err := run.Run(); err != nil {
			t.Fatalf("running %s --version: %v\n%s", pkg, err, stderr.String())
		}
		trace := parseInitTrace(stderr.String())
		if len(trace) == 0 {
			t.Fatalf("no initialisation trace in:\n%s", stderr.String())
		}
		best = cheapest(best, trace)
		if total(best) <= enough {
			break
		}
	}
	return best
}

// cheapest returns the packages in trace, each with the smaller cost of the two traces.
func cheapest(best, trace []initCost) []initCost {
	known := make(map[string]float64, len(best))
	for _, c := range best {
		known[c.Package] = c.Clock
	}
	for i, c := range trace {
		if clock, ok := known[c.Package]; ok {
			trace[i].Clock = min(c.Clock, clock)
		}
	}
	return trace
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @[0-9.]+ ms, ([0-9.]+) ms clock`)

// parseInitTrace parses the output of GODEBUG=inittrace=1.
func parseInitTrace(text string) []initCost {
	var trace []initCost
	for _, m := range initLine.FindAllStringSubmatch(text, -1) {
		clock, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			continue
		}
		trace = append(trace, initCost{Package: m[1], Clock: clock})
	}
	return trace
}

func total(trace []initCost) float64 {
	var sum float64
	for _, c := range trace {
		sum += c.Clock
	}
	return sum
}

// costliest lists the n most expensive packages, one per line.
func costliest(trace []initCost, n int) string {
	sorted := slices.SortedStableFunc(slices.Values(trace), func(a, b initCost) int {
		return cmp.Compare(b.Clock, a.Clock)
	})
	var b strings.Builder
	for _, c := range sorted[:min(n, len(sorted))] {
		fmt.Fprintf(&b, "%8.3f ms  %s\n", c.Clock, c.Package)
	}
	return b.String()
}

func TestInitTimeParse(t *testing.T) {
	const text = `init internal/bytealg @0.005 ms, 0 ms clock, 0 bytes, 0 allocs
init runtime @0.03 ms, 0.061 ms clock, 0 bytes, 0 allocs
adze 1.0
init adze/internal/app @1.2 ms, 1.5 ms clock, 4096 bytes, 12 allocs
`
	trace := parseInitTrace(text)
	want := []initCost{{"internal/bytealg", 0}, {"runtime", 0.061}, {"adze/internal/app", 1.5}}
	if diff := gocmp.Diff(want, trace); diff != "" {
		t.Error(diff)
	}
	const top = "   1.500 ms  adze/internal/app\n   0.061 ms  runtime\n"
	if diff := gocmp.Diff(top, costliest(trace, 2)); diff != "" {
		t.Error(diff)
	}
}

func TestInitTimeCheapest(t *testing.T) {
	first := []initCost{{"runtime", 0.1}, {"adze/internal/app", 5}}
	second := []initCost{{"runtime", 3}, {"adze/internal/app", 0.5}, {"adze/internal/msg", 1}}
	want := []initCost{{"runtime", 0.1}, {"adze/internal/app", 0.5}, {"adze/internal/msg", 1}}
	if diff := gocmp.Diff(want, cheapest(cheapest(nil, first), second)); diff != "" {
		t.Error(diff)
	}
}

// TestInitTimeSlow checks that a costly package variable is detected and named.
func TestInitTimeSlow(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module slow\n\ngo 1.26\n",
		"main.go": `package main

import "time"

var spent = spend(3 * time.Millisecond)

func spend(d time.Duration) int {
	n := 0
	for start := time.Now(); time.Since(start) < d; n++ {
	}
	return n
}

func main() {}
`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	trace := measureInit(t, dir, ".", 3)
	if total(trace) <= maxInit || !strings.Contains(costliest(trace, 1), "main") {
		t.Errorf("3 ms of initialisation not seen: %.3f ms\n%s", total(trace), costliest(trace, 5))
	}
}
