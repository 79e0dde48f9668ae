package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/platform/shell"
	"adze/internal/tool"
	"adze/internal/tool/command"
	"adze/internal/tools/bash"
)

// runShell measures the shell tool: starting a command, a gigabyte of output, command analysis,
// and the leftovers of many background tasks.
func runShell(runs int) error {
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
	for _, m := range []func() error{b.startCommand, b.confined, b.gigabyte, b.analysis, b.tasks} {
		if err := m(); err != nil {
			return err
		}
	}
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

// bashTool returns a command that runs a shell command through adze.
func (b *bench) bashTool(command string, env ...string) *exec.Cmd {
	input, _ := json.Marshal(bash.Input{Command: command}) // ok: it marshals
	cmd := exec.Command(b.adze, "tool", "Bash", string(input))
	cmd.Dir = filepath.Join(b.dir, "work")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "ADZE_HOME=" + filepath.Join(b.dir, "state")}, env...)
	return cmd
}

// startCommand compares a command through adze with a minimal program that starts bash.
func (b *bench) startCommand() error {
	starter := filepath.Join(b.dir, "starter")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", starter, "adze/internal/bench/starter")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(b.dir, "work"), 0o700); err != nil {
		return err
	}
	var floor, proven, approved []time.Duration
	for range b.runs {
		for _, m := range []struct {
			cmd *exec.Cmd
			to  *[]time.Duration
		}{{exec.Command(starter), &floor}, {b.bashTool("true"), &proven}, {b.bashTool("exit 0"), &approved}} {
			began := time.Now()
			if out, err := m.cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w\n%s", err, out)
			}
			*m.to = append(*m.to, time.Since(began))
		}
	}
	b.report("minimal program, bash -c true", " ms", median(floor), 0)
	b.report("adze tool Bash, true", " ms", median(proven), 0)
	b.report("adze tool Bash, exit 0 (with the user's aliases)", " ms", median(approved), 0)
	b.report("start of a command, ratio", "x", median(proven)/median(floor), 1.3)
	return nil
}

// gigabyte compares a gigabyte of output with the same command writing to a file, and with a
// command without output.
func (b *bench) gigabyte() error {
	const command = "yes 'a line of text that a build prints' | head -c 1000000000"
	var file, adze []time.Duration
	var least, most int64
	for range min(b.runs, 5) {
		out := filepath.Join(b.dir, "out")
		began := time.Now()
		if err := exec.Command("bash", "-c", command+" > "+out).Run(); err != nil {
			return err
		}
		file = append(file, time.Since(began))
		os.Remove(out) // ok: the directory goes anyway

		quiet, loud := b.bashTool("exit 0"), b.bashTool(command)
		if err := quiet.Run(); err != nil {
			return err
		}
		began = time.Now()
		if text, err := loud.CombinedOutput(); err != nil || !strings.Contains(string(text), "953.7 MB") {
			return fmt.Errorf("%v\n%.2000s", err, text)
		}
		adze = append(adze, time.Since(began))
		least, most = max(least, maxRSS(quiet.ProcessState)), max(most, maxRSS(loud.ProcessState))
		os.RemoveAll(filepath.Join(b.dir, "state")) // ok: as above
	}
	b.report("1 GB to a file", " ms", median(file), 0)
	b.report("1 GB through adze", " ms", median(adze), 0)
	b.report("1 GB, time against a file (throughput at least 0.7)", "x", median(adze)/median(file), 1/0.7)
	b.report("1 GB, memory above a command without output", " MB", float64(most-least)/(1<<20), 32)
	return nil
}

//go:embed commands.txt
var realistic string

// commandLines returns n realistic commands, derived from a list separated by blank lines: the
// originals, and variants with other names and neighbors.
func commandLines(n int) []string {
	base := strings.Split(strings.TrimSpace(realistic), "\n\n")
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"src", "internal/app", "cmd/server", "web/components", "test data", "a-b_c", "/usr/local/share", "docs"}
	one := func() string {
		line := base[random.IntN(len(base))]
		for _, old := range []string{"internal", "src", "feature", "app"} {
			if random.IntN(3) == 0 && !strings.Contains(line, "<<") {
				line = strings.ReplaceAll(line, old, strings.ReplaceAll(names[random.IntN(len(names))], " ", `\ `))
			}
		}
		return line
	}
	lines := make([]string, n)
	for i := range lines {
		if i < len(base) {
			lines[i] = base[i]
			continue
		}
		lines[i] = one()
		for random.IntN(4) == 0 && !strings.Contains(lines[i], "<<") {
			lines[i] += []string{" && ", "; ", " || ", "\n"}[random.IntN(4)] + one()
		}
	}
	return lines
}

