package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/model/chat/chattest"
	"adze/internal/model/gemini/geminitest"
	"adze/internal/model/messages"
	"adze/internal/model/responses/responsestest"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A benchDialect is a wire dialect with the environment that selects it.
type benchDialect struct {
	name   string
	server wire.Server
	// env are the variables that direct the program to a server; its address is appended to the
	// first.
	env []string
}

// benchDialects are all dialects; the others are compared with the first.
var benchDialects = [...]benchDialect{
	{"messages", messages.Server{}, []string{"ANTHROPIC_BASE_URL=", "ANTHROPIC_API_KEY=bench"}},
	{"chat", chattest.Server{}, []string{"OPENAI_BASE_URL=", "OPENAI_API_KEY=bench"}},
	{"responses", responsestest.Server{}, []string{"OPENAI_BASE_URL=", "OPENAI_API_KEY=bench", "ADZE_OPENAI_API=responses"}},
	{"gemini", geminitest.Server{}, []string{"GEMINI_BASE_URL=", "GEMINI_API_KEY=bench"}},
}

type dialectBench struct{ *bench }

// runDialects measures decoding (speed, allocations, and latency from delta to event) and the
// program's cost of a turn in each dialect.
func runDialects(runs int) error {
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
	b := dialectBench{built}
	fmt.Printf("%s/%s, %d cores, %s, medians\n\n%-58s %10s %10s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), "figure", "measured", "limit")
	for _, d := range benchDialects {
		if err := b.decoding(d); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		if err := b.latency(d); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	if err := b.dialectTurns(); err != nil {
		return err
	}
	if b.missed > 0 {
		return fmt.Errorf("%d figures miss their limit", b.missed)
	}
	return nil
}

// dialectTurns measures the program's own time per turn and its memory in each dialect, with
// the same script. The first dialect sets the limits.
func (b dialectBench) dialectTurns() error {
	file := filepath.Join(b.dir, "small.txt")
	if err := os.WriteFile(file, bytes.Repeat([]byte("a line of text\n"), 30), 0o600); err != nil {
		return err
	}
	const turns = 50
	own := make([][]time.Duration, len(benchDialects))
	peak := make([][]time.Duration, len(benchDialects)) // KB
	for range max(3, b.runs/4) {
		for i, d := range benchDialects {
			srv, err := newServer(fmt.Sprintf("dialect %s\nrepeat %d\nuse Read {\"file_path\":%q}\n---\nsay Done.", d.name, turns, file))
			if err != nil {
				return err
			}
			srv.probeAt = turns
			none := []string{"ANTHROPIC_BASE_URL=", "ANTHROPIC_API_KEY=", "ADZE_NO_FSYNC=1", "ADZE_MODEL=bench-endless"}
			_, err = b.prompt(srv, "read it again and again", slices.Concat(none, []string{d.env[0] + srv.url}, d.env[1:])...)
			gaps := srv.gaps()
			srv.close()
			if err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
			own[i] = append(own[i], gaps[5:]...)
			peak[i] = append(peak[i], time.Duration(srv.peakKB)*time.Millisecond)
		}
	}
	const most = 1.2 // relative to the first dialect
	for i, d := range benchDialects {
		b.report(d.name+", own time per turn", " ms", median(own[i]), most*median(own[0]))
		b.report(d.name+", peak memory (VmHWM)", " MB", median(peak[i])/1024, most*median(peak[0])/1024)
	}
	return nil
}

const deltas = 50_000

// answerOf returns a streamed answer of n deltas.
func answerOf(d wire.Server, n int) []byte {
	var b bytes.Buffer
	sp := d.NewResponseEncoder(true)
	b.Write(sp.Open("msg_1", "model-1", wire.Counts{wire.InputTokens: 10, wire.OutputTokens: 1}))
	var text strings.Builder
	for i := range n {
		word := fmt.Sprintf("word %d of a sentence,\n", i)
		text.WriteString(word)
		b.Write(sp.Event(model.TextDelta{Text: word}))
	}
	b.Write(sp.Event(model.BlockDone{Part: &msg.Text{Text: text.String()}}))
	b.Write(sp.Close(model.StopEnd, wire.Counts{wire.InputTokens: 10, wire.OutputTokens: n}))
	return b.Bytes()
}

// decoding measures the speed of reading a stream in CPU time, because the machine may be
// shared.
func (b dialectBench) decoding(d benchDialect) error {
	stream := answerOf(d.server, deltas)
	var times []time.Duration
	var before, after runtime.MemStats
	allocs := 0.0
	for range max(5, b.runs/4) {
		seen := 0
		runtime.ReadMemStats(&before)
		began := cpuTime()
		for e, err := range wire.ReadStream(context.Background(), d.server, io.NopCloser(bytes.NewReader(stream)), wire.StreamOptions{}) {
			if err != nil {
				return err
			}
			if _, ok := e.(model.TextDelta); ok {
				seen++
			}
		}
		times = append(times, cpuTime()-began)
		runtime.ReadMemStats(&after)
		if seen != deltas {
			return fmt.Errorf("%d deltas of %d", seen, deltas)
		}
		allocs = float64(after.Mallocs-before.Mallocs) / deltas
	}
	speed := float64(len(stream)) / 1e6 / (median(times) / 1000)
	b.atLeast(d.name+", decoding 50,000 deltas", " MB/s", speed, 150)
	b.report(d.name+", allocations per delta", "", allocs, 2.05) // two, plus growth with the answer
	return nil
}

// atLeast prints a figure with its lower limit.
func (b dialectBench) atLeast(name, unit string, got, limit float64) {
	bound := fmt.Sprintf("%.2f%s", limit, unit)
	if got < limit {
		b.missed++
		bound += " MISSED"
	}
	fmt.Printf("%-58s %10s %10s\n", name, fmt.Sprintf("%.2f%s", got, unit), bound)
}

// latency measures the time from writing a delta to a socket until it is an event.
func (b dialectBench) latency(d benchDialect) error {
	const n = 200
	sent := make([]time.Time, n)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // ok: the request does not matter
		w.Header().Set("Content-Type", wire.MediaType(d.server))
		sp := d.server.NewResponseEncoder(true)
		c := http.NewResponseController(w)
		w.Write(sp.Open("msg_1", "model-1", nil)) // ok: here and below, the client counts the events it receives
		for i := range n {
			time.Sleep(2 * time.Millisecond)
			piece := sp.Event(model.TextDelta{Text: fmt.Sprintf("%d ", i)})
			sent[i] = time.Now()
			w.Write(piece)
			c.Flush()
		}
		w.Write(sp.Event(model.BlockDone{Part: &msg.Text{Text: "all"}}))
		w.Write(sp.Close(model.StopEnd, wire.Counts{wire.InputTokens: 1, wire.OutputTokens: 1}))
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h}
	go server.Serve(l) // ok: ends with Close
	defer server.Close()
	p, err := wire.New(wire.Service{Dialect: d.server, Address: "http://" + l.Addr().String()}, wire.Config{AuthToken: "bench"})
	if err != nil {
		return err
	}
	var took []time.Duration
	for e, err := range p.Stream(context.Background(), &model.Request{Model: "model-1", MaxTokens: 1000, Messages: []msg.Message{msg.UserText("go")}}) {
		if err != nil {
			return err
		}
		if _, ok := e.(model.TextDelta); ok && len(took) < n {
			took = append(took, time.Since(sent[len(took)]))
		}
	}
	if len(took) != n {
		return fmt.Errorf("%d deltas of %d", len(took), n)
	}
	slices.Sort(took)
	b.report(d.name+", from the socket to the event", " ms", median(took), 1)
	return nil
}
