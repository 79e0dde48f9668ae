package tfidf

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/platform/text/textlist"
)

// TestPacked checks that a packed index gives every document the same score as the index.
//
// Proves SKILL-33.
func TestPacked(t *testing.T) {
	word := rapid.SampledFrom([]string{"red", "reds", "green", "blue", "apple", "创建", "日历", "创建日历", "GitHub", "of", "é", "unheard"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), " ") })
	rapid.Check(t, func(t *rapid.T) {
		x := New(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Document {
			return Document{{text.Draw(t, "name"), 3}, {text.Draw(t, "when"), 1.5}, {text.Draw(t, "description"), 1}}
		}), 0, 8).Draw(t, "documents"))
		query := Document{{text.Draw(t, "query"), 1}}
		if got, want := x.Pack().Scores(query), x.Scores(query); !slices.Equal(got, want) {
			t.Fatalf("scores %v, want %v", got, want)
		}
	})
	x, query := New(tools(200)), tools(200)[7]
	if got, want := x.Pack().Scores(query), x.Scores(query); !slices.Equal(got, want) || Best(got, 1)[0].Doc != 7 {
		t.Errorf("scores of many are %v, want %v", got, want)
	}
}

// FuzzPacked checks that a damaged index is safe to use and returns valid scores.
func FuzzPacked(f *testing.F) {
	list := string(New(five).Pack().List)
	f.Add(list, 5, "red apple")
	f.Add(list, 1, "red apple")
	f.Add(list[:len(list)-3], 5, "red apple")
	f.Add(string(textlist.Of("red", "\x00\x00\x00\x00\x00\x00\xc0\x7f\x01\x00\x00\x00\x00\x00\x80\xff")), 5, "red")
	f.Add(string(textlist.Of("red")), 5, "red")
	f.Fuzz(func(t *testing.T, list string, docs int, query string) {
		docs = int(uint16(docs))
		scores := Packed{textlist.List(list), docs}.Scores(Document{{query, 1}})
		if len(scores) != docs || slices.ContainsFunc(scores, func(s float64) bool { return math.IsNaN(s) || s < 0 || s > 1 }) {
			t.Errorf("the scores are %v", scores)
		}
	})
}

func BenchmarkPacked5000(b *testing.B) {
	all := tools(5000)
	p, query := New(all).Pack(), Document{{all[1][2].Text, 1}}
	for b.Loop() {
		Best(p.Scores(query), 20)
	}
}
