//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// runTerminal measures responsiveness at a terminal: startup, key-to-echo time under load,
// output size, and the cost of waiting. Tail latencies need a quiet machine.
func runTerminal(runs int) error {
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
	b := &terminalBench{built}
	fmt.Printf("%s/%s, %d cores, %s, %d runs; load %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs, load())
	fmt.Printf("%-58s %10s %10s\n", "figure", "measured", "at most")
	for _, m := range []func() error{b.starts, b.waits, b.types, b.streams, b.echoes, b.long} {
		if err := m(); err != nil {
			return err
		}
	}
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

type terminalBench struct{ *bench }

// starts measures exec to the prompt.
func (b *terminalBench) starts() error {
	var took []time.Duration
	for range b.runs {
		began := time.Now()
		w, err := b.open(http.NotFoundHandler(), 80, 24)
		if err != nil {
			return err
		}
		took = append(took, w.prompted.Sub(began))
		w.close()
	}
	b.report("exec to prompt, median", " ms", median(took), 20)
	return nil
}

// waits measures the program's activity while idle, and its memory.
func (b *terminalBench) waits() error {
	w, err := b.open(http.NotFoundHandler(), 80, 24)
	if err != nil {
		return err
	}
	defer w.close()
	time.Sleep(12 * time.Second) // wait for deferred startup work, and for file polling to pause
	const wait = 5
	bytes, switches := w.total(), w.switches()
	time.Sleep(wait * time.Second)
	b.report("written in 5 s at the prompt", " B", float64(w.total()-bytes), 0.5)
	b.report("wake-ups a second at the prompt", "", float64(w.switches()-switches)/wait, 1)
	b.resident(w, "memory allocated at the prompt", 10)
	w.keys("x")
	time.Sleep(time.Second)
	b.resident(w, "memory allocated after a key", 10)
	return nil
}

// resident reports the program's memory: allocated, which has a limit, and mapped from its file,
// which is shared with other processes and which the system can drop.
func (b *terminalBench) resident(w *window, name string, limit float64) {
	b.report(name, " MB", w.memory("RssAnon:"), limit)
	b.report("- of the program's file", " MB", w.memory("RssFile:"), 0)
}

// types measures the CPU time of a key press in a prompt of 45 KB, from the terminal's input to
// its output.
func (b *terminalBench) types() error {
	const size, pressed = 45_000, 400
	w, err := b.open(http.NotFoundHandler(), 80, 24)
	if err != nil {
		return err
	}
	defer func() {
		w.keys("\x03") // clear the prompt, or it would reappear at the next start
		time.Sleep(time.Second)
		w.close()
	}()
	for range size / 100 {
		w.keys(strings.Repeat("a word ", 100/7))
		time.Sleep(2 * time.Millisecond) // the terminal buffers at most 4 KB
	}
	for _, place := range []struct{ name, keys string }{{"end", ""}, {"start", "\x1b[1;5H"}} {
		w.keys(place.keys)
		time.Sleep(time.Second)
		before, written := w.worked(), w.total()
		for range pressed {
			w.keys("x")
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Second)
		b.report("processor time of a key in a prompt of 45 KB, at its "+place.name, " µs", float64((w.worked()-before).Microseconds())/pressed, 0)
		b.report("- bytes that are written for it", " B", float64(w.total()-written)/pressed, 0)
	}
	return nil
}

// streams measures the output for a streaming answer.
func (b *terminalBench) streams() error {
	for _, size := range [][2]uint16{{80, 24}, {200, 50}} {
		stream := &stream{}
		w, err := b.open(stream, size[0], size[1])
		if err != nil {
			return err
		}
		w.enter("go")
		if err := stream.wait(); err != nil {
			return err
		}
		time.Sleep(time.Second)
		written, sent, bursts := w.total(), stream.sent.Load(), w.bursts.Load()
		time.Sleep(5 * time.Second)
		name := fmt.Sprintf(", %dx%d", size[0], size[1])
		b.report("bytes for each character that streams in"+name, "", float64(w.total()-written)/float64(stream.sent.Load()-sent), 4)
		b.report("frames a second"+name, "", float64(w.bursts.Load()-bursts)/5, 34)
		w.close()
	}
	return nil
}

// echoes measures key to echo while an answer streams in and a command prints.
func (b *terminalBench) echoes() error {
	stream := &stream{}
	w, err := b.open(stream, 80, 24)
	if err != nil {
		return err
	}
	defer w.close()
	w.enter("!while :; do for ((i = 0; i < 1000; i++)); do echo a line of output $i; done; sleep 0.09; done")
	time.Sleep(time.Second)
	w.enter("go")
	if err := stream.wait(); err != nil {
		b.report("streaming during a command", "", 0, 0) // waits for the command
	}
	const marks = "~^_{}"
	var took []time.Duration
	for i := range 10 * b.runs {
		mark := marks[i%len(marks)]
		echoed := w.await(mark)
		began := time.Now()
		w.keys(string(mark))
		select {
		case at := <-echoed:
			took = append(took, at.Sub(began))
		case <-time.After(5 * time.Second):
			return fmt.Errorf("a key is not echoed:\n%s", w.tail())
		}
		w.keys("\x7f")
		time.Sleep(25 * time.Millisecond)
	}
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[int(part*float64(len(took)))]) / float64(time.Millisecond)
	}
	b.report("key to echo, 200 tokens/s and 10,000 lines/s, p50", " ms", at(0.5), 1)
	b.report("key to echo, p90", " ms", at(0.9), 0)
	b.report("key to echo, p99", " ms", at(0.99), 16)
	return nil
}

