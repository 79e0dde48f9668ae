package regex

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"testing"

	"adze/internal/platform/search/regextest"

	"github.com/google/go-cmp/cmp"
)

// matching returns the starts of the lines that m finds in text.
func matching(m *Matcher, text []byte) []int {
	var out []int
	m.Start(context.Background(), text)
	for {
		start, _, ok := m.Next()
		if !ok {
			return out
		}
		out = append(out, start)
	}
}

// passing returns the number of lines that m passes: up to single one by one, then the rest
// with Count.
func passing(m *Matcher, text []byte, single int) int {
	n := 0
	for m.Start(context.Background(), text); n < single && m.Pass(); {
		n++
	}
	return n + int(m.Count())
}

// eachLine yields the start of each line and the line without its line end.
func eachLine(text []byte) func(yield func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		at := 0
		for line := range bytes.Lines(text) {
			if !yield(at, bytes.TrimSuffix(line, []byte("\n"))) {
				return
			}
			at += len(line)
		}
	}
}

// byThreads matches line by line using only the pike.
func byThreads(q *Query, text []byte) []int {
	var out []int
	m := q.NewMatcher()
	m.pike = newPike(q.program, &m.budget, nil)
	for at, line := range eachLine(text) {
		if _, _, ok := m.pike.find(line, 0, true); ok {
			out = append(out, at)
		}
	}
	return out
}

// variants returns matchers for q that take different paths to the same result.
func variants(q *Query) map[string]*Matcher {
	plain, noFinder, noLanes, tiny := q.NewMatcher(), q.NewMatcher(), q.NewMatcher(), q.NewMatcher()
	noFinder.noFinder = true
	noLanes.noFinder, noLanes.noLanes = true, true
	tiny.noFinder = true
	tiny.dfa.maxWords = 200
	forgetful := q.NewMatcher()
	forgetful.dfa.maxWords = 200
	if forgetful.tail != nil {
		forgetful.tail.maxWords = 200
	}
	out := map[string]*Matcher{"plain": plain, "no finder": noFinder, "one lane": noLanes, "tiny cache": tiny, "tiny cache, finder": forgetful}
	if q.prefilter != nil {
		other := *q
		p := *q.prefilter
		p.finder = p.finder.WithoutVector()
		other.prefilter = &p
		out["portable"] = other.NewMatcher()
	}
	return out
}

func TestMatcherVariants(t *testing.T) {
	m := regextest.New(1)
	for range regextest.Times(3000) {
		pattern := m.Pattern()
		o := Options{IgnoreCase: m.IntN(4) == 0, Word: m.IntN(8) == 0}
		q, err := Compile(pattern, o)
		if err != nil {
			t.Fatalf("Compile(%q): %v", pattern, err)
		}
		size := []int{0, 1, 30, 300, 2000}[m.IntN(5)]
		text := m.Text(size)
		if size > 0 && m.IntN(3) == 0 {
			text = m.Spoiled(size)
		}
		want := byThreads(q, []byte(text))
		for name, v := range variants(q) {
			if diff := cmp.Diff(want, matching(v, []byte(text))); diff != "" {
				t.Fatalf("%s: %+v %q on %q:\n%s", name, o, pattern, text, diff)
			}
			for _, single := range []int{0, 1, 1 << 20} {
				v.lanes.dense = single == 1
				if got := passing(v, []byte(text), single); got != len(want) {
					t.Fatalf("%s: %+v %q on %q: passes %d lines, want %d", name, o, pattern, text, got, len(want))
				}
			}
		}
	}
}

// TestSkim makes the finder report every position where a match may begin or end, in texts
// where it occasionally gives up because there are so many.
func TestSkim(t *testing.T) {
	m := regextest.New(3)
	kinds := map[string]int{}
	tries := regextest.Times(4000)
	for range tries {
		pattern := m.Pattern()
		o := Options{IgnoreCase: m.IntN(4) == 0, Word: m.IntN(8) == 0, eager: true}
		q := mustCompile(t, pattern, o)
		switch p := q.prefilter; {
		case p == nil || p.exact:
			continue
		case p.tail != nil:
			kinds["tail"]++
		case p.prefix:
			kinds["prefix"]++
		default:
			kinds["line"]++
		}
		text := m.Text([]int{1, 30, 300, 2000}[m.IntN(4)])
		if m.IntN(50) == 0 {
			text = m.Text(20_000)
		}
		want := byThreads(q, []byte(text))
		for name, v := range variants(q) {
			if diff := cmp.Diff(want, matching(v, []byte(text))); diff != "" {
				t.Fatalf("%s: %+v %q on %q:\n%s", name, o, pattern, text, diff)
			}
		}
	}
	for _, kind := range []string{"tail", "prefix", "line"} {
		if kinds[kind] < tries/100 {
			t.Errorf("only %d of %d patterns are of kind %s", kinds[kind], tries, kind)
		}
	}
}

// TestAgainstRegexp compares lines and positions with package regexp, for patterns with the
// same meaning.
func TestAgainstRegexp(t *testing.T) {
	m := regextest.New(2)
	m.GoSyntax = true
	for range regextest.Times(3000) {
		pattern := m.Pattern()
		fold := m.IntN(4) == 0
		reference, err := regexp.Compile(map[bool]string{true: "(?i)"}[fold] + pattern)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Compile(pattern, Options{IgnoreCase: fold})
		if err != nil {
			t.Fatalf("Compile(%q): %v", pattern, err)
		}
		text := []byte(m.Text(200))
		matcher := q.NewMatcher()
		var want []int
		for at, line := range eachLine(text) {
			loc := reference.FindIndex(line)
			if loc != nil {
				want = append(want, at)
			}
			start, end, ok := q.NewMatcher().Find(t.Context(), line, 0)
			if got := fmt.Sprint([]int{start, end}); ok != (loc != nil) || ok && got != fmt.Sprint(loc) {
				t.Fatalf("%q (fold %t) in %q: got %s %t, want %v", pattern, fold, line, got, ok, loc)
			}
		}
		if diff := cmp.Diff(want, matching(matcher, text)); diff != "" {
			t.Fatalf("%q (fold %t) on %q:\n%s", pattern, fold, text, diff)
		}
	}
}
