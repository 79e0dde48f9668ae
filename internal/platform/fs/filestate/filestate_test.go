package filestate

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func hash(b byte) [32]byte { return [32]byte{b} }

// part returns an entry for reading lines first to last of 100, in the version with hash h.
func part(h byte, first, last int) Entry {
	n := last - first + 1
	return Entry{Path: "f", Hash: hash(h), Offset: first, Limit: n, Lines: n, Total: 100}
}

// Proves FST-02.
func TestRangesAddUp(t *testing.T) {
	whole := Entry{Path: "f", Hash: hash(1), Origin: Read, Offset: 1, Lines: 100, Total: 100, Complete: true}
	tests := []struct {
		name     string
		records  []Entry
		complete bool
		seen     []Span
	}{
		{"half", []Entry{part(1, 1, 50)}, false, []Span{{1, 50}}},
		{"both halves", []Entry{part(1, 1, 50), part(1, 51, 100)}, true, []Span{{1, 100}}},
		{"the other way round, overlapping", []Entry{part(1, 40, 100), part(1, 1, 60)}, true, []Span{{1, 100}}},
		{"a gap", []Entry{part(1, 1, 49), part(1, 51, 100)}, false, []Span{{1, 49}, {51, 100}}},
		{"halves of two versions", []Entry{part(1, 1, 50), part(2, 51, 100)}, false, []Span{{51, 100}}},
		{"versions told apart by stamp", []Entry{
			{Path: "f", Stamp: Stamp{MTime: 1}, Offset: 1, Lines: 5, Total: 10},
			{Path: "f", Stamp: Stamp{MTime: 2}, Offset: 6, Lines: 5, Total: 10},
		}, false, []Span{{6, 10}}},
		{"a range after the whole", []Entry{whole, part(1, 3, 4)}, true, []Span{{1, 100}}},
		{"injected over the whole", []Entry{whole, {Path: "f", Hash: hash(1), Origin: Injected, Offset: 1, Lines: 3, Total: 100}}, true, []Span{{1, 100}}},
		{"injected alone", []Entry{{Path: "f", Hash: hash(1), Origin: Injected, Offset: 1, Lines: 3, Total: 100}}, false, []Span{{1, 3}}},
		{"an empty file", []Entry{{Path: "f", Offset: 1, Complete: true}}, true, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := New()
			for _, e := range tt.records {
				s.Record(e)
			}
			got, ok := s.Get("f")
			if !ok || got.Complete != tt.complete {
				t.Errorf("complete: %v, want %v", got.Complete, tt.complete)
			}
			if diff := cmp.Diff(tt.seen, got.Seen); diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	s := New()
	s.Record(part(1, 10, 20))
	s.Record(Entry{Path: "all", Origin: Write, Complete: true})
	tests := []struct {
		path        string
		first, last int
		want        bool
	}{
		{"f", 10, 20, true}, {"f", 12, 12, true}, {"f", 9, 12, false}, {"f", 19, 21, false}, {"f", 12, 11, false},
		{"all", 1, 1 << 30, true}, {"nothing", 1, 1, false},
	}
	for _, tt := range tests {
		e, ok := s.Get(tt.path)
		if got := ok && (e.Complete || Covers(e.Seen, tt.first, tt.last)); got != tt.want {
			t.Errorf("Covers(%s, %d, %d) = %v", tt.path, tt.first, tt.last, got)
		}
	}
	s.Forget("f")
	if _, ok := s.Get("f"); ok {
		t.Error("a forgotten entry is there")
	}
}

// Proves FST-03.
func TestStoreIsBounded(t *testing.T) {
	s := New()
	for i := range 2000 {
		s.Record(Entry{Path: fmt.Sprint(i), Hash: hash(byte(i)), Origin: Read, Offset: 1, Lines: 1, Total: 1, Complete: true, Content: make([]byte, 100<<10)})
	}
	if len(s.entries) != maxEntries || s.order.Len() != maxEntries || s.content > maxContent {
		t.Errorf("%d entries, %d bytes", len(s.entries), s.content)
	}
	if _, ok := s.Get("999"); ok {
		t.Error("the oldest entry is still there")
	}
	if e, ok := s.Get("1499"); !ok || !e.Complete || e.Hash != hash(1499&0xff) || e.Content != nil {
		t.Errorf("the 1,500th file: %v, complete %v, content %d bytes", ok, e.Complete, len(e.Content))
	}
	if e, _ := s.Get("1999"); e.Content == nil {
		t.Error("the last content is gone")
	}
	s.Record(Entry{Path: "huge", Hash: hash(9), Complete: true, Content: make([]byte, maxContent+1)})
	if e, ok := s.Get("huge"); !ok || e.Content != nil || e.Hash != hash(9) {
		t.Error("content beyond the bound was kept, or its entry was not")
	}
	if e, _ := s.Get("1999"); e.Content == nil {
		t.Error("content that cannot be kept drove out others")
	}
}

func TestUseKeepsAnEntry(t *testing.T) {
	s := New()
	for i := range maxEntries {
		s.Record(Entry{Path: fmt.Sprint(i)})
	}
	s.Get("0")
	s.Record(Entry{Path: "one more"})
	if _, ok := s.Get("0"); !ok {
		t.Error("the entry used last is gone")
	}
	if _, ok := s.Get("1"); ok {
		t.Error("the entry used least is there")
	}
}

func TestShown(t *testing.T) {
	s := New()
	s.Record(part(1, 1, 100))
	if e, _ := s.Get("f"); !e.Shown {
		t.Fatal("a delivered text is not shown")
	}
	s.Invalidate("f")
	s.Invalidate("none")
	if e, ok := s.Get("f"); !ok || e.Shown || len(e.Seen) == 0 {
		t.Errorf("after it was cleared: %+v", e)
	}
}

func TestStampOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	stamp := func() Stamp {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return StampOf(info)
	}
	if err := os.WriteFile(path, []byte("ab"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := stamp()
	if first.Size != 2 || first.MTime == 0 || first != stamp() {
		t.Errorf("stamp %+v", first)
	}
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if stamp() == first {
		t.Error("another size has the same stamp")
	}
}

func TestConcurrentUse(t *testing.T) {
	s := New()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				path := fmt.Sprint(j % 7)
				s.Record(Entry{Path: path, Offset: i + 1, Lines: 1, Total: 8})
				s.Get(path)
			}
		})
	}
	wg.Wait()
	for j := range 7 {
		if e, _ := s.Get(fmt.Sprint(j)); !e.Complete && !Covers(e.Seen, 1, 8) {
			t.Errorf("lines of %d were lost", j)
		}
	}
}

