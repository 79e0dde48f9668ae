package markdown

import (
	"strings"
	"testing"

	"adze/internal/platform/proc/cputime"
	"adze/internal/ui/draw"
)

// FuzzStream checks that the rows are the same however a text is split, that nothing panics,
// and that painted rows contain no control characters.
func FuzzStream(f *testing.F) {
	for _, text := range []string{
		"# a\n- b\n  1. c\n\n> d **e** `f`\n\n|a|b|\n|-|-|\n|1|2|\n", "```go\nfunc main() {\n\t/* x\n*/}\n```\n", "[a](http://b.c) *d\ne* ~~f~~ \\* <http://g>",
		strings.Repeat("many words ", 60) + "*" + strings.Repeat(" more words", 900) + "*", "\x1b[31m\x1b]0;x\x07 \u202e \xff\xfe", "- \n-\n  -\n\t- a\n>>>- x\n",
	} {
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		s := Stream{Width: 20 + int(size)%50, Links: size%2 == 0, Marks: size%5 == 0}
		want := show(drawn(s, text, len(text)+1))
		if got := show(drawn(s, text, 1+int(size))); got != want {
			t.Errorf("in pieces of %d:\n%s\nat once:\n%s", 1+int(size), got, want)
		}
		painted := draw.Palette{}.Text(drawn(s, text, len(text)+1))
		if strings.ContainsFunc(painted, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
			t.Errorf("control characters in %q", painted)
		}
	})
}

// answer returns an answer of n bytes.
func answer(n int) string {
	const part = "## A step\n\nThe tax is rounded **per line** and the sum again at the end. In `money.go` the method rounds, " +
		"and so does the cart, see [the rules](https://example.com/rounding); three items at 0.335 come to 1.02 then.\n\n" +
		"- First, round once, in `Cart.Total`\n- Then drop *Round* from the rest\n  1. of Money\n  2. of Line\n\n" +
		"```go\nfunc (m Money) Tax(r Rate) Money {\n\treturn m.Mul(r).Round() // first rounding\n}\n```\n\n" +
		"| file | rounds |\n|---|--:|\n| money.go | 1 |\n| cart.go | 2 |\n\n"
	return strings.Repeat(part, n/len(part)+1)[:n]
}

// BenchmarkDelta measures adding and showing one delta of a 20 KB answer: 20 us at most.
func BenchmarkDelta(b *testing.B) {
	text := answer(20 << 10)
	b.ReportAllocs()
	var s Stream
	for i := 0; b.Loop(); i = (i + 16) % (len(text) - 16) {
		if i == 0 {
			s = Stream{Width: 79, Links: true}
		}
		s.Add(text[i : i+16])
		s.Rows()
	}
}

// BenchmarkLoad measures rendering a complete answer. In addition to wall time, it reports
// throughput per CPU time.
func BenchmarkLoad(b *testing.B) {
	text := answer(1 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	began := cputime.Used()
	for b.Loop() {
		s := Stream{Width: 79, Links: true}
		s.Add(text)
		s.End()
	}
	b.ReportMetric(float64(b.N*len(text))/1e6/(cputime.Used()-began).Seconds(), "cpu-MB/s")
}
