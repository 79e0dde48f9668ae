package scan

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/search/regex"
)

// TestParts checks that searching a large file in parts with several searchers gives the same
// result as with one.
//
// Proves GREP-08.
func TestParts(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))))
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "b", "\n", "\n", "ab", "\r\n", "é", "\xff", "\xef\xbb\xbf", "x y", "\n\n", "abababababababababab"}
	patterns := []string{"a", "^", "$", "b$", "^a", "a.*b", "x|é", "nothing", "[ab]+", `\bx`}
	several := 0
	for range 400 {
		var text []byte
		if random.IntN(4) == 0 {
			text = append(text, "\xef\xbb\xbf"...)
		}
		for range 100 + random.IntN(400) {
			text = append(text, words[random.IntN(len(words))]...)
		}
		if random.IntN(6) == 0 {
			text[random.IntN(len(text))] = 0
		}
		pattern := patterns[random.IntN(len(patterns))]
		q, err := regex.Compile(pattern, regex.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{Mode: Exists}, {Mode: Count}, {Mode: Count, Spans: AllSpans}} {
			s := NewSearcher(q, o)
			s.size.piece = 16
			want, err := s.Search(t.Context(), onlyReader{bytes.NewReader(text)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.size.part, s.size.search = int64(20+random.IntN(100)), 1+random.IntN(30)
			got, err := s.Search(t.Context(), bytes.NewReader(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if want.Binary { // the amount read until then does not matter
				want.Bytes, got.Bytes = 0, 0
			} else if want.Lines > 1 {
				several++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%v of %q in %q: %s", o, pattern, text, diff)
			}
		}
	}
	if several < 100 {
		t.Errorf("only %d texts with several matches", several)
	}
}

// TestPartsOfLines checks that several searchers find the same lines in a large file as a
// single one, with numbers and context.
//
// Proves GREP-08.
func TestPartsOfLines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0))))
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"a", "b", "\n", "\n", "ab", "\r\n", "é", "\xff", "x y", "\n\n", "a\n\nb\n", "abababababababababab"}
	patterns := []string{"a", "^", "b$", "^a", "x|é", "nothing", "rare", "rare", "rare", "^rare$"}
	shown := 0
	for range 300 {
		var text []byte
		if random.IntN(4) == 0 {
			text = append(text, "\xef\xbb\xbf"...)
		}
		for range 300 + random.IntN(1500) {
			text = append(text, words[random.IntN(len(words))]...)
			if random.IntN(300) == 0 {
				text = append(text, "\nrare\n"...)
			}
		}
		if random.IntN(8) == 0 {
			text[random.IntN(len(text))] = 0
		}
		q, err := regex.Compile(patterns[random.IntN(len(patterns))], regex.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Mode: Lines, Spans: Spans(random.IntN(3)), Before: random.IntN(4) * random.IntN(2), After: random.IntN(4) * random.IntN(2)}
		enough := -1
		if random.IntN(4) == 0 {
			enough = random.IntN(10)
		}
		s := NewSearcher(q, o)
		s.size.piece = 16
		search := func(src io.Reader) (lines []Line, stats Stats) {
			stats, err := s.Search(t.Context(), src, func(l *Line) bool {
				one := *l
				one.Text, one.Spans = bytes.Clone(l.Text), append([]Span(nil), l.Spans...)
				lines = append(lines, one)
				return len(lines) != enough
			})
			if err != nil {
				t.Fatal(err)
			}
			return lines, stats
		}
		want, wantStats := search(onlyReader{bytes.NewReader(text)})
		s.size.part, s.size.search = int64(500+random.IntN(200)), 1+random.IntN(30) // the context of a match is shorter than a part
		got, gotStats := search(bytes.NewReader(text))
		if wantStats.Binary { // lines reported before are void
			want, got, wantStats.Bytes, gotStats.Bytes = nil, nil, 0, 0
		}
		if len(want) == enough { // the number of further matches does not matter
			wantStats.Lines, gotStats.Lines, wantStats.Matches, gotStats.Matches = 0, 0, 0, 0
		}
		shown += len(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v in %q: %s", o, text, diff)
		}
		if diff := cmp.Diff(wantStats, gotStats); diff != "" {
			t.Fatalf("%+v in %q: %s", o, text, diff)
		}
	}
	if shown < 1000 {
		t.Errorf("only %d lines", shown)
	}
}

// TestPartsOfAGrowingFile checks that a file that becomes large during the search is searched
// once.
func TestPartsOfAGrowingFile(t *testing.T) {
	q, err := regex.Compile("a", regex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSearcher(q, Options{Mode: Count})
	s.size.piece, s.size.part = 16, 32
	got, err := s.Search(t.Context(), &growing{Reader: bytes.NewReader(bytes.Repeat([]byte("a\n"), 200_000))}, nil)
	if err != nil || got.Lines != 200_000 {
		t.Errorf("%d lines, %v", got.Lines, err)
	}
}

// A growing is a source that is small at first.
type growing struct {
	*bytes.Reader
	looked bool
}

func (g *growing) Size() int64 {
	if !g.looked {
		g.looked = true
		return 1
	}
	return g.Reader.Size()
}

// An onlyReader does not support concurrent reads.
type onlyReader struct{ io.Reader }
