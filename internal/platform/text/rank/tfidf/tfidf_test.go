package tfidf

import (
	order "cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Proves TSI-02.
func TestTerms(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"create_pull-request":               "creat pull request",
		"FileEditTool":                      "fil edit tool",
		"parseHTTPRequest":                  "pars http request",
		"list URLs of the page":             "list url pag",
		"GitHub":                            "git hub github",
		"a tool to be used by all of them":  "tool",
		"created creating creation creates": "creat creat creat creat",
		"stopped stopping stops":            "stop stop stop",
		"queries query querying":            "query query query",
		"deployment deploys deploying":      "deploy deploy deploy",
		"calls called calling":              "call call call",
		"matches boxes addresses":           "match box address",
		"status analysis class":             "status analysis class",
		"issue action payment ring red":     "issu action payment ring red",
		"s3 ec2 context7":                   "s3 ec2 context7",
		"Größe naïve":                       "größe naïve",
		"创建日历":                              "创建 建日 日历",
		"截图":                                "截图",
		"图":                                 "",
		"用slack发送":                          "slack 发送",
		"创 建":                               "",
		"カレンダー 일정":                          "カレ レン ンダ ダー 일정",
		"don't":                             "don",
		strings.Repeat("x", 5000):           strings.Repeat("x", maxWord),
	} {
		if got := strings.Join(Terms(text), " "); got != want {
			t.Errorf("%.40q: got %q, want %q", text, got, want)
		}
	}
}

// five lists documents whose vectors are computed by hand below.
var five = []Document{
	{{"red apple", 3}, {"red", 1}},
	{{"green apple", 3}},
	{{"red", 3}, {"blue blue blue", 1}},
	{{"", 3}, {"apple", 1}},
	{},
}

// TestVectors checks the formulas: term weight = weighted count / the document's largest; idf =
// ln((N+1)/(df+1)) + 1.
//
// Proves TSI-02.
func TestVectors(t *testing.T) {
	idf := func(df float64) float64 { return math.Log(6/(df+1)) + 1 }
	appl, red, green, blue := idf(3), idf(2), idf(1), idf(1)
	unit := func(v ...float64) []float64 {
		var sum float64
		for _, x := range v {
			sum += x * x
		}
		for i := range v {
			v[i] /= math.Sqrt(sum)
		}
		return v
	}
	x := New(five)
	vectors := []map[string]float64{{}, {}, {}, {}, {}}
	for term, id := range x.ids {
		for _, p := range x.posts[x.first[id]:x.first[id+1]] {
			vectors[p.doc][term] = float64(p.weight)
		}
	}
	first, second, third := unit(1*red, 0.75*appl), unit(green, appl), unit(red, blue)
	want := []map[string]float64{
		{"red": first[0], "appl": first[1]}, {"green": second[0], "appl": second[1]},
		{"red": third[0], "blu": third[1]}, {"appl": 1}, {},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
	if diff := cmp.Diff(want, vectors, near); diff != "" {
		t.Error(diff)
	}
	// The cosine of "red apples" with each document.
	query := unit(red, appl)
	hits := []Hit{{0, query[0]*first[0] + query[1]*first[1]}, {3, query[1]}, {2, query[0] * third[0]}, {1, query[1] * second[1]}}
	if diff := cmp.Diff(hits, search(x, Document{{"red apples", 1}}, 9), near); diff != "" {
		t.Error(diff)
	}
}

// search returns up to n documents that match query.
func search(x *Index, query Document, n int) []Hit { return Best(x.Scores(query), n) }

func docs(hits []Hit) []int {
	var all []int
	for _, h := range hits {
		all = append(all, h.Doc)
	}
	return all
}

// Proves TSI-01.
func TestFieldsOutrankEachOther(t *testing.T) {
	of := func(name, hint, description string) Document {
		return Document{{name, 3}, {hint, 2.5}, {description, 1}}
	}
	x := New([]Document{
		of("alpha beta", "gamma delta", "calendar epsilon"),
		of("alpha beta", "calendar delta", "gamma epsilon"),
		of("calendar beta", "gamma delta", "alpha epsilon"),
		of("calendar", "", ""),
	})
	if got := docs(search(x, Document{{"calendar", 1}}, 9)); !slices.Equal(got, []int{3, 2, 1, 0}) {
		t.Errorf("got %v", got)
	}
	var in []Fields
	x.Each("calendar", func(_ int, f Fields) { in = append(in, f) })
	if !slices.Equal(in, []Fields{4, 2, 1, 1}) {
		t.Errorf("fields %v", in)
	}
	if got := x.Containing("cal", 1); !slices.Equal(got, []string{"calendar"}) {
		t.Errorf("containing cal: %v", got)
	}
	if got := append(x.Containing("alph", 2), x.Containing("alpha", 1)...); got != nil {
		t.Errorf("containing alpha: %v", got)
	}
}

// Proves TSI-03.
func TestPairs(t *testing.T) {
	x := New([]Document{{{"创建日历 calendar", 1}}, {{"创建文件 file", 1}}, {{"send", 1}}})
	for query, want := range map[string][]int{
		"创建日历":     {0},    // three pairs, and one
		"创建":       nil,    // one pair
		"创建 日历":    {0},    // two pairs
		"创建 file":  {1},    // one pair and a word; the other has one pair
		"创建 sends": {2},    // one pair in two, a word in the third
		"图":        nil,    // no pair
		"file":     {1},    // no CJK, nothing special
		"创建文件 日历":  {1, 0}, // four pairs and two
	} {
		if got := docs(search(x, Document{{query, 1}}, 9)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
}

// TestBest compares the result with sorting all scores.
func TestBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.1, 0.2, 0.3, 0.9, -1}), 0, 30).Draw(t, "scores")
		n := rapid.IntRange(0, 10).Draw(t, "n")
		var want []Hit
		for doc, score := range scores {
			if score > 0 {
				want = append(want, Hit{doc, score})
			}
		}
		slices.SortStableFunc(want, func(a, b Hit) int { return order.Compare(b.Score, a.Score) })
		if got := Best(scores, n); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestEdges(t *testing.T) {
	for _, x := range []*Index{New(nil), New([]Document{{}}), New([]Document{{{"of the", 1}}})} {
		for _, query := range []string{"", "of", "red", "红色"} {
			if hits := search(x, Document{{query, 1}}, 9); hits != nil {
				t.Errorf("%q: %v", query, hits)
			}
		}
	}
	many := strings.Repeat("创建", 400) // more pairs than a byte counts
	if got := docs(search(New([]Document{{{many, 1}}}), Document{{many, 1}}, 9)); !slices.Equal(got, []int{0}) {
		t.Errorf("many pairs: %v", got)
	}
}

