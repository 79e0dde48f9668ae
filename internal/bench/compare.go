package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A contender is a program measured by [runCompare], with its own state home.
type contender struct {
	*bench
	name                string
	repository, none    []time.Duration // exec to request
	exit                []time.Duration // request to exit, in a repository
	processor           []time.Duration // CPU time of a start in a repository, including git
	turn, reads, agents []time.Duration
	private, peak       []time.Duration // memory in KB at request 20
	repositoryFirst     time.Duration   // first start in the repository, with cold caches
}

// runCompare measures this adze side by side with another build: starts, turns, memory and
// agents, interleaved.
func runCompare(runs int) error {
	if against == "" {
		return errors.New("compare needs another program: bench -against PROGRAM compare")
	}
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir)
	if err != nil {
		return err
	}
	rivals := []*contender{}
	for _, p := range []struct{ name, program string }{{"adze", b.adze}, {"other", against}} {
		own := &bench{dir: filepath.Join(dir, "of-"+p.name), adze: filepath.Join(dir, "of-"+p.name, "adze"), floor: b.floor}
		if err := own.settings(); err != nil {
			return err
		}
		if err := copyProgram(p.program, own.adze); err != nil { // a copy has the same page cache layout
			return err
		}
		rivals = append(rivals, &contender{bench: own, name: p.name})
	}
	small, none := filepath.Join(dir, "small"), filepath.Join(dir, "none")
	if err := errors.Join(makeRepository(small, 64), os.MkdirAll(none, 0o755)); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // git trusts no stamp of the same second
	srv, err := newServer("forever\nsay Hello.")
	if err != nil {
		return err
	}
	defer srv.close()
	floor, err := compareStarts(srv, rivals, small, none, runs)
	if err != nil {
		return err
	}
	for range max(3, runs/4) {
		for _, measure := range []func(*contender) error{(*contender).measureTurns, (*contender).measureReads, (*contender).measureAgents} {
			for _, r := range rivals {
				if err := measure(r); err != nil {
					return err
				}
			}
		}
	}
	fmt.Printf("medians of %d starts; load %s\n\n%-44s %10s %10s %8s\n", runs, load(), "", "adze", "other", "ratio")
	for _, f := range []struct {
		name, unit string
		of         func(*contender) float64
	}{
		{"exec to request, repository of 64 files", "ms", func(r *contender) float64 { return median(r.repository) }},
		{"- compared with the minimal program", "x", func(r *contender) float64 { return median(r.repository) / floor }},
		{"- the first time", "ms", func(r *contender) float64 { return float64(r.repositoryFirst) / float64(time.Millisecond) }},
		{"- processor time of the run, with git", "ms", func(r *contender) float64 { return median(r.processor) }},
		{"request to exit", "ms", func(r *contender) float64 { return median(r.exit) }},
		{"exec to request, no repository", "ms", func(r *contender) float64 { return median(r.none) }},
		{"- compared with the minimal program", "x", func(r *contender) float64 { return median(r.none) / floor }},
		{"own time per turn, Read, turns 5 to 15", "ms", func(r *contender) float64 { return median(r.turn) }},
		{"own time per turn, 8 parallel reads", "ms", func(r *contender) float64 { return median(r.reads) }},
		{"private memory at request 20 (RssAnon)", "MB", func(r *contender) float64 { return median(r.private) / 1024 * float64(time.Millisecond) }},
		{"peak memory at request 20 (VmHWM)", "MB", func(r *contender) float64 { return median(r.peak) / 1024 * float64(time.Millisecond) }},
		{"50 agents, 6 answers of 100 ms each", "ms", func(r *contender) float64 { return median(r.agents) }},
	} {
		x, y := f.of(rivals[0]), f.of(rivals[1])
		fmt.Printf("%-44s %7.2f %-2s %7.2f %-2s %8.2f\n", f.name, x, f.unit, y, f.unit, x/y)
	}
	fmt.Printf("%-44s %7.2f ms\n", "minimal program", floor)
	return nil
}

