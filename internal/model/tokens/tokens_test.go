package tokens_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"adze/internal/model/tokens"
	"adze/internal/msg"
)

func say(role msg.Role, text string) msg.Message {
	return msg.Message{Role: role, Parts: []msg.Part{&msg.Text{Text: text}}}
}

// Proves CTX-31.
func TestKinds(t *testing.T) {
	wide := &msg.Text{Text: strings.Repeat("字", 100)}
	for _, tt := range []struct {
		name, model string
		part        msg.Part
		want        int
	}{
		{"words", "gpt-5", &msg.Text{Text: strings.Repeat("word ", 100)}, 110},
		{"data", "gpt-5", &msg.Text{Text: strings.Repeat("abcdefghijklmnopqrstuvwxyz", 100)}, 1039},
		{"wide", "claude-x", wide, 92},
		{"wide elsewhere", "qwen3-max", wide, 67},
		{"behind a provider", "openrouter/qwen3-max", wide, 67},
		{"unknown model", "mine", wide, 72},
		{"picture", "m", &msg.Image{MediaType: "image/png", Data: picture(t, 750, 100)}, 101},
		{"large picture", "m", &msg.Image{MediaType: "image/png", Data: picture(t, 4000, 4000)}, 1600},
		{"long picture", "m", &msg.Image{MediaType: "image/png", Data: picture(t, 3136, 1500)}, 1568*750/750 + 1},
		{"no picture", "m", &msg.Image{MediaType: "image/png", Data: []byte("x")}, 2000},
		{"one page", "m", &msg.Document{MediaType: "application/pdf", Data: []byte("%PDF")}, 2000},
		{"three pages", "m", &msg.Document{MediaType: "application/pdf", Data: []byte("/Type /Pages /Type /Page /Type/Page /Type /Page")}, 6000},
		{"parts that are never sent", "m", &msg.Opaque{Raw: json.RawMessage(`{}`)}, 0},
	} {
		if got := tokens.New(tt.model).Parts(tt.part); got != tt.want {
			t.Errorf("%s: %d tokens, want %d", tt.name, got, tt.want)
		}
	}
}

func picture(t *testing.T, w, h int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pieces simulates a provider's tokenizer: words are split into pieces of a few letters, and
// every punctuation and wide character is a separate token.
func pieces(size int, text string) int {
	n, run := 0, 0
	for _, r := range text {
		switch {
		case r >= 0x2e80:
			n, run = n+1, 0
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if run%size == 0 {
				n++
			}
			run++
		case r == ' ':
			run = 0
		default:
			n, run = n+1, 0
		}
	}
	return n
}

// TestWithinFifteenPercentAfterAReport checks the documented bound: once the provider has
// reported the usage of a request, the estimate for a request with up to as much similar text
// again is within 15 %, with any tokenizer.
//
// Proves CTX-31, SESS-46.
func TestWithinFifteenPercentAfterAReport(t *testing.T) {
	kinds := []string{
		"The session keeps what was said and continues it after a restart of the program. ",
		"\tif err := s.flush(ctx); err != nil {\n\t\treturn fmt.Errorf(\"flushing: %w\", err)\n\t}\n",
		"internal/agent/run.go:120: func (r *run) iterate(s State) (State, *Ended) {\n",
		"会话会保留已经说过的内容，并在重新启动之后继续。",
	}
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(3, 8).Draw(rt, "letters in a piece")
		text := func(n int) string {
			var b strings.Builder
			for range n {
				b.WriteString(kinds[0] + kinds[1] + kinds[2] + kinds[3])
			}
			return b.String()
		}
		first := []msg.Message{say(msg.User, text(rapid.IntRange(20, 200).Draw(rt, "before")))}
		g := tokens.New(rapid.SampledFrom([]string{"claude-x", "gpt-5", "qwen3", "mine"}).Draw(rt, "model"))
		reported := pieces(size, first[0].Text())
		g.Report(g.Count(nil, nil, first), reported)
		if got := g.Messages(first...); off(got, reported) > 0.01 {
			rt.Errorf("reported usage is estimated as %d, not %d", got, reported)
		}
		tail := say(msg.Assistant, text(1)+kinds[rapid.IntRange(0, 3).Draw(rt, "kind")])
		for pieces(size, tail.Text()) < reported/2 {
			tail = say(msg.Assistant, tail.Text()+text(5))
		}
		want := reported + pieces(size, tail.Text())
		if got := g.Messages(append(first, tail)...); off(got, want) > 0.15 {
			rt.Errorf("estimated %d, true %d", got, want)
		}
	})
}

func off(got, want int) float64 { return max(float64(got-want), float64(want-got)) / float64(want) }

func TestReports(t *testing.T) {
	g := tokens.New("m")
	m := say(msg.User, strings.Repeat("x", 4000))
	counted := g.Count(nil, nil, []msg.Message{m})
	for _, tt := range []struct {
		name           string
		report         func()
		atLeast, atMax int
	}{
		{"nothing reported", func() {}, counted, counted},
		{"nonsense is bounded", func() { g.Report(counted, 1_000_000) }, counted * 3, counted * 3},
		{"a report replaces another", func() { g.Report(counted, counted*2) }, counted * 2, counted * 2},
		{"too little to learn from", func() { g.Report(3, 99) }, counted * 2, counted * 2},
		{"a repeated refusal", func() { g.AtLeast(counted, counted) }, counted * 2, counted * 2},
		{"a refusal", func() { g.AtLeast(counted, counted*5/2) }, counted*5/2 - 1, counted * 5 / 2},
	} {
		tt.report()
		if got := g.Messages(m); got < tt.atLeast || got > tt.atMax {
			t.Errorf("%s: %d, want %d to %d", tt.name, got, tt.atLeast, tt.atMax)
		}
	}
}

func BenchmarkHistory(b *testing.B) {
	var history []msg.Message
	for i := range 500 {
		history = append(history, say(msg.User, fmt.Sprint(i, strings.Repeat("some text ", 500))))
	}
	g := tokens.New("claude-x")
	for b.Loop() {
		g.Messages(history...)
	}
}

func BenchmarkText(b *testing.B) {
	text := string(testdata(b, "go.txt"))
	g := tokens.New("claude-x")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		g.Text(text)
	}
}
