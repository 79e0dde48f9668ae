package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Sub-agent limits.
const (
	idleAgents    = 200
	workingAgents = 50
	stoppedAgents = 20
	forkedAgents  = 10
)

// runAgents measures the cost of sub-agents: time and memory before the first request, many in
// parallel, forks in the provider's cache, and the time to stop them.
func runAgents(runs int) error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built, err := build(dir)
	if err != nil {
		return err
	}
	built.runs = runs
	b := &agentBench{built}
	settings := fmt.Sprintf(`{"read":{"dedup":false},"sessionMemory":{"enabled":false},"agents":{"max":%d}}`, 2*idleAgents)
	if err := os.WriteFile(filepath.Join(dir, "home", "settings.json"), []byte(settings), 0o600); err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d cores, %s, %d runs, medians; load %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs, load())
	fmt.Printf("%-58s %10s %10s\n", "figure", "measured", "at most")
	for _, m := range []func() error{b.launch, b.idle, b.atWork, b.forks, b.interrupted, b.claims, b.letters} {
		if err := m(); err != nil {
			return err
		}
	}
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

type agentBench struct{ *bench }

// load returns the machine's load average, if available.
func load() string {
	data, _ := os.ReadFile("/proc/loadavg") // ok: unknown on other systems
	all := strings.Fields(string(data))
	if len(all) < 3 {
		return "unknown"
	}
	return strings.Join(all[:3], " ")
}

// begin starts adze with a crowd as its model.
func (b *agentBench) begin(c *fakeModel, args ...string) (*exec.Cmd, *server, *bytes.Buffer, error) {
	cmd, srv, out, err := b.prepare(c, args...)
	if err != nil {
		return nil, nil, nil, err
	}
	return cmd, srv, out, cmd.Start()
}

// prepare returns the command that begin starts.
func (b *agentBench) prepare(c *fakeModel, args ...string) (*exec.Cmd, *server, *bytes.Buffer, error) {
	srv, err := serve(nil)
	if err != nil {
		return nil, nil, nil, err
	}
	srv.http.Handler = c // records for one client at a time
	cmd := b.command(srv, "launch them")
	cmd.Args = append(cmd.Args, "--trust")
	cmd.Args = append(cmd.Args, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, srv, &out, nil
}

// launch measures the time between the answer that launches an agent and the agent's first
// request, minus the time between an answer that reads a small file and the next request.
func (b *agentBench) launch() error {
	file := filepath.Join(b.dir, "small.txt")
	if err := os.WriteFile(file, bytes.Repeat([]byte("a line of text\n"), 30), 0o600); err != nil {
		return err
	}
	c := &fakeModel{}
	for i := range b.runs {
		c.lead = append(c.lead, reading(file), launches(i, 1, `","subagent_type":"general-purpose"`))
	}
	c.lead = append(c.lead, `{"type":"text","text":"Done."}`)
	cmd, srv, out, err := b.begin(c)
	if err != nil {
		return err
	}
	defer srv.close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("adze: %w\n%s", err, out.String())
	}
	var launched []time.Duration
	for _, m := range c.agents {
		launched = append(launched, m.begun)
	}
	if len(launched) != b.runs {
		return fmt.Errorf("%d of %d agents asked: %s", len(launched), b.runs, out.String())
	}
	b.report("a turn, Read", " ms", median(c.gaps), 0)
	b.report("an agent's first request, beyond a turn", " ms", median(launched)-median(c.gaps), 3)
	return b.work(file, processorTime(cmd))
}

// work measures the CPU time of an agent that answers once, including start and end, minus a
// turn's. with is the CPU time of a run in which every second turn launches an agent.
func (b *agentBench) work(file string, with time.Duration) error {
	c := &fakeModel{lead: append(slices.Repeat([]string{reading(file)}, 2*b.runs), `{"type":"text","text":"Done."}`)}
	cmd, srv, out, err := b.begin(c)
	if err != nil {
		return err
	}
	defer srv.close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("adze: %w\n%s", err, out.String())
	}
	each := (with - processorTime(cmd)) / time.Duration(b.runs)
	b.report("processor time of an agent with one answer, beyond a turn", " ms", float64(each)/float64(time.Millisecond), 0)
	return nil
}

