package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// manyFiles is the size of the larger repository; an environment variable overrides it.
const manyFiles = 50_000

// A startRun is one program in one directory.
type startRun struct {
	name, program, dir string
	request, exit      []time.Duration // exec to request, request to exit
}

// runRepositories measures starts in unchanged git repositories, small and large, and outside
// any repository, interleaved with the minimal program, and with another adze if given.
func runRepositories(runs int) error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir)
	if err != nil {
		return err
	}
	srv, err := newServer("forever\nsay Hello.")
	if err != nil {
		return err
	}
	defer srv.close()
	files := manyFiles
	if text := os.Getenv("BENCH_FILES"); text != "" {
		if _, err := fmt.Sscan(text, &files); err != nil {
			return fmt.Errorf("BENCH_FILES: %w", err)
		}
	}
	small, large, none := filepath.Join(dir, "small"), filepath.Join(dir, "large"), filepath.Join(dir, "none")
	if err := errors.Join(makeRepository(small, 64), makeRepository(large, files), os.MkdirAll(none, 0o755)); err != nil {
		return err
	}
	if _, err := b.prompt(srv, "hello"); err != nil {
		return err
	}
	body := filepath.Join(dir, "body.json")
	if err := os.WriteFile(body, srv.lastBody(), 0o600); err != nil {
		return err
	}
	all := []*startRun{
		{name: "minimal program", program: b.floor, dir: none}, {name: "no repository", program: b.adze, dir: none},
		{name: "64 files", program: b.adze, dir: small}, {name: fmt.Sprint(files, " files"), program: b.adze, dir: large},
	}
	if against != "" {
		other := filepath.Join(dir, "other")
		if err := copyProgram(against, other); err != nil {
			return err
		}
		for _, r := range all[1:4] {
			all = append(all, &startRun{name: r.name + ", the other adze", program: other, dir: r.dir})
		}
	}
	for i := range runs + 3 { // first runs warm the caches
		for _, r := range all {
			cmd := exec.Command(r.program, srv.url, body)
			if r.program != b.floor {
				b := *b
				b.adze = r.program
				cmd = b.command(srv, "hello", "ADZE_HOME="+filepath.Join(dir, "home-"+filepath.Base(r.program)))
			}
			cmd.Dir = r.dir
			srv.reset()
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", cmd.Path, err, out)
			}
			if at := srv.arrivals()[0]; i >= 3 {
				r.request, r.exit = append(r.request, at.Sub(began)), append(r.exit, time.Since(at))
			}
		}
	}
	for _, r := range all {
		fmt.Printf("%-40s exec to request %6.2f ms (best %5.2f), request to exit %6.2f ms\n", r.name, median(r.request), best(r.request), median(r.exit))
	}
	floor := median(all[0].request)
	b.report("start in a repository, by the minimal program", "x", median(all[2].request)/floor, 2.6)
	b.report("start in the large one, by the small one", "x", median(all[3].request)/median(all[2].request), 1.5)
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

func best(d []time.Duration) float64 { return float64(slices.Min(d)) / float64(time.Millisecond) }

// makeRepository creates a repository with a commit of n files.
func makeRepository(dir string, n int) error {
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("d%03d", i/200), fmt.Sprintf("file%06d.txt", i))
		if i%200 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "%d\n", i), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "one"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a", "-c", "gc.auto=0"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	return nil
}