// TestPermutation checks that the order of documents does not affect scores.
func TestPermutation(t *testing.T) {
	word := rapid.SampledFrom([]string{"red", "reds", "green", "blue", "创建", "日历", "GitHub", "of"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), " ") })
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Document {
			return Document{{text.Draw(t, "name"), 3}, {text.Draw(t, "description"), 1}}
		}), 0, 8).Draw(t, "documents")
		moves := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range all {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		moved := make([]Document, len(all))
		for i, from := range moves {
			moved[i] = all[from]
		}
		query := Document{{text.Draw(t, "query"), 1}}
		scores := func(hits []Hit, name func(int) int) map[int]float64 {
			m := map[int]float64{}
			for i, h := range hits {
				m[name(h.Doc)] = h.Score
				if h.Score <= 0 || h.Score > 1 || i > 0 && h.Score > hits[i-1].Score {
					t.Fatalf("hits %v", hits)
				}
			}
			return m
		}
		want := scores(search(New(all), query, 20), func(d int) int { return d })
		if diff := cmp.Diff(want, scores(search(New(moved), query, 20), func(d int) int { return moves[d] })); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzTerms(f *testing.F) {
	for _, seed := range []string{"createPullRequest", "创建日历 GitHub", "\xff\xfeA", "URLs", "ǅUngla", "ﬁle", "e\u0301cole"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms := Terms(text)
		for _, term := range terms {
			if term == "" || len(term) > maxWord+utf8.UTFMax {
				t.Errorf("%q has the term %q", text, term)
			}
			for _, c := range term {
				if c != utf8.RuneError && !unicode.In(c, unicode.L, unicode.N, unicode.M) {
					t.Errorf("%q has the term %q", text, term)
				}
			}
		}
		if again := Terms(text); !slices.Equal(terms, again) {
			t.Errorf("%q: %q, then %q", text, terms, again)
		}
		x := New([]Document{{{text, 1}}})
		if hits := search(x, Document{{text, 1}}, 9); len(hits) > 1 || len(hits) == 1 && hits[0].Score < 0.99 {
			t.Errorf("%q is %v like itself", text, hits)
		}
	})
}

// tools returns documents that resemble MCP tools: a name of five words, a description of
// forty.
func tools(n int) []Document {
	random := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 4000)
	for i := range words {
		words[i] = strings.Repeat(string(rune('a'+i%26)), 1+i%3) + fmt.Sprintf("%c%cword", 'a'+i/26%26, 'a'+i/676)
	}
	sentence := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[int(float64(len(words))*math.Pow(random.Float64(), 3))]) // some are frequent
			b.WriteByte(' ')
		}
		return b.String()
	}
	all := make([]Document, n)
	for i := range all {
		all[i] = Document{{sentence(5), 3}, {"", 2.5}, {sentence(40), 1}}
	}
	return all
}

func BenchmarkBuild1000(b *testing.B) {
	all := tools(1000)
	for b.Loop() {
		New(all)
	}
}

func BenchmarkQuery5000(b *testing.B) {
	all := tools(5000)
	x, query := New(all), Document{{all[1][2].Text, 1}}
	for b.Loop() {
		search(x, query, 20)
	}
}
