// Command bench measures the figures in the specification: adze's time from exec to its first
// request, its own time per turn, and its memory. Every figure is a median, and comparisons are
// ratios from one interleaved run.
//
// "bench search [tree...]" compares searching with ripgrep, and "bench files" compares the file
// tools with cp, sed and bare writes; see search.go and files.go. "bench sessions" measures
// session files; see sessions.go. "bench dialects" measures the cost of each wire dialect; see
// dialects.go. "bench servers" compares MCP server calls with the protocol library's; see
// servers.go. "bench skills" measures how long a start takes to know all skills; see skills.go.
// "bench agents" measures sub-agents; see agents.go. "bench growth" measures a session with
// hundreds of them; see growth.go. "bench compare" measures the most important figures side by
// side with another adze; see compare.go. "bench repositories" measures starts in git
// repositories; see repositories.go. "bench terminal" measures responsiveness at a terminal;
// see terminal_unix.go.
//
// It builds the binaries it measures and needs no network: the model is a script on loopback.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// binary is the program to measure; if empty, one is built. against, if not empty, is another
// one to compare it with.
var binary, against string

func main() {
	runs := flag.Int("runs", 40, "repetitions of each short measurement")
	flag.StringVar(&binary, "adze", "", "measure this program instead of building one")
	flag.StringVar(&against, "against", "", "compare with this program, where that is supported")
	flag.Parse()
	measure := func() error { return run(*runs) }
	switch flag.Arg(0) {
	case "search":
		measure = func() error { return runSearch(min(*runs, maxSearchRuns), flag.Args()[1:]) }
	case "compare":
		measure = func() error { return runCompare(*runs) }
	case "repositories":
		measure = func() error { return runRepositories(*runs) }
	case "files":
		measure = func() error { return runFiles(*runs) }
	case "sessions":
		measure = func() error { return runSessions(*runs) }
	case "context":
		measure = func() error { return runContext(*runs) }
	case "shell":
		measure = func() error { return runShell(*runs) }
	case "dialects":
		measure = func() error { return runDialects(*runs) }
	case "servers":
		measure = func() error { return runServers(*runs) }
	case "agents":
		measure = func() error { return runAgents(*runs) }
	case "growth":
		measure = runGrowth
	case "terminal":
		measure = func() error { return runTerminal(*runs) }
	case "skills":
		measure = func() error { return runSkills(*runs) }
	case echoCommand:
		measure = serveEcho
	case toolsCommand:
		measure = serveTools
	case "permissions":
		measure = runPermissions
	case memoryCommand:
		measure = func() error { return searchMemory(flag.Arg(1)) }
	}
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(runs int) error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir)
	if err != nil {
		return err
	}
	b.runs = runs
	fmt.Printf("%s/%s, %d cores, %s, %d runs, medians\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs)
	fmt.Printf("%-58s %10s %10s\n", "figure", "measured", "at most")
	for _, m := range []func() error{b.start, b.turns, b.parallel, b.flat} {
		if err := m(); err != nil {
			return err
		}
	}
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

// build compiles the measured programs into dir. It measures copies, like an installed program:
// the linker's own output is in smaller pieces of the page cache, which costs a start up to 2 ms
// of page faults.
func build(dir string) (*bench, error) {
	b := &bench{dir: dir, adze: filepath.Join(dir, "adze"), floor: filepath.Join(dir, "floor")}
	programs := map[string]string{b.adze: "adze/cmd/adze", b.floor: "adze/internal/bench/floor"}
	for out, pkg := range programs {
		from := binary
		if from == "" || out != b.adze {
			from = out + "-linked"
			cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", from, pkg)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if text, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("building %s: %w\n%s", pkg, err, text)
			}
		}
		if err := copyProgram(from, out); err != nil {
			return nil, err
		}
	}
	return b, b.settings()
}

// settings prepares the state home: a repeated read returns the file again, and models have
// windows of several sizes, from never filled, because compaction is not measured, to filled
// many times.
func (b *bench) settings() error {
	home := filepath.Join(b.dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	text := `{"read":{"dedup":false},"sessionMemory":{"enabled":false},
		"models":{"bench-endless":{"contextWindow":100000000},"bench-usual":{"contextWindow":200000},"bench-million":{"contextWindow":1000000},"bench-small":{"contextWindow":60000}}}`
	return os.WriteFile(filepath.Join(home, "settings.json"), []byte(text), 0o600)
}

// A bench is one run of the measurements.
type bench struct {
	dir, adze, floor string
	runs             int
	missed           int
	last             float64 // last reported figure
}

// report prints a figure with its limit; a limit of 0 means none.
func (b *bench) report(name, unit string, got, limit float64) {
	b.last = got
	bound := ""
	if limit > 0 {
		bound = fmt.Sprintf("%.2f%s", limit, unit)
		if got > limit {
			b.missed++
			bound += " MISSED"
		}
	}
	fmt.Printf("%-58s %10s %10s\n", name, fmt.Sprintf("%.2f%s", got, unit), bound)
}

func median(d []time.Duration) float64 {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	return float64(s[len(s)/2]) / float64(time.Millisecond)
}
