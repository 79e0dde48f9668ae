package agent_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
)

var cacheMark = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)

// prefix returns the bytes of a request from the system prompt to the end of the last message,
// without the cache marks.
func prefix(t testing.TB, request []byte) []byte {
	t.Helper()
	request = cacheMark.ReplaceAll(request, nil)
	i := bytes.Index(request, []byte(`,"system":`))
	if i < 0 || !bytes.HasSuffix(request, []byte("]}")) {
		t.Fatalf("request of an unexpected shape: %s", request)
	}
	return request[i : len(request)-len("]}")]
}

// Proves LOOP-11, PROV-31 and REG-06.
func TestEachRequestIsABytePrefixOfTheNext(t *testing.T) {
	line := rapid.SampledFrom([]string{
		`say some "text" with \ and é`, `use Safe {"text":"a"}`, `use Safe {  "text" : "b" }`, `use Unsafe {"text":"c"}`,
		`use Safe {"fail":true}`, `use Nope {}`, `badjson Safe {"x`, `use Shell {"fail":true}`,
	})
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "requests")
		var turns []string
		for i := range n {
			lines := rapid.SliceOfN(line, 1, 4).Draw(rt, "lines")
			if rapid.Bool().Draw(rt, "thinks") {
				lines = append([]string{"think so"}, lines...)
			}
			turns = append(turns, strings.Join(append(lines, fmt.Sprintf("use Safe {\"text\":\"%d\"}", i)), "\n"))
		}
		b := newBench(t, strings.Join(turns, "\n---\n")+"\n---\nsay end\n---\nsay really")
		b.System = []msg.Part{&msg.Text{Text: "system"}}
		b.Cache = []model.Mark{{Place: model.InSystem}, {Place: model.InTools, Index: 2}, {Place: model.InMessages}}
		for range b.Run(ctx(), b.history) {
		}
		b.history.say("next turn")
		for range b.Run(ctx(), b.history) {
		}
		requests := b.player.Requests()
		if len(requests) != n+2 {
			rt.Fatalf("%d requests, want %d", len(requests), n+2)
		}
		for i := 1; i < len(requests); i++ {
			if before, after := prefix(t, requests[i-1]), prefix(t, requests[i]); !bytes.HasPrefix(after, before) {
				rt.Fatalf("request %d does not begin with request %d:\n%s\n%s", i+1, i, before, after)
			}
		}
	})
}

// TestExceptionsToTheBytePrefix covers the exceptions to the rule above: another model cannot
// read the reasoning, rejected media are removed, and a summary replaces the summarized
// messages.
func TestExceptionsToTheBytePrefix(t *testing.T) {
	start := "think sig=unbound Deep.\nuse Safe {\"text\":\"a\"}\n---\n"
	for name, script := range map[string]string{
		"fallback":    start + "error overloaded\n---\nsay ok",
		"media strip": start + "error media_too_large\n---\nsay ok",
		"compaction":  start + "error too_long\n---\nsay ok",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, script)
			b.System = []msg.Part{&msg.Text{Text: "system"}}
			b.Fallback = agent.Model{ID: "spare", Window: 200_000, Output: 8000, MaxOutput: 8000}
			b.Shortener = &fakeShortener{history: b.history}
			image := &msg.Image{MediaType: "image/png", Data: []byte("png")}
			b.history.entries[0].Message.Parts = append(b.history.entries[0].Message.Parts, image)
			b.run(ctx())
			r := b.player.Requests()
			if !bytes.HasPrefix(prefix(t, r[1]), prefix(t, r[0])) {
				t.Error("request 2 does not begin with request 1")
			}
			if bytes.HasPrefix(prefix(t, r[2]), prefix(t, r[1])) {
				t.Error("request 3 begins with request 2, although it had to differ")
			}
		})
	}
}
