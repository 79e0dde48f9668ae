package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/proc/cputime"
	"adze/internal/platform/search"
)

// maxSearchRuns bounds the repetitions of a search, because there are many slow ones.
const maxSearchRuns = 11

// Maximum ratios to ripgrep.
const (
	smallGrep  = 0.45 // less than 1,000 files
	eachGrep   = 0.85
	meanGrep   = 0.65
	listing    = 0.45
	sortedGlob = 0.35
	repeated   = 0.35
)

// outlier is the ratio below which a class is not counted, because ripgrep is unusually slow:
// version 13 takes a hundred times as long for some multiline patterns.
const outlier = 0.1

// runSearch compares searching with ripgrep: in the Go distribution, the module cache, and the
// given trees.
func runSearch(runs int, trees []string) error {
	rg, err := exec.LookPath("rg")
	if err != nil {
		return errors.New("no ripgrep (rg) to compare with")
	}
	version, err := exec.Command(rg, "--version").Output()
	if err != nil {
		return err
	}
	goroot, err := goEnv("GOROOT")
	if err != nil {
		return err
	}
	cache, err := goEnv("GOMODCACHE")
	if err != nil {
		return err
	}
	first, _, _ := bytes.Cut(version, []byte{'\n'})
	fmt.Printf("%s/%s, %d cores, %s, %s, %d runs, medians, ratios to ripgrep\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), first, runs)
	c := &comparison{bench: &bench{runs: runs}, rg: rg}
	if err := c.small(filepath.Join(goroot, "src", "net")); err != nil {
		return err
	}
	for _, tree := range append([]string{goroot, cache}, trees...) {
		if err := c.large(tree); err != nil {
			return err
		}
	}
	if err := c.index(); err != nil {
		return err
	}
	if c.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", c.missed)
	}
	return nil
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return filepath.EvalSymlinks(strings.TrimSpace(string(out)))
}

// A comparison runs the same measurement with the engine and with ripgrep.
type comparison struct {
	*bench
	rg string
}

// report is like bench.report, with room for longer names.
func (c *comparison) report(name, unit string, got, limit float64) {
	c.bench.report(fmt.Sprintf("%-70s", name), unit, got, limit)
}

// heading prints the heading for a tree.
func (c *comparison) heading(tree string) error {
	files, dirs := 0, map[string]bool{}
	e := search.New(search.Config{Cold: true})
	defer e.Close()
	err := e.List(context.Background(), search.ListOptions{Root: tree}, func(rels []string) error {
		files += len(rels)
		for _, rel := range rels {
			dirs[filepath.Dir(rel)] = true
		}
		return nil
	})
	fmt.Printf("\n%s: %d files in %d directories\n%-70s %10s %10s\n", tree, files, len(dirs), "figure", "measured", "at most")
	return err
}

// slow is the maximum ripgrep time for a search to be repeated.
const slow = 2 * time.Second

// ratio runs both alternately and reports the ratio of their medians. It also prints the ratios
// of CPU times and of best times, which depend less on the machine's load.
func (c *comparison) ratio(name string, limit float64, ours func() error, args ...string) (float64, error) {
	var mine, theirs, myCPU, theirCPU []time.Duration
	for i := 0; i < c.runs && (i == 0 || theirs[0] < slow); i++ {
		began := time.Now()
		cpu, err := c.ripgrep(args...)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		theirs, theirCPU = append(theirs, time.Since(began)), append(theirCPU, cpu)
		before := cputime.Used()
		began = time.Now()
		if err := ours(); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		mine, myCPU = append(mine, time.Since(began)), append(myCPU, cputime.Used()-before)
	}
	r := median(mine) / median(theirs)
	figure := fmt.Sprintf("%-31s %6.1f /%6.1f ms, cpu %.2f, best %.2f", name, median(mine), median(theirs),
		median(myCPU)/median(theirCPU), float64(slices.Min(mine))/float64(slices.Min(theirs)))
	c.report(figure, "", r, limit)
	return r, nil
}

// ripgrep runs ripgrep like a program that spawns it, reads its output, and returns its CPU
// time.
func (c *comparison) ripgrep(args ...string) (time.Duration, error) {
	cmd := exec.Command(c.rg, append([]string{"--no-config", "--hidden", "--glob=!.git"}, args...)...)
	_, err := cmd.Output()
	if cmd.ProcessState == nil {
		return 0, err
	}
	if cmd.ProcessState.ExitCode() == 1 {
		err = nil // no match
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// grep measures one class of queries.
func (c *comparison) grep(e *search.Engine, tree string, q class, limit float64) (float64, error) {
	o := q.GrepOptions
	o.Root = tree
	args := []string{"-e", o.Pattern}
	switch o.Mode {
	case search.Files:
		args = append(args, "-l")
	case search.Content:
		args = append(args, "-n")
	case search.Count:
		args = append(args, "-c")
	}
	if o.IgnoreCase {
		args = append(args, "-i")
	}
	if o.Multiline {
		args = append(args, "-U") // no class has a dot, which would change meaning
	}
	if o.Before > 0 {
		args = append(args, fmt.Sprintf("-C%d", o.Before))
	}
	return c.ratio(q.name, limit, func() error {
		_, err := e.Grep(context.Background(), o)
		return err
	}, append(args, tree)...)
}

// small measures a tree of the size of most searches.
func (c *comparison) small(tree string) error {
	if err := c.heading(tree); err != nil {
		return err
	}
	e := search.New(search.Config{Cold: true})
	defer e.Close()
	for _, q := range classes() {
		if q.small {
			if _, err := c.grep(e, tree, q, smallGrep); err != nil {
				return err
			}
		}
	}
	return nil
}

// large measures everything in a tree.
func (c *comparison) large(tree string) error {
	if err := c.heading(tree); err != nil {
		return err
	}
	e := search.New(search.Config{Cold: true})
	defer e.Close()
	product, n := 0.0, 0
	for _, q := range classes() {
		r, err := c.grep(e, tree, q, eachGrep)
		if err != nil {
			return err
		}
		if r > outlier {
			product += math.Log(r)
			n++
		}
	}
	c.report(fmt.Sprintf("geometric mean of %d classes", n), "", math.Exp(product/float64(n)), meanGrep)
	for _, measure := range []func(*search.Engine, string) error{c.names, c.warm, c.ticker, c.interrupted, c.memory} {
		if err := measure(e, tree); err != nil {
			return err
		}
	}
	return nil
}

// names measures finding files by name.
func (c *comparison) names(e *search.Engine, tree string) error {
	_, err := c.ratio("listing", listing, func() error {
		return e.List(context.Background(), search.ListOptions{Root: tree}, func([]string) error { return nil })
	}, "--files", tree)
	if err != nil {
		return err
	}
	_, err = c.ratio("Glob, newest first", sortedGlob, func() error {
		_, err := e.Glob(context.Background(), search.GlobOptions{Root: tree, Pattern: "**", Limit: 250})
		return err
	}, "--files", "--sortr=modified", tree)
	return err
}
