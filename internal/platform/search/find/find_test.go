package find

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/platform/search/regextest"

	"pgregory.net/rapid"
)

// byteSet returns the set that contains only c.
func byteSet(c byte) Set { return Range(c, c) }

// reference checks every position of b, byte by byte.
func reference(windows []Window, b []byte, from int) int {
	for i := from; i < len(b); i++ {
		for _, w := range windows {
			if begins(w, b[i:]) {
				return i
			}
		}
	}
	return -1
}

func begins(w Window, b []byte) bool {
	if len(b) < len(w) {
		return false
	}
	for i := range w {
		if !w[i].Has(b[i]) {
			return false
		}
	}
	return true
}

func literal(s string) Window {
	var w Window
	for i := range len(s) {
		w = append(w, byteSet(s[i]))
	}
	return w
}

func folded(s string) Window {
	var w Window
	for i := range len(s) {
		set := byteSet(s[i])
		if up := strings.ToUpper(s[i : i+1]); up != s[i:i+1] {
			set.Add(up[0])
		}
		w = append(w, set)
	}
	return w
}

// cases are windows that together use every routine.
func cases() map[string][]Window {
	return map[string][]Window{
		"byte":          {literal("q")},
		"letter":        {folded("q")},
		"two":           {literal("ab")},
		"word":          {literal("handler")},
		"folded word":   {folded("handler")},
		"high bytes":    {literal("\xc3\xa9\xff")},
		"digits":        {{Range('0', '9')}},
		"class and set": {{Range('a', 'z'), Range('0', '9'), byteSet('_')}},
		"alternatives":  {literal("foo"), literal("bar"), literal("baz")},
		"lengths":       {literal("a"), literal("bcd"), literal("bcdefgh")},
		"eight": {
			literal("zero"), literal("one"), literal("two"), folded("three"),
			literal("four"), literal("five"), folded("six"), literal("seven\x00\xff"),
		},
	}
}

func TestNextEveryLength(t *testing.T) {
	page := guarded(t, 4096)
	for name, windows := range cases() {
		f := New(windows)
		finders := map[string]*Finder{"vector": f, "portable": f.WithoutVector()}
		for length := 0; length <= 130; length++ {
			// Reading beyond the end of the buffer would fault.
			b := page[len(page)-length:]
			for place := -1; place < length; place++ {
				fill(b, '.')
				if place >= 0 {
					plant(b[place:], windows[place%len(windows)])
				}
				for _, from := range []int{0, 1, place, place + 1} {
					if from < 0 || from > length {
						continue
					}
					want := reference(windows, b, from)
					for which, f := range finders {
						if got := f.Next(b, from); got != want {
							t.Fatalf("%s, %s: Next(%q, %d) = %d, want %d", name, which, b, from, got, want)
						}
					}
				}
			}
		}
	}
}

func fill(b []byte, c byte) {
	for i := range b {
		b[i] = c
	}
}

// plant writes a text that matches as much of w as fits into b.
func plant(b []byte, w Window) {
	for i := range min(len(b), len(w)) {
		for c := range w[i].bytes {
			b[i] = c
			break
		}
	}
}

// TestNextAll finds all positions in a text with dense and overlapping windows.
func TestNextAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, windows := range cases() {
		b := make([]byte, 3000)
		for i := range b {
			b[i] = "abcdefoohandlerbarzonetwsixfv.qQ09_\xc3\xa9\xff\x00"[rng.IntN(39)]
		}
		for range 200 {
			plant(b[rng.IntN(len(b)):], windows[rng.IntN(len(windows))])
		}
		f := New(windows)
		for which, f := range map[string]*Finder{"vector": f, "portable": f.WithoutVector()} {
			for from := 0; from <= len(b); from++ {
				if got, want := f.Next(b, from), reference(windows, b, from); got != want {
					t.Fatalf("%s, %s: Next(from %d) = %d, want %d", name, which, from, got, want)
				}
			}
		}
	}
}