// compareStarts measures starts and returns the minimal program's time in milliseconds.
func compareStarts(srv *server, rivals []*contender, repository, none string, runs int) (float64, error) {
	var floor []time.Duration
	body := filepath.Join(none, "..", "body.json")
	for i := range runs + 3 { // first runs warm the caches
		for _, r := range rivals {
			for _, dir := range []string{repository, none} {
				cmd := r.command(srv, "hello")
				cmd.Dir = dir
				at, end, err := timeStart(srv, cmd)
				if err != nil {
					return 0, err
				}
				switch {
				case i == 0 && dir == repository:
					r.repositoryFirst = at
				case i < 3:
				case dir == repository:
					r.repository, r.exit, r.processor = append(r.repository, at), append(r.exit, end), append(r.processor, processorTime(cmd))
				default:
					r.none = append(r.none, at)
				}
			}
		}
		if err := os.WriteFile(body, srv.lastBody(), 0o600); err != nil {
			return 0, err
		}
		at, _, err := timeStart(srv, exec.Command(rivals[0].floor, srv.url, body))
		if err != nil {
			return 0, err
		}
		floor = append(floor, at)
	}
	return median(floor), nil
}

// timeStart runs a program and returns the times from start to request, and from request to
// exit.
func timeStart(srv *server, cmd *exec.Cmd) (request, exit time.Duration, err error) {
	srv.reset()
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", cmd.Path, err, out)
	}
	at := srv.arrivals()[0]
	return at.Sub(began), time.Since(at), nil
}

// measureTurns measures turns that read a small file, and the memory at request 20.
func (r *contender) measureTurns() error {
	file := filepath.Join(r.dir, "small.txt")
	if err := os.WriteFile(file, bytes.Repeat([]byte("a line of text\n"), 30), 0o600); err != nil {
		return err
	}
	srv, err := newServer(fmt.Sprintf("repeat 24\nuse Read {\"file_path\":%q}\n---\nsay Done.", file))
	if err != nil {
		return err
	}
	defer srv.close()
	srv.probeAt = 20
	if _, err := r.prompt(srv, "read it again and again"); err != nil {
		return err
	}
	r.turn = append(r.turn, srv.gaps()[4:15]...)
	r.private, r.peak = append(r.private, time.Duration(srv.privateKB)), append(r.peak, time.Duration(srv.peakKB))
	return nil
}

// measureReads measures turns of eight parallel reads.
func (r *contender) measureReads() error {
	script := "repeat 20\n"
	for i := range 8 {
		file := filepath.Join(r.dir, fmt.Sprintf("p%d.txt", i))
		if err := os.WriteFile(file, bytes.Repeat([]byte("a line of text\n"), 30), 0o600); err != nil {
			return err
		}
		script += fmt.Sprintf("use Read {\"file_path\":%q}\n", file)
	}
	srv, err := newServer(script + "---\nsay Done.")
	if err != nil {
		return err
	}
	defer srv.close()
	_, err = r.prompt(srv, "read them")
	r.reads = append(r.reads, srv.gaps()...)
	return err
}

// measureAgents measures 50 agents with five reads each, whose model takes 100 ms per answer.
func (r *contender) measureAgents() error {
	c := &fakeModel{
		lead:  []string{launches(0, workingAgents, `","subagent_type":"general-purpose"`), saying("Done.")},
		calls: 5, delay: 100 * time.Millisecond, call: reading(filepath.Join(r.dir, "small.txt")),
	}
	var asked []time.Time
	c.probe = func(int) { asked = append(asked, time.Now()) }
	cmd, srv, out, err := (&agentBench{r.bench}).begin(c)
	if err != nil {
		return err
	}
	defer srv.close()
	if err := cmd.Wait(); err != nil || len(asked) < 2 {
		return fmt.Errorf("adze: %w\n%s", err, out.String())
	}
	r.agents = append(r.agents, asked[len(asked)-1].Sub(asked[0]))
	return nil
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
