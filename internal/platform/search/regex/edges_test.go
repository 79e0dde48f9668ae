package regex

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"adze/internal/platform/search/regextest"

	"github.com/google/go-cmp/cmp"
)

// edgeCases is the number of random patterns compared with package regexp, each on one text.
const edgeCases = 5000

// An edgeCase is a pattern with conditions, a text, and how to compare them with package
// regexp.
type edgeCase struct {
	pattern   string
	o         Options
	text      []byte
	reference *regexp.Regexp
}

func (c *edgeCase) String() string { return fmt.Sprintf("%+v %q on %q", c.o, c.pattern, c.text) }

// drawEdges returns a random case.
func drawEdges(tb testing.TB, r *rand.Rand) *edgeCase {
	tb.Helper()
	spoiled := r.IntN(3) == 0
	e := regextest.NewEdges(r, spoiled)
	c := &edgeCase{
		pattern: e.Pattern(),
		o:       Options{IgnoreCase: r.IntN(4) == 0, Multiline: r.IntN(5) == 0, eager: r.IntN(4) > 0},
		text:    e.Text([]int{0, 1, 12, 40, 40, 150, 600}[r.IntN(7)]),
	}
	if r.IntN(100) == 0 {
		c.text = e.Text(20_000)
	}
	if spoiled {
		c.text = e.Spoil(c.text)
	}
	pattern := "(?:" + c.pattern + ")"
	if c.o.Word = !c.o.Multiline && r.IntN(5) == 0; c.o.Word {
		pattern = `(?:\A|[^\w\pL\x{fffd}])` + pattern + `(?:[^\w\pL\x{fffd}]|\z)`
	}
	flags := map[bool]string{true: "(?i)"}[c.o.IgnoreCase] + map[bool]string{true: "(?s)"}[c.o.Multiline]
	var err error
	if c.reference, err = regexp.Compile("(?m)" + flags + pattern); err != nil {
		tb.Fatalf("%q: %v", c.pattern, err)
	}
	return c
}

// check compares the results of all matcher variants with package regexp.
func (c *edgeCase) check(t *testing.T) {
	t.Helper()
	q := mustCompile(t, c.pattern, c.o)
	if q.Spanning() {
		c.checkFirst(t, q)
		return
	}
	var want []int
	for at, line := range eachLine(c.text) {
		if c.reference.Match(line) {
			want = append(want, at)
		}
	}
	for name, m := range variants(q) {
		if diff := cmp.Diff(want, matching(m, c.text)); diff != "" {
			t.Fatalf("%s: %s:\n%s", name, c, diff)
		}
		if got := passing(m, c.text, 1); got != len(want) {
			t.Fatalf("%s: %s: passes %d lines, want %d", name, c, got, len(want))
		}
	}
}

// checkFirst compares the start of the first match, in a text that does not consist of lines.
func (c *edgeCase) checkFirst(t *testing.T, q *Query) {
	t.Helper()
	want := -1
	if loc := c.reference.FindIndex(c.text); loc != nil {
		want = loc[0]
	}
	for name, m := range variants(q) {
		got, _, ok := m.Find(t.Context(), c.text, 0)
		if !ok {
			got = -1
		}
		if got != want {
			t.Fatalf("%s: %s: begins at %d, want %d", name, c, got, want)
		}
	}
}

// TestUnderWay has partial matches in a state that another position starts with.
func TestUnderWay(t *testing.T) {
	tests := []struct {
		pattern string
		o       Options
		text    string
		want    []int
	}{
		{"(^|,)id", Options{}, "id\na,id\nb,id\nc,id\nbid\n", []int{0, 3, 8, 13}},
		{`(?:^|/)main\.go`, Options{}, "a/main.go\nb/main.go\nmain.go", []int{0, 10, 20}},
		{"(^|_)test", Options{IgnoreCase: true}, "Test\na_test\nb_TEST\natest\n", []int{0, 5, 12}},
		{"(Q|Z)*X", Options{Word: true}, "X\nQX\nZQZX\naX\n", []int{0, 2, 5}},
		{`(\b{start-half}|z)Q`, Options{}, "Q\nzQ\n zQ\nyQ\n", []int{0, 2, 5}},
	}
	for _, tt := range tests {
		for _, eager := range []bool{false, true} {
			tt.o.eager = eager
			for name, m := range variants(mustCompile(t, tt.pattern, tt.o)) {
				for range 2 { // the second time all states exist
					if diff := cmp.Diff(tt.want, matching(m, []byte(tt.text))); diff != "" {
						t.Errorf("%s: %s %+v:\n%s", name, tt.pattern, tt.o, diff)
					}
				}
			}
		}
	}
}

// TestEdges compares patterns with conditions in alternatives, groups and repeats with package
// regexp.
//
// Proves ENG-03.
func TestEdges(t *testing.T) {
	kinds := map[string]int{}
	tries := regextest.Times(edgeCases)
	r := rand.New(rand.NewPCG(21, 1))
	for range tries {
		c := drawEdges(t, r)
		c.check(t)
		q := mustCompile(t, c.pattern, c.o)
		switch p := q.prefilter; {
		case q.Spanning():
			kinds["spanning"]++
		case p == nil:
			kinds["read"]++
		case p.tail != nil:
			kinds["tail"]++
		case p.prefix:
			kinds["prefix"]++
		default:
			kinds["line"]++
		}
	}
	for _, kind := range []string{"spanning", "read", "tail", "prefix", "line"} {
		if kinds[kind] < tries/100 {
			t.Errorf("only %d of %d patterns are of kind %s", kinds[kind], tries, kind)
		}
	}
}

// TestEdgesOfWords compares conditions that package regexp lacks with the pike.
func TestEdgesOfWords(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	for range regextest.Times(edgeCases) {
		e := regextest.NewEdges(r, true)
		e.Looks = []string{`\b{start-half}`, `\b{start-half}`, `\b{end-half}`, `\<`, `\>`, `\b`, `\B`, "^"}
		c := &edgeCase{
			pattern: e.Pattern(), o: Options{IgnoreCase: r.IntN(4) == 0, Word: r.IntN(4) == 0, eager: true},
			text: e.Text([]int{0, 12, 40, 150}[r.IntN(4)]),
		}
		if r.IntN(3) == 0 {
			c.text = e.Spoil(c.text)
		}
		q := mustCompile(t, c.pattern, c.o)
		want := byThreads(q, c.text)
		for name, m := range variants(q) {
			if diff := cmp.Diff(want, matching(m, c.text)); diff != "" {
				t.Fatalf("%s: %s:\n%s", name, c, diff)
			}
		}
	}
}

// FuzzEdges is TestEdges with the fuzzer's choices.
func FuzzEdges(f *testing.F) {
	for i := range byte(16) {
		choices := make([]byte, 64)
		rand.NewChaCha8([32]byte{i}).Read(choices)
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		drawEdges(t, rand.New(regextest.NewScript(choices))).check(t)
	})
}