func processorTime(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// idle measures the memory of many agents waiting for their first answer.
func (b *agentBench) idle() error {
	c := &fakeModel{lead: []string{
		`{"type":"text","text":"First."}` + "\n" + reading(filepath.Join(b.dir, "small.txt")),
		launches(0, idleAgents, `","subagent_type":"general-purpose","run_in_background":true`), `{"type":"text","text":"Done."}`,
	}, held: make(chan struct{})}
	cmd, srv, out, err := b.begin(c)
	if err != nil {
		return err
	}
	defer srv.close()
	before := 0
	for began := time.Now(); c.begun() < idleAgents; time.Sleep(time.Millisecond) {
		if c.begun() == 0 {
			before = rssKB(cmd.Process.Pid)
		}
		if time.Since(began) > time.Minute {
			cmd.Process.Kill()
			cmd.Wait()
			return fmt.Errorf("%d of %d agents asked: %s", c.begun(), idleAgents, out.String())
		}
	}
	after := rssKB(cmd.Process.Pid)
	used := processTime(cmd.Process.Pid)
	close(c.held)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("adze: %w\n%s", err, out.String())
	}
	b.report(fmt.Sprintf("memory of an agent before its first answer, of %d", idleAgents), " MB", float64(after-before)/1024/idleAgents, 2)
	b.report("processor time of one, with the start of the program", " ms", float64(used.Milliseconds())/idleAgents, 0)
	b.report(fmt.Sprintf("memory of a process with %d agents that wait (VmRSS)", idleAgents), " MB", float64(after)/1024, 250)
	return nil
}

// atWork measures many agents working in parallel: their overhead beyond the model's answer
// time, and the gap between the slowest and the fastest.
func (b *agentBench) atWork() error {
	const calls, delay = 5, 500 * time.Millisecond
	c := &fakeModel{
		lead:  []string{launches(0, workingAgents, `","subagent_type":"general-purpose","run_in_background":true`), `{"type":"text","text":"Done."}`},
		calls: calls, delay: delay, call: reading(filepath.Join(b.dir, "small.txt")),
	}
	cmd, srv, out, err := b.begin(c)
	if err != nil {
		return err
	}
	defer srv.close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("adze: %w\n%s", err, out.String())
	}
	var spans []time.Duration
	var first, last time.Time
	for _, m := range c.agents {
		spans = append(spans, m.last.Sub(m.first))
		if first.IsZero() || m.first.Before(first) {
			first = m.first
		}
		if m.last.After(last) {
			last = m.last
		}
		if m.asked != calls+1 {
			return fmt.Errorf("an agent asked %d times: %s", m.asked, out.String())
		}
	}
	if len(spans) != workingAgents {
		return fmt.Errorf("%d of %d agents asked: %s", len(spans), workingAgents, out.String())
	}
	alone := float64((calls + 1) * delay)
	b.report(fmt.Sprintf("%d concurrent agents, compared with their answers alone", workingAgents), "x", float64(last.Sub(first))/alone, 1.3)
	b.report("the slowest agent, compared with the fastest", "x", float64(slices.Max(spans))/float64(slices.Min(spans)), 1.3)
	return nil
}

// forks measures how much of a fork's request is not in the provider's cache after an earlier
// fork from the same answer.
func (b *agentBench) forks() error {
	big := filepath.Join(b.dir, "big.txt")
	if err := os.WriteFile(big, bytes.Repeat([]byte("a line of some text\n"), 380), 0o600); err != nil {
		return err
	}
	c := &fakeModel{lead: append(slices.Repeat([]string{reading(big)}, 10), launches(0, forkedAgents, `"`), `{"type":"text","text":"Done."}`)}
	cmd, srv, out, err := b.begin(c, "--settings", `{"agents":{"fork":true}}`)
	if err != nil {
		return err
	}
	defer srv.close()
	if err := cmd.Wait(); err != nil || len(c.bodies) != forkedAgents {
		return fmt.Errorf("%d of %d forks asked: %w\n%s", len(c.bodies), forkedAgents, err, out.String())
	}
	mark := []byte(`,"cache_control":{`)
	worst := 0.0
	first := c.bodies[0]
	kept := bytes.LastIndex(first, mark)
	for _, body := range c.bodies[1:] {
		if kept < 0 || len(body) < kept || !bytes.Equal(body[:kept], first[:kept]) {
			return errors.New("the forks do not begin alike")
		}
		worst = max(worst, 100*float64(len(body)-kept)/float64(len(body)))
	}
	b.report(fmt.Sprintf("bytes of the 2nd to %dth fork that are not cached, at worst", forkedAgents), " %", worst, 1)
	return nil
}