// lines returns the set of lines in spans, and fails unless they are sorted and disjoint.
func lines(t *rapid.T, spans []Span) map[int]bool {
	set := map[int]bool{}
	for i, s := range spans {
		if s.First > s.Last || i > 0 && s.First <= spans[i-1].Last+1 {
			t.Fatalf("not in order and apart: %v", spans)
		}
		for n := s.First; n <= s.Last; n++ {
			set[n] = true
		}
	}
	return set
}

func TestSpans(t *testing.T) {
	span := rapid.Custom(func(t *rapid.T) Span {
		first := rapid.IntRange(1, 40).Draw(t, "first")
		return Span{first, first + rapid.IntRange(0, 10).Draw(t, "more")}
	})
	rapid.Check(t, func(t *rapid.T) {
		var spans []Span
		want := map[int]bool{}
		for _, s := range rapid.SliceOfN(span, 0, 8).Draw(t, "spans") {
			spans = Add(spans, s)
			for n := s.First; n <= s.Last; n++ {
				want[n] = true
			}
		}
		if diff := cmp.Diff(want, lines(t, spans)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		q := span.Draw(t, "question")
		all := true
		for n := q.First; n <= q.Last; n++ {
			all = all && want[n]
		}
		if Covers(spans, q.First, q.Last) != all {
			t.Fatalf("covers %v in %v", q, spans)
		}
	})
}

func TestShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const total = 30
		var spans []Span
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			first := rapid.IntRange(1, total).Draw(t, "first")
			spans = Add(spans, Span{first, rapid.IntRange(first, total).Draw(t, "last")})
		}
		var changes []Change
		want, at := map[int]bool{}, 0 // expected lines when each is moved individually
		seen := lines(t, spans)
		line := 1
		copyTo := func(end int) {
			for ; line < end; line++ {
				at++
				if seen[line] {
					want[at] = true
				}
			}
		}
		for line <= total && len(changes) < 4 {
			c := Change{rapid.IntRange(line, total).Draw(t, "change"), rapid.IntRange(0, 3).Draw(t, "old"), rapid.IntRange(0, 3).Draw(t, "new")}
			c.Old = min(c.Old, total+1-c.First)
			changes = append(changes, c)
			copyTo(c.First)
			for range c.New {
				at++
				want[at] = true
			}
			line = c.First + c.Old
			if c.Old == 0 {
				copyTo(line + 1)
			}
		}
		copyTo(total + 1)
		if diff := cmp.Diff(want, lines(t, Shift(spans, changes))); diff != "" {
			t.Fatalf("%v after %v (-want +got):\n%s", spans, changes, diff)
		}
	})
}