// long measures the memory after a long conversation: with realistic context windows, and,
// without a limit, with a window that is never compacted.
func (b *terminalBench) long() error {
	for _, model := range []struct {
		name, about string
		limit       float64
	}{
		{"bench-usual", "a window of 200k tokens", 48},
		{"bench-million", "a window of 1M tokens", 48},
		{"bench-endless", "a window without end", 0},
	} {
		if err := b.converse(model.name, model.about, model.limit); err != nil {
			return err
		}
	}
	return nil
}

// converse makes a model call a command 1,000 times.
func (b *terminalBench) converse(model, about string, limit float64) error {
	const calls = 1000
	done := make(chan struct{}, 1)
	asked := 0
	script := endless(calls, "Bash", `{"command":"seq -f 'a line of output that is to be shown %g' 475"}`)
	w, err := b.open(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if asked++; asked == calls+1 {
			defer func() { done <- struct{}{} }()
		}
		script.ServeHTTP(rw, r)
	}), 80, 24, "ADZE_NO_FSYNC=1", "ADZE_MODEL="+model)
	if err != nil {
		return err
	}
	defer w.close()
	w.enter("go")
	select {
	case <-done:
	case <-time.After(10 * time.Minute):
		return fmt.Errorf("the conversation does not end: %s", w.tail())
	}
	time.Sleep(4 * time.Second) // wait until the program is idle
	b.resident(w, "memory allocated after 1,000 calls and 20 MB, "+about, limit)
	b.report("- its peak", " MB", float64(peakKB(w.cmd.Process.Pid))/1024, 0)
	w.keys("\x0f") // show everything
	time.Sleep(time.Second)
	b.resident(w, "memory allocated while all of it is shown", 0)
	return nil
}

// switches returns the number of voluntary context switches.
func (w *window) switches() int { return w.status("voluntary_ctxt_switches:") }

// memory returns a resident size in MB.
func (w *window) memory(name string) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	return float64(number(data, name)) / 1024
}

// worked returns the program's CPU time; 0 if unavailable.
func (w *window) worked() (sum time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", w.cmd.Process.Pid)) // ok: the pattern is right
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			sum += time.Duration(number(data, ""))
		}
	}
	return sum
}

// status returns the sum of a value over all threads; 0 if unavailable.
func (w *window) status(name string) int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", w.cmd.Process.Pid)) // ok: the pattern is right
	sum := 0
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			sum += number(data, name)
		}
	}
	return sum
}

// number returns the number after a name at the beginning of a line.
func number(data []byte, name string) int {
	for line := range bytes.Lines(data) {
		if rest, ok := strings.CutPrefix(string(line), name); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0]) // ok: 0 shows as 0
			return n
		}
	}
	return 0
}
