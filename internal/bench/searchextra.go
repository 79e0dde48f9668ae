package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/platform/search"
	"adze/internal/platform/search/fileindex"
)

// warm measures text searches in a tree that was searched before.
func (c *comparison) warm(_ *search.Engine, tree string) error {
	e := search.New(search.Config{})
	defer e.Close()
	for range 2 {
		if _, err := e.Grep(context.Background(), search.GrepOptions{Root: tree, Pattern: "something"}); err != nil {
			return err
		}
	}
	e.Settle()
	for _, q := range classes() {
		switch q.name {
		case "rare literal, files", "no match, files", "Handler, content", "-i handler, content":
			q.name = "repeated: " + q.name
			if _, err := c.grep(e, tree, q, repeated); err != nil {
				return err
			}
		}
	}
	return nil
}

// ticker measures how late a 2 ms timer is while a search runs in the same process.
func (c *comparison) ticker(e *search.Engine, tree string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	idle := lateness(ctx, time.Second)
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := e.Grep(ctx, search.GrepOptions{Root: tree, Pattern: `[a-z]+\d[a-z]+\d[a-z]+`, Mode: search.Count}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	busy := lateness(ctx, time.Hour)
	c.report(fmt.Sprintf("a 2 ms ticker is late, p99 (%.2f ms at rest)", idle), " ms", busy, 10)
	return <-done
}

// lateness returns by how many milliseconds a 2 ms timer is late, excluding the worst
// hundredth.
func lateness(ctx context.Context, most time.Duration) float64 {
	var late []time.Duration
	for first := time.Now(); ctx.Err() == nil && time.Since(first) < most; {
		began := time.Now()
		<-time.After(2 * time.Millisecond)
		late = append(late, time.Since(began)-2*time.Millisecond)
	}
	slices.Sort(late)
	return float64(late[len(late)*99/100]) / float64(time.Millisecond)
}

// interrupted measures how long searches continue after cancellation, in a tree and in a file
// with one very long line.
func (c *comparison) interrupted(e *search.Engine, tree string) error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "line"), bytes.Repeat([]byte("abcdefgh 1234 "), 16<<20), 0o600); err != nil {
		return err
	}
	worst := 0.0
	for _, o := range []search.GrepOptions{
		{Root: tree, Pattern: `[a-z]+\d[a-z]+\d`, Mode: search.Count},
		{Root: tree, Pattern: `(?s)a.*zzz`, Mode: search.Count, Multiline: true},
		{Root: dir, Pattern: `[a-z]+\d[a-z]+\d`, Mode: search.Count},
		{Root: dir, Pattern: `[a-z]+`, Mode: search.Content, Only: true},
	} {
		var took []time.Duration
		for range c.runs {
			late, err := lateEnd(e, o)
			if err != nil {
				return err
			}
			took = append(took, late)
		}
		worst = max(worst, median(took))
	}
	c.report("end of a search after it is interrupted", " ms", worst, 50)
	return nil
}

// lateEnd returns how long a search continues after cancellation.
func lateEnd(e *search.Engine, o search.GrepOptions) (time.Duration, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time
	stop := time.AfterFunc(20*time.Millisecond, func() { at = time.Now(); cancel() })
	_, err := e.Grep(ctx, o)
	if ended := time.Now(); !stop.Stop() && ctx.Err() != nil {
		return ended.Sub(at), err
	}
	return 0, err // finished before cancellation
}

// memoryCommand makes this program measure its own memory.
const memoryCommand = "search-memory"

// memory measures the memory that searching adds to a process.
func (c *comparison) memory(_ *search.Engine, tree string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, memoryCommand, tree)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("measuring memory: %w", err)
	}
	mb, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		return err
	}
	c.report("memory while searching, above resting", " MB", mb, 60)
	return nil
}

// searchMemory searches a tree with many matches, and prints the peak growth of the process in
// megabytes.
func searchMemory(tree string) error {
	e := search.New(search.Config{})
	defer e.Close()
	if _, err := e.Grep(context.Background(), search.GrepOptions{Root: os.TempDir(), Pattern: "xyzzyqwertz", Limit: 1}); err != nil {
		return err
	}
	runtime.GC()
	rest := residentKB("VmRSS:")
	for _, o := range []search.GrepOptions{
		{Pattern: "return", Mode: search.Content, Limit: 250},
		{Pattern: "return"},
		{Pattern: "[a-z]+", Mode: search.Content, Numbers: true, Before: 1, After: 1},
		{Pattern: "xyzzyqwertz", Mode: search.Count},
	} {
		o.Root = tree
		if _, err := e.Grep(context.Background(), o); err != nil {
			return err
		}
		e.Settle()
	}
	if _, err := e.Glob(context.Background(), search.GlobOptions{Root: tree, Pattern: "**", Limit: 250}); err != nil {
		return err
	}
	fmt.Printf("%.1f\n", float64(residentKB("VmHWM:")-rest)/1024)
	return nil
}

// residentKB returns a memory figure of this process, or 0 if unavailable.
func residentKB(field string) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0]) // ok: 0 shows as 0
			return n
		}
	}
	return 0
}

// indexed is the number of files for measuring the name index.
const indexed = 100_000

// index measures finding files by a few letters.
func (c *comparison) index() error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := makeTree(dir); err != nil {
		return err
	}
	fmt.Printf("\nindex of %d files\n", indexed)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	x := fileindex.New(fileindex.Config{Dir: dir})
	defer x.Close()
	if _, err := x.Find(context.Background(), "server", 15); err != nil {
		return err
	}
	c.report("first results after", " ms", float64(time.Since(began))/float64(time.Millisecond), 100)
	x.Settle()
	runtime.GC()
	runtime.ReadMemStats(&after)
	c.report("memory of the index", " MB", float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), 40)
	var took []time.Duration
	for range c.runs {
		for _, query := range []string{"s", "se", "serv", "servergo", "confighandler", "ses/sto", "modelview12", "zzz"} {
			began := time.Now()
			if _, err := x.Find(context.Background(), query, 15); err != nil {
				return err
			}
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	c.report("a query, p95", " ms", float64(took[len(took)*95/100])/float64(time.Millisecond), 10)
	return nil
}

// makeTree makes empty files, ten in a directory.
func makeTree(root string) error {
	words := []string{"server", "client", "config", "session", "handler", "store", "model", "view", "index", "parser"}
	for i := range indexed / 10 {
		dir := filepath.Join(root, words[i%10], words[i/10%10]+strconv.Itoa(i/100%20), words[i/7%10]+strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for j := range 10 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s_%s%d.go", words[j], words[(i+j)%10], i)), nil, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