// analysis measures the command analysis for permission checks.
func (b *bench) analysis() error {
	lines := commandLines(10_000)
	var patterns []shell.Pattern
	for _, text := range []string{"git push:*", "rm:*", "curl *", "npm test", "*sudo*"} {
		p, err := shell.ParsePattern(text)
		if err != nil {
			return err
		}
		patterns = append(patterns, p)
	}
	took := make([]time.Duration, 0, len(lines))
	understood := 0
	for _, line := range lines {
		best := time.Hour // the minimum excludes other load on the machine
		for range 3 {
			began := time.Now()
			s := shell.Parse(line, shell.Vars{Home: "/home/u", Dir: "/work", User: "u", Temp: "/tmp"})
			s.ReadOnly() // ok: the answer does not matter here
			s.Paths()
			s.DangerousRemovals("/home/u", []string{"/work"}, nil)
			s.Suggest()
			s.Class()
			s.Destructive()
			for _, p := range patterns {
				s.Suspected(p)
			}
			best = min(best, time.Since(began))
			if s.Simple {
				understood++
			}
		}
		took = append(took, best)
	}
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[int(share*float64(len(took)-1))]) / float64(time.Millisecond)
	}
	b.report("analysis of 10,000 commands, median", " ms", at(0.5), 0)
	b.report("analysis, 99 % of them", " ms", at(0.99), 1)
	b.report("analysis, the slowest", " ms", at(1), 0)
	b.report("share that is simple enough for rules", " %", 100*float64(understood)/float64(3*len(lines)), 0)
	return nil
}

// tasks starts and ends 200 background tasks, 32 at a time, and counts leftovers.
func (b *bench) tasks() error {
	runner := new(osproc.Runner)
	table := task.New(filepath.Join(b.dir, "tasks"), func(task.Notice) {})
	t := bash.New(bash.Config{Config: command.Config{
		Dir: func() string { return b.dir }, Runner: runner, Limits: command.Limits{Tasks: table},
	}})
	files, routines := openFiles(), runtime.NumGoroutine()
	mark := fmt.Sprintf("1000.%d", os.Getpid())
	began := time.Now()
	for left := 200; left > 0; left -= task.MaxRunning {
		var ids []string
		for range min(left, task.MaxRunning) {
			call, err := t.Bind(json.RawMessage(fmt.Sprintf(`{"command":"sleep %s & sleep %s","run_in_background":true}`, mark, mark)))
			if err != nil {
				return err
			}
			res, err := call.Run(context.Background(), func(tool.Progress) {})
			if err != nil {
				return err
			}
			ids = append(ids, res.Structured.(command.Output).TaskID)
		}
		for _, id := range ids {
			tk, err := table.Get(id)
			if err != nil {
				return err
			}
			tk.Stop()
			<-tk.Done()
		}
	}
	took := time.Since(began)
	table.Close()
	runner.Close()
	left := 0
	for range 100 { // goroutines exit a moment later
		if left = max(0, runtime.NumGoroutine()-routines); left == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.report("200 background tasks, each", " ms", float64(took)/200/float64(time.Millisecond), 0)
	if open := openFiles() - files; open > 0 || left > 0 {
		return fmt.Errorf("200 background tasks left %d open files and %d goroutines", open, left)
	}
	if n := processes(mark); n > 0 {
		return fmt.Errorf("200 background tasks left %d processes", n)
	}
	return nil
}

// processes returns the number of processes with an argument, if available.
func processes(argument string) int {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline") // ok: the pattern is good
	n := 0
	for _, name := range names {
		if line, err := os.ReadFile(name); err == nil && strings.Contains(string(line), argument) {
			n++
		}
	}
	return n
}

// openFiles returns the number of files this process has open, or 0 if unavailable.
func openFiles() int {
	entries, _ := os.ReadDir("/proc/self/fd") // ok: as above
	return len(entries)
}
