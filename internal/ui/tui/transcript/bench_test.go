package transcript

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/session"
	"adze/internal/tool"
)

const paragraph = "## A step\n\nThe tax is rounded **per line** and the sum again at the end. In `money.go` the method rounds, " +
	"and so does the cart, see [the rules](https://example.com/rounding); three items at 0.335 come to 1.02 then.\n\n" +
	"- First, round once, in `Cart.Total`\n- Then drop *Round* from the rest\n\n```go\nfunc (m Money) Tax(r Rate) Money {\n\treturn m.Mul(r).Round()\n}\n```\n\n"

// BenchmarkDelta measures one delta of a 20 KB answer followed by a frame: 20 us at most.
func BenchmarkDelta(b *testing.B) {
	text := strings.Repeat(paragraph, 20<<10/len(paragraph)+1)
	b.ReportAllocs()
	var s *stage
	for i := 0; b.Loop(); i = (i + 16) % (len(text) - 16) {
		if i == 0 {
			s = newStage(b, 80, 24, Config{Links: true})
			s.loop(agent.Requesting{})
		}
		s.loop(agent.Delta{Event: model.TextDelta{Text: text[i : i+16]}})
		s.Final(80)
		s.Rows(80, 20)
	}
}

// BenchmarkFrame measures all live rows of a 200x50 terminal, with calls, agents and a table
// being written: 0.5 ms at most.
func BenchmarkFrame(b *testing.B) {
	s := newStage(b, 200, 50, Config{Links: true})
	s.loop(agent.Requesting{})
	s.says(0, "| file | rounds | "+strings.Repeat("x", 60)+" |\n|---|--:|---|\n"+strings.Repeat("| money.go | 1 | **because** it does |\n", 45), 64)
	for i := range 4 {
		id := fmt.Sprint(i)
		s.start(id, "go test ./...")
		s.loop(agent.ToolProgress{ID: id, Display: tool.Output{Command: "go test ./...", Text: strings.Repeat("ok\tshop/cart\t0.412s\n", 20), Lines: 212}})
		s.entry(session.Task{ID: id, Type: "explore", Doing: "Reading export.go", Used: session.TaskUse{Tokens: 9000}})
	}
	s.after(time.Minute)
	if n := len(s.frame()); n < 49 {
		b.Fatal(n)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Final(200)
		s.Rows(200, 50)
	}
}

// TestMemory checks that after 1,000 entries with 20 MB of output, the transcript keeps little
// more than the session does, and that all rows are available.
func TestMemory(t *testing.T) {
	s := newStage(t, 80, 24, Config{})
	before := heap()
	line := strings.Repeat("a line of output\n", 64)
	for i := range 1000 {
		s.loop(agent.Requesting{})
		s.says(0, paragraph, 64)
		s.said(paragraph)
		id := fmt.Sprint(i)
		s.start(id, "go test ./...")
		for range 20 {
			s.loop(agent.ToolProgress{ID: id, Display: tool.Output{Text: strings.Clone(line), Lines: 64}})
		}
		s.loop(agent.ToolDone{Use: use(id), Result: ok("."), Display: tool.Output{Command: "go test ./...", Text: strings.Clone(line), Lines: 20 << 10, Exit: code(0), File: "/gone"}})
		s.Final(80)
		s.Rows(80, 20)
	}
	if kept := heap() - before; kept > 5<<20 {
		t.Errorf("%d KB are kept", kept>>10)
	}
	if n := s.All(80).Len(); n < 10000 {
		t.Errorf("%d rows", n)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestFlood checks that a model that writes megabytes in one line, or a byte at a time, is
// handled in time linear in the text.
func TestFlood(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		size int
	}{
		"one line":         {strings.Repeat("word ", 1<<20), 4 << 10},
		"paragraphs":       {strings.Repeat(paragraph, 2000), 64},
		"a byte at a time": {strings.Repeat(paragraph, 200), 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 80, 24, Config{})
			s.loop(agent.Requesting{})
			began := time.Now()
			for from := 0; from < len(tt.text); from += tt.size {
				s.says(0, tt.text[from:min(len(tt.text), from+tt.size)], tt.size)
				if from/tt.size%32 == 0 {
					s.Final(80)
					s.Rows(80, 20)
				}
			}
			s.said(tt.text)
			rows := s.Final(80)
			if len(rows) == 0 {
				t.Error("nothing is left at the end")
			}
			t.Logf("%d MB/s", int(float64(len(tt.text))/1e6/time.Since(began).Seconds()))
		})
	}
}
