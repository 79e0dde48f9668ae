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

// A large file is searched in parts by several searchers, and the outcome is that of one.
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
			if want.Binary { // how much was read until then does not matter
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

// A file that becomes large while it is searched is searched once.
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

// A growing source is small when it is first looked at.
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

// An onlyReader cannot be read at several places at once.
type onlyReader struct{ io.Reader }