func drawWindows(t *rapid.T) []Window {
	set := rapid.Custom(func(t *rapid.T) Set {
		var s Set
		for _, c := range rapid.SliceOfN(rapid.Byte(), 1, 6).Draw(t, "bytes") {
			s.Add(c)
		}
		if rapid.Bool().Draw(t, "common") {
			s.Add(byte(rapid.IntRange('a', 'd').Draw(t, "letter")))
		}
		return s
	})
	window := rapid.Custom(func(t *rapid.T) Window {
		return rapid.SliceOfN(set, 1, 10).Draw(t, "window")
	})
	return rapid.SliceOfN(window, 1, MaxWindows).Draw(t, "windows")
}

func TestNextProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		windows := drawWindows(t)
		b := rapid.SliceOfN(rapid.OneOf(rapid.ByteRange('a', 'd'), rapid.Byte()), 0, 300).Draw(t, "text")
		from := rapid.IntRange(0, len(b)).Draw(t, "from")
		f := New(windows)
		want := reference(windows, b, from)
		if got := f.Next(b, from); got != want {
			t.Errorf("Next = %d, want %d", got, want)
		}
		if got := f.WithoutVector().Next(b, from); got != want {
			t.Errorf("portable Next = %d, want %d", got, want)
		}
	})
}

func FuzzNext(f *testing.F) {
	f.Add([]byte("foo"), []byte("xx foo"), uint8(0))
	f.Add([]byte("k\x00ab"), bytes.Repeat([]byte("abk"), 40), uint8(3))
	f.Fuzz(func(t *testing.T, pattern, text []byte, from uint8) {
		var windows []Window
		for part := range bytes.SplitSeq(pattern, []byte{0}) {
			if len(part) > 0 && len(windows) < MaxWindows {
				windows = append(windows, folded(string(part[:min(len(part), MaxLen)])))
			}
		}
		if len(windows) == 0 || int(from) > len(text) {
			return
		}
		finder := New(windows)
		want := reference(windows, text, int(from))
		for _, f := range []*Finder{finder, finder.WithoutVector()} {
			if got := f.Next(text, int(from)); got != want {
				t.Errorf("Next(%q, %d) of %q = %d, want %d", text, from, pattern, got, want)
			}
		}
	})
}

// TestSharpen splits windows whose sets have halves that do not go together.
func TestSharpen(t *testing.T) {
	space := Range('\t', '\r').Union(byteSet(' '))
	if m := space.mistaken(); !m.Has(')') || m.Has(' ') || m.Has('a') {
		t.Errorf("mistaken for white space: %v", *m)
	}
	windows := []Window{{byteSet(')'), space}}
	sharp := sharpen(windows, 2)
	var all Set
	for _, w := range sharp {
		if m := w[1].mistaken(); w[0] != windows[0][0] || m.Len() > 0 {
			t.Errorf("%v is left, which is mistaken for %v", w, *m)
		}
		all = all.Union(w[1])
	}
	if all != space || len(sharp) != 2 {
		t.Errorf("%d windows of %v", len(sharp), all)
	}
	if len(windows) != 1 || windows[0][1] != space {
		t.Error("the input slice has changed")
	}
}

func TestRate(t *testing.T) {
	rare := Rate([]Window{literal("Handler")})
	folds := Rate([]Window{folded("handler")})
	common := Rate([]Window{{byteSet('e')}})
	all := Rate([]Window{{Range(0, 255)}})
	if !(rare < folds && folds < common && common < all && all == 1) {
		t.Errorf("rates are not in order: %g, %g, %g, %g", rare, folds, common, all)
	}
}

func BenchmarkNext(b *testing.B) {
	text := regextest.Source(b, 8<<20)
	for _, bench := range []struct {
		name    string
		windows []Window
	}{
		{"literal", []Window{literal("Handler")}},
		{"folded", []Window{folded("handler")}},
		{"common", []Window{literal("return")}},
		{"three", []Window{literal("foo"), literal("bar"), literal("baz")}},
		{"class", []Window{{Range('A', 'Z'), Range('A', 'Z'), Range('A', 'Z'), byteSet('_')}}},
		{"none", []Window{literal("qzxjv")}},
	} {
		f := New(bench.windows)
		for _, v := range []*Finder{f, f.WithoutVector()} {
			b.Run(fmt.Sprintf("%s/vector=%t", bench.name, v.vector), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					for i := v.Next(text, 0); i >= 0; i = v.Next(text, i+1) {
					}
				}
			})
		}
	}
}
