package fileindex

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// of returns a names with the given files.
func of(paths ...string) *names {
	b := newBuilder()
	for _, p := range paths {
		b.add(p)
	}
	return &names{entries: b.entries}
}

func find(t testing.TB, ns *names, query string) []Match {
	t.Helper()
	got, err := ns.find(context.Background(), query, 15)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func pathsOf(matches []Match) []string {
	var out []string
	for _, m := range matches {
		out = append(out, m.Path)
	}
	return out
}

// Proves IDX-03.
func TestMatching(t *testing.T) {
	ns := of("internal/server.go", "Makefile", "docs/ÜberSicht.md", "a\tb")
	tests := []struct {
		query string
		want  []string
	}{
		{"srvgo", []string{"internal/server.go"}},
		{"SRV", nil},
		{"mkf", []string{"Makefile"}},
		{"Mf", []string{"Makefile"}},
		{"MF", nil},
		{"übersicht", []string{"docs/ÜberSicht.md"}},
		{"Übers", nil},
		{"ÜberS", []string{"docs/ÜberSicht.md"}},
		{"og", nil},
		{"s\x00r\nvgo", []string{"internal/server.go"}},
		{strings.Repeat("x", 300), nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, pathsOf(find(t, ns, tt.query))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.query, diff)
		}
	}
	long := strings.Repeat("x", maxQuery)
	if got := find(t, of(long), long+"y"); len(got) != 1 {
		t.Error("a query is not cut")
	}
}

// Proves IDX-04, X-122.
func TestSeveralStarts(t *testing.T) {
	got := find(t, of("src/elephant/tray.go", "src/settings.go"), "set")
	want := []Match{
		{Path: "src/settings.go", Score: 3*16 + 2*4 + 2*8 + 32 - 3, Positions: []int{4, 5, 6}},
		{Path: "src/elephant", Dir: true, Score: 3*16 + 2*8 - 3 - 3 + 8 - 3 - 6 + 32 - 3, Positions: []int{0, 4, 11}},
		{Path: "src/elephant/tray.go", Score: 3*16 + 2*8 - 3 - 3 + 8 - 3 - 6 + 32 - 5, Positions: []int{0, 4, 11}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := find(t, of("cmd/adze/config.go"), "config"); !cmp.Equal(got[0].Positions, []int{9, 10, 11, 12, 13, 14}) {
		t.Errorf("config is at %v", got[0].Positions)
	}
	if got := find(t, of("ä/éclair.md"), "écl"); !cmp.Equal(got[0].Positions, []int{3, 5, 6}) {
		t.Errorf("écl is at %v", got[0].Positions)
	}
}

// Proves IDX-05, X-122.
func TestScore(t *testing.T) {
	tests := []struct {
		query, path string
		want        int
	}{
		{"a", "a", 16 + 2*8 + 32},
		{"a", "xa", 16 + 32},
		{"ab", "ab", 2*16 + 4 + 2*8 + 32},
		{"ac", "abc", 2*16 + 2*8 - 3 - 1 + 32},
		{"ac", "abbc", 2*16 + 2*8 - 3 - 2 + 32 - 1},
		{"ab", "a/b", 2*16 + 2*8 - 3 - 1 + 8 + 32},
		{"fb", "fooBar", 2*16 + 2*8 - 3 - 2 + 6 + 32 - 1},
		{"ob", "fooBar", 2*16 - 3 - 1 + 6 + 32 - 1},
		{"B", "fooBar", 16 + 2*6 + 32 - 1},
		{"z", strings.Repeat("y", 200) + "z", 16},
		{"ab", "ab_test.go", (2*16 + 4 + 2*8 + 32 - 2) * 19 / 20},
		{"é", "é.md", 16 + 2*8 + 32 - 1},
	}
	for _, tt := range tests {
		got := find(t, of(tt.path), tt.query)
		if len(got) != 1 {
			t.Errorf("%s in %s: %v", tt.query, tt.path, got)
			continue
		}
		want := tt.want
		if strings.Contains(tt.path, "test") { // the rest is rounded up
			full := 2*16 + 4 + 2*8 + 32 - 2
			want = full - full/20
		}
		if got[0].Score != want {
			t.Errorf("%s in %s scores %d, want %d", tt.query, tt.path, got[0].Score, want)
		}
	}
}

// Proves IDX-06.
func TestPruningChangesNothing(t *testing.T) {
	letters := rapid.SampledFrom([]rune("abtesABé/._- "))
	path := rapid.StringOfN(letters, 1, 24, -1)
	rapid.Check(t, func(t *rapid.T) {
		b := newBuilder()
		for _, p := range rapid.SliceOfN(path, 0, 120).Draw(t, "paths") {
			b.entries = append(b.entries, newEntry(p, false))
		}
		query := rapid.StringOfN(letters, 1, 4, -1).Draw(t, "query")
		n := rapid.IntRange(1, 5).Draw(t, "n")
		rank := func(prune bool) []string {
			best := &ranking{n: n}
			s := &scorer{pattern: newPattern(query), prune: prune}
			for i := range b.entries {
				s.consider(&b.entries[i], best)
			}
			var out []string
			for _, c := range best.list {
				out = append(out, fmt.Sprint(c.entry.path, " ", c.score, " ", c.start))
			}
			return out
		}
		pruned, whole := rank(true), rank(false)
		if diff := cmp.Diff(whole, pruned); diff != "" {
			t.Fatalf("(-exhaustive +pruned):\n%s", diff)
		}
		if want := exhaustive(b.entries, query, n); !slices.Equal(want, stripStart(whole)) {
			t.Fatalf("ranking is %v, want %v", stripStart(whole), want)
		}
	})
}

// TestPruningCountsCharacters checks that a path with long characters is not skipped: its length counts in
// characters, not in bytes.
func TestPruningCountsCharacters(t *testing.T) {
	b := newBuilder()
	for _, p := range []string{"aaaaaaééé", "aaaaaaaaaaé"} {
		b.entries = append(b.entries, newEntry(p, false))
	}
	best := &ranking{n: 1}
	s := &scorer{pattern: newPattern("a"), prune: true}
	for i := range b.entries {
		s.consider(&b.entries[i], best)
	}
	if want := exhaustive(b.entries, "a", 1); !slices.Equal(want, []string{fmt.Sprint(best.list[0].entry.path, " ", best.list[0].score)}) {
		t.Errorf("found %s, want %v", best.list[0].entry.path, want)
	}
}

func stripStart(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l[:strings.LastIndexByte(l, ' ')])
	}
	return out
}

