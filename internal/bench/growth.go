package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// growthAt lists the numbers of sub-agents after which a session is measured.
var growthAt = []int{1, 100, 200, 400}

// Session limits after the last of growthAt.
const (
	grownMemory     = 60   // MB
	grownTranscript = 1.25 // bytes per agent, relative to 100 agents
)

// runGrowth measures a session that launches sub-agents one after another: open files, memory
// and transcript must not grow faster than the conversation.
func runGrowth() error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built, err := build(dir)
	if err != nil {
		return err
	}
	b := &agentBench{built}
	fmt.Printf("%s/%s, %d cores, %s; load %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), load())
	for _, kind := range []launchKind{
		{name: "foreground", input: `"`},
		{name: "background", input: `","run_in_background":true`},
		{name: "a turn each", input: `"`, turns: true},
	} {
		if err := b.grow(kind); err != nil {
			return err
		}
	}
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

// A launchKind is a way to launch agents.
type launchKind struct {
	name  string
	input string // end of each launch's input
	turns bool   // each launch has its own turn
}

// A sessionStats is a session's state at one moment.
type sessionStats struct {
	agents, files, rssKB int
	transcript           int64
	processor            time.Duration
}

// grow measures a session whose agents each read a file and report.
func (b *agentBench) grow(kind launchKind) error {
	file := filepath.Join(b.dir, "small.txt")
	if err := os.WriteFile(file, []byte("a line of text\n"), 0o600); err != nil {
		return err
	}
	sessions := filepath.Join(b.dir, "home", "projects")
	os.RemoveAll(sessions) // ok: an older transcript would show
	last := growthAt[len(growthAt)-1]
	c := &fakeModel{calls: 1, call: reading(file), report: strings.Repeat("A sentence of a report. ", 40)}
	for i := range last {
		c.lead = append(c.lead, launches(i, 1, kind.input))
		if kind.turns {
			c.lead = append(c.lead, saying("Launched."))
		}
	}
	c.lead = append(c.lead, saying("Done."))
	var all []sessionStats
	started := make(chan int, 1)
	c.probe = func(agents int) {
		if len(all) == len(growthAt) || agents < growthAt[len(all)] {
			return
		}
		pid := <-started
		started <- pid
		all = append(all, sessionStats{agents, descriptorsOf(pid), rssKB(pid), transcriptSize(sessions), processTime(pid)})
	}
	cmd, srv, out, err := b.launchAll(c, kind)
	if err != nil {
		return err
	}
	defer srv.close()
	started <- cmd.Process.Pid
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("adze: %w\n%s", err, out.String())
	}
	if len(all) != len(growthAt) {
		return fmt.Errorf("%d agents asked: %s", c.begun(), out.String())
	}
	b.grew(kind.name, all)
	fmt.Printf("%-12s %8s %12s %14.1f %14d\n\n", "", "end", "", float64(maxRSS(cmd.ProcessState))/(1<<20), transcriptSize(sessions))
	return nil
}

// launchAll starts adze with a crowd that launches agents.
func (b *agentBench) launchAll(c *fakeModel, kind launchKind) (*exec.Cmd, *server, *bytes.Buffer, error) {
	args := []string{"--model", "bench-endless"}
	if !kind.turns {
		return b.begin(c, args...)
	}
	var prompts bytes.Buffer
	for i := range growthAt[len(growthAt)-1] {
		fmt.Fprintf(&prompts, `{"type":"user","message":{"role":"user","content":"launch agent %d"}}`+"\n", i)
	}
	cmd, srv, out, err := b.prepare(c, append(args, "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")...)
	if err != nil {
		return nil, nil, nil, err
	}
	cmd.Args = slices.Delete(cmd.Args, 1, 3)
	cmd.Stdin = &prompts
	return cmd, srv, out, cmd.Start()
}

// grew reports a grown session.
func (b *agentBench) grew(name string, all []sessionStats) {
	fmt.Printf("%-12s %8s %12s %14s %14s %16s\n", name, "agents", "open files", "memory (MB)", "transcript", "ms of processor")
	var last time.Duration
	for _, g := range all {
		fmt.Printf("%-12s %8d %12d %14.1f %14d %16d\n", "", g.agents, g.files, float64(g.rssKB)/1024, g.transcript, (g.processor - last).Milliseconds())
		last = g.processor
	}
	first, mid, end := all[0], all[1], all[len(all)-1]
	each := func(g sessionStats) float64 { return float64(g.transcript) / float64(g.agents) }
	b.report(name+": open files, in addition to one agent's", "", float64(end.files-first.files), 12)
	b.report(fmt.Sprintf("%s: memory with %d agents (VmRSS)", name, end.agents), " MB", float64(end.rssKB)/1024, grownMemory)
	b.report(fmt.Sprintf("%s: transcript per agent at %d, against %d", name, end.agents, mid.agents), "x", each(end)/each(mid), grownTranscript)
}

// descriptorsOf returns the number of open files of a process, or 0 if unavailable.
func descriptorsOf(pid int) int {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)) // ok: 0 shows as 0
	return len(all)
}

// transcriptSize returns the size of the main transcripts below dir.
func transcriptSize(dir string) (size int64) {
	all, _ := filepath.Glob(filepath.Join(dir, "*", "*.jsonl")) // ok: the pattern is valid
	for _, file := range all {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return size
}
