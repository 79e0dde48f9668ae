package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// start measures exec to first request.
func (b *bench) start() error {
	srv, err := newServer("forever\nsay Hello.")
	if err != nil {
		return err
	}
	defer srv.close()
	if _, err := b.prompt(srv, "hello"); err != nil {
		return err
	}
	bodyFile := filepath.Join(b.dir, "body.json")
	if err := os.WriteFile(bodyFile, srv.lastBody(), 0o600); err != nil {
		return err
	}
	var floor, adze, nosync, whole []time.Duration
	for range b.runs {
		for _, m := range []struct {
			cmd *exec.Cmd
			to  *[]time.Duration
		}{
			{exec.Command(b.floor, srv.url, bodyFile), &floor},
			{b.command(srv, "hello"), &adze},
			{b.command(srv, "hello", "ADZE_NO_FSYNC=1"), &nosync},
		} {
			srv.reset()
			began := time.Now()
			if out, err := m.cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", m.cmd.Path, err, out)
			}
			if m.to == &adze {
				whole = append(whole, time.Since(began))
			}
			*m.to = append(*m.to, srv.arrivals()[0].Sub(began))
		}
	}
	f := median(floor)
	b.report("minimal program, exec to request", " ms", f, 0)
	b.report("adze, exec to first request", " ms", median(adze), 0)
	b.report("adze, exec to first request, no fsync", " ms", median(nosync), 0)
	b.report("adze, whole run of one answer", " ms", median(whole), 0)
	b.report("start ratio", "x", median(adze)/f, 2.5)
	b.report("start ratio, no fsync", "x", median(nosync)/f, 2.5)
	return nil
}

// turns measures adze's own time per turn in a long session, and its memory.
func (b *bench) turns() error {
	file := filepath.Join(b.dir, "small.txt")
	if err := os.WriteFile(file, bytes.Repeat([]byte("a line of text\n"), 30), 0o600); err != nil {
		return err
	}
	script := fmt.Sprintf("repeat 110\nuse Read {\"file_path\":%q}\n---\nsay Done.", file)
	for _, env := range []string{"", "ADZE_NO_FSYNC=1"} {
		var at10, at100 []time.Duration
		var peak float64
		for range max(3, b.runs/8) {
			srv, err := newServer(script)
			if err != nil {
				return err
			}
			srv.probeAt = 100
			if _, err := b.prompt(srv, "read it again and again", env); err != nil {
				return err
			}
			gaps := srv.gaps()
			srv.close()
			at10 = append(at10, gaps[4:15]...)
			at100 = append(at100, gaps[94:105]...)
			peak = max(peak, float64(srv.peakKB)/1024)
		}
		suffix := ""
		if env != "" {
			suffix = ", no fsync"
		}
		b.report("own time per turn, Read, around turn 10"+suffix, " ms", median(at10), 0.6)
		b.report("around turn 100, beyond turn 10"+suffix, " ms", median(at100)-median(at10), 0.2)
		b.report("peak memory of a 100-turn session (VmHWM)"+suffix, " MB", peak, 24)
	}
	return nil
}

// parallel measures a turn of eight parallel reads.
func (b *bench) parallel() error {
	script := "repeat 20\n"
	for i := range 8 {
		file := filepath.Join(b.dir, fmt.Sprintf("p%d.txt", i))
		if err := os.WriteFile(file, bytes.Repeat([]byte("a line of text\n"), 30), 0o600); err != nil {
			return err
		}
		script += fmt.Sprintf("use Read {\"file_path\":%q}\n", file)
	}
	var all []time.Duration
	for range max(3, b.runs/8) {
		srv, err := newServer(script + "---\nsay Done.")
		if err != nil {
			return err
		}
		if _, err := b.prompt(srv, "read them"); err != nil {
			return err
		}
		all = append(all, srv.gaps()...)
		srv.close()
	}
	b.report("own time per turn, 8 parallel reads", " ms", median(all), 1.5)
	return nil
}

// flat measures the memory of a very long session with results of 10 KB.
func (b *bench) flat() error {
	file := filepath.Join(b.dir, "big.txt")
	if err := os.WriteFile(file, bytes.Repeat([]byte("a line of some text\n"), 380), 0o600); err != nil {
		return err
	}
	for _, m := range []struct{ name, model string }{
		{"peak memory, 1,000 iterations with 10 KB results (VmHWM)", "bench-endless"},
		{"peak memory, the same, compacted again and again (VmHWM)", "bench-small"},
	} {
		if err := b.long(m.name, m.model, file); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) long(name, model, file string) error {
	srv, err := serve(endless(1000, "Read", fmt.Sprintf(`{"file_path":%q}`, file)))
	if err != nil {
		return err
	}
	defer srv.close()
	srv.probeAt = 1001
	if _, err := b.prompt(srv, "read it a thousand times", "ADZE_NO_FSYNC=1", "ADZE_MODEL="+model); err != nil {
		return err
	}
	b.report(name, " MB", float64(srv.peakKB)/1024, 80)
	return nil
}

func (b *bench) command(srv *server, prompt string, env ...string) *exec.Cmd {
	cmd := exec.Command(b.adze, "-p", prompt)
	cmd.Dir = b.dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "ADZE_HOME=" + filepath.Join(b.dir, "home"),
		"ANTHROPIC_BASE_URL=" + srv.url, "ANTHROPIC_API_KEY=bench",
	}, env...)
	return cmd
}

// prompt runs adze once and lets the server inspect the process while it runs.
func (b *bench) prompt(srv *server, prompt string, env ...string) (string, error) {
	cmd := b.command(srv, prompt, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	srv.watch(cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("adze -p: %w\n%s", err, out.String())
	}
	return out.String(), nil
}

// peakKB returns a process's peak resident size, or 0 if unavailable.
func peakKB(pid int) int { return statusKB(pid, "VmHWM:") }

// rssKB returns a process's resident size, or 0 if unavailable.
func rssKB(pid int) int { return statusKB(pid, "VmRSS:") }

// statusKB returns a size from a process's status file, or 0 if unavailable.
func statusKB(pid int, name string) int {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // ok: 0 shows as 0
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0]) // ok: 0 shows as 0
			return n
		}
	}
	return 0
}