// exhaustive ranks by the documented rules, without optimizations.
func exhaustive(entries []entry, query string, n int) []string {
	p := newPattern(query)
	var all []candidate
	for i := range entries {
		e := &entries[i]
		path := []rune(e.path)
		best, found, seen := 0, false, false
		for start, r := range path {
			c := r
			if p.folded {
				c = []rune(strings.ToLower(string(r)))[0]
			}
			if c != p.runes[0] || seen && !isSeparator(path[start-1]) {
				continue
			}
			seen = true
			score, at, ok := perCharacter, start, true
			if start == 0 || isSeparator(path[start-1]) {
				score += firstFactor * atBoundary
			} else {
				score += firstFactor * bonus(path[start-1], r)
			}
			for _, want := range p.runes[1:] {
				next := at + 1
				for next < len(path) && fold(path[next], p.folded) != want {
					next++
				}
				if ok = next < len(path); !ok {
					break
				}
				if next == at+1 {
					score += afterPrevious
				} else {
					score += gapBegins + perSkipped*(next-at-1)
				}
				score += perCharacter + bonus(path[next-1], path[next])
				at = next
			}
			if ok && (!found || score > best) {
				best, found = score, true
			}
		}
		if !found {
			continue
		}
		best += max(0, shortPath-len(path)/lengthStep)
		if strings.Contains(strings.ToLower(e.path), "test") && best > 0 {
			best -= best / testShare
		}
		all = append(all, candidate{entry: e, score: best})
	}
	slices.SortStableFunc(all, compare)
	var out []string
	for _, c := range all[:min(n, len(all))] {
		out = append(out, fmt.Sprint(c.entry.path, " ", c.score))
	}
	return out
}

func fold(r rune, on bool) rune {
	if on {
		return []rune(strings.ToLower(string(r)))[0]
	}
	return r
}

func TestTies(t *testing.T) {
	got := pathsOf(find(t, of("lib/xb.go", "lib/xa.go", "lib/x.go", "lib/x_test.go"), "x"))
	want := []string{"lib/x.go", "lib/xa.go", "lib/xb.go", "lib/x_test.go"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves IDX-07.
func TestEmptyQuery(t *testing.T) {
	got, err := of("b/c/d.go", "z.md", "a.md", "b/e.go", "../up.go").find(t.Context(), " ", 15)
	if err != nil || len(got) != 0 {
		t.Errorf("a blank finds %v, %v", got, err)
	}
	got = find(t, of("b/c/d.go", "z.md", "a.md", "b/e.go", "../up.go"), "")
	want := []Match{{Path: "a.md"}, {Path: "b", Dir: true}, {Path: "z.md"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// many returns n paths that resemble a large project's, about ten per directory.
func many(n int) *names {
	r := rand.New(rand.NewPCG(5, 6))
	words := strings.Fields("server client internal config session handler test util proto api cmd store view model Parser Builder index cache http json")
	dirs := []string{""}
	for len(dirs) < n/10+1 {
		up := dirs[r.IntN(len(dirs))]
		if strings.Count(up, "/") < 8 {
			dirs = append(dirs, fmt.Sprintf("%s%s%d/", up, words[r.IntN(len(words))], len(dirs)%20))
		}
	}
	b := newBuilder()
	for i := range n {
		b.add(fmt.Sprintf("%s%s_%s%d.go", dirs[i/10], words[r.IntN(len(words))], words[r.IntN(len(words))], i))
	}
	return &names{entries: slices.Clip(b.entries)}
}

func queries() []string {
	return []string{"s", "e", "server", "srvgo", "confighandler", "ser/cli/st", "Parser", "zzz", "a1b2", "index_cache1"}
}

func TestFindStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := many(10).find(ctx, "s", 15); err == nil {
		t.Errorf("found %v", got)
	}
}

func TestMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ns := many(100_000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if mb := (after.HeapAlloc - before.HeapAlloc) >> 20; mb > 40 {
		t.Errorf("100,000 paths take %d MB", mb)
	} else {
		t.Logf("100,000 paths and their directories take %d MB", mb)
	}
	runtime.KeepAlive(ns)
}

func BenchmarkFind(b *testing.B) {
	ns := many(200_000)
	for _, q := range queries() {
		b.Run(q, func(b *testing.B) {
			for b.Loop() {
				find(b, ns, q)
			}
		})
	}
}