// interrupted measures how long it takes to stop agents that run commands, until the process
// and all its children are gone.
func (b *agentBench) interrupted() error {
	var all []time.Duration
	for range max(3, b.runs/10) {
		took, err := b.interrupt()
		if err != nil {
			return err
		}
		all = append(all, took)
	}
	b.report(fmt.Sprintf("interrupt of %d agents with a command each", stoppedAgents), " ms", median(all), 300)
	return nil
}

// claims measures how long it takes several processes to claim all tasks of a list, each once.
func (b *agentBench) claims() error {
	took, err := benchmark("adze/internal/domain/tasklist", "Claims", "ms/1000claims")
	if err != nil {
		return err
	}
	b.report("20 processes claim 1,000 tasks, each once", " s", took/1000, 10)
	return nil
}

// letters measures how long it takes several processes to write to one mailbox, with nothing
// lost.
func (b *agentBench) letters() error {
	took, err := benchmark("adze/internal/domain/team", "TenWriters", "ms/200messages")
	if err != nil {
		return err
	}
	b.report("10 writers send 200 messages to one mailbox, none lost", " s", took/1000, 0)
	return nil
}

// benchmark runs a package's benchmark three times and returns the result in the given unit. It
// fails if the benchmark does.
func benchmark(pkg, name, unit string) (float64, error) {
	out, err := exec.Command("go", "test", pkg, "-run", "^$", "-bench", "^Benchmark"+name+"$", "-benchtime", "3x").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", pkg, err, out)
	}
	words := strings.Fields(string(out))
	at := slices.Index(words, unit)
	if at < 1 {
		return 0, fmt.Errorf("%s does not report %s: %s", pkg, unit, out)
	}
	return strconv.ParseFloat(words[at-1], 64)
}

func (b *agentBench) interrupt() (time.Duration, error) {
	length := fmt.Sprintf("%d.%d", 9000, time.Now().UnixNano()%1_000_000_000) // distinguishes its processes from others
	c := &fakeModel{
		lead:  []string{launches(0, stoppedAgents, `","subagent_type":"general-purpose","run_in_background":true`), `{"type":"text","text":"Done."}`},
		calls: 1, call: `{"type":"tool_use","id":"ID","name":"Bash","input":{"command":"tail -s ` + length + ` -f /dev/null"}}`,
	}
	sessions := filepath.Join(b.dir, "home", "projects")
	os.RemoveAll(sessions) // ok: leftover logs would show in the count
	cmd, srv, out, err := b.begin(c, "--allowed-tools", "Bash,Agent")
	if err != nil {
		return 0, err
	}
	defer srv.close()
	for began := time.Now(); len(sleepers(length)) < stoppedAgents; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			cmd.Process.Kill()
			cmd.Wait()
			return 0, fmt.Errorf("%d of %d commands run: %s", len(sleepers(length)), stoppedAgents, out.String())
		}
	}
	began := time.Now()
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait() // ok: it exits with the code of an interrupt
	took := time.Since(began)
	if left := sleepers(length); len(left) > 0 {
		return 0, fmt.Errorf("%d commands are left", len(left))
	}
	return took, logged(sessions, stoppedAgents)
}

// sleepers returns the processes whose arguments contain a word, excluding shells around them.
func sleepers(word string) []string {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline") // ok: the pattern is valid
	var found []string
	for _, file := range all {
		if data, err := os.ReadFile(file); err == nil && string(data) == "tail\x00-s\x00"+word+"\x00-f\x00/dev/null\x00" {
			found = append(found, file)
		}
	}
	return found
}

// logged returns an error unless there are want agent logs, each with a result for every call.
func logged(dir string, want int) error {
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*", "subagents", "*.jsonl")) // ok: the pattern is valid
	if len(files) != want {
		return fmt.Errorf("%d logs of %d agents", len(files), want)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			if !json.Valid(line) {
				return fmt.Errorf("%s: a line is cut: %s", file, line)
			}
		}
		if uses, results := bytes.Count(data, []byte(`"type":"tool_use"`)), bytes.Count(data, []byte(`"type":"tool_result"`)); uses != 1 || results != 1 {
			return fmt.Errorf("%s: %d calls, %d results", file, uses, results)
		}
	}
	return nil
}

// processTime returns a process's CPU time, or 0 if unavailable.
func processTime(pid int) time.Duration {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // ok: 0 shows as 0
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])   // ok: 0 shows as 0
	system, _ := strconv.Atoi(fields[12]) // ok: 0 shows as 0
	return time.Duration(user+system) * 10 * time.Millisecond
}
