package edit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// Proves EDIT-11.
func TestHunks(t *testing.T) {
	file := strings.NewReplacer("line 5\n", "target\n", "line 20\n", "target\n").Replace(numbered(24))
	p, err := Find([]byte(file), Request{Old: "target\n", New: "one\ntwo\n", All: true})
	if err != nil {
		t.Fatal(err)
	}
	got, whole := p.Hunks()
	want := []Hunk{
		{2, 7, 2, 8, []string{" line 2", " line 3", " line 4", "-target", "+one", "+two", " line 6", " line 7", " line 8"}},
		{17, 7, 18, 8, []string{" line 17", " line 18", " line 19", "-target", "+one", "+two", " line 21", " line 22", " line 23"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || !whole {
		t.Errorf("(-want +got):\n%s", diff)
	}

	tests := []struct {
		name, file string
		r          Request
		want       []Hunk
	}{
		{"one line of a UTF-16 file", le("a\r\nb\r\n"), Request{Old: "b", New: "c"}, []Hunk{{1, 2, 1, 2, []string{" a", "-b", "+c"}}}},
		{"everything goes", "a\nb\n", Request{Old: "a\nb\n", New: ""}, []Hunk{{1, 2, 0, 0, []string{"-a", "-b"}}}},
		{"close together", numbered(9), Request{Old: "line", New: "row", All: true}, nil},
		{"not UTF-8", "\x81\nb\n", Request{Old: "b", New: "c"}, []Hunk{{1, 2, 1, 2, []string{" \uFFFD", "-b", "+c"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Find([]byte(tt.file), tt.r)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := p.Hunks()
			if tt.want == nil && len(got) == 1 && got[0].OldLines == 9 && len(got[0].Lines) == 18 {
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestHunksOfLongLines checks that a line of several megabytes is processed only as far as it
// is displayed.
func TestHunksOfLongLines(t *testing.T) {
	for name, encode := range map[string]func(string) string{"UTF-8": func(s string) string { return s }, "UTF-16": le} {
		long := strings.Repeat("ä", maxCompared)
		p, err := Find([]byte(encode("first\n"+long+"x\nb\nlast\n")), Request{Old: "x\nb", New: "y\nc\nd"})
		if err != nil {
			t.Fatal(err)
		}
		cut := strings.Repeat("ä", maxShownLine/2) + "…"
		want := []Hunk{{1, 4, 1, 5, []string{" first", "-" + cut, "-b", "+" + cut, "+c", "+d", " last"}}}
		if got, whole := p.Hunks(); !whole || !cmp.Equal(want, got) {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(want, got))
		}
	}
}

func TestHunksAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 50_000)
	p, err := Find([]byte(long+"x"), Request{Old: "x", New: "y"})
	if err != nil {
		t.Fatal(err)
	}
	hunks, whole := p.Hunks()
	if len(hunks) != 1 || len(hunks[0].Lines[0]) > maxShownLine+10 || !whole {
		t.Errorf("%d hunks, whole %v", len(hunks), whole)
	}
	p, err = Find([]byte(strings.Repeat("x\n\n\n\n\n\n\n\n\n", 5000)), Request{Old: "x", New: "y", All: true})
	if err != nil {
		t.Fatal(err)
	}
	hunks, whole = p.Hunks()
	if whole || len(hunks) == 0 || len(hunks) > maxShown/7 {
		t.Errorf("%d hunks, whole %v", len(hunks), whole)
	}
	if _, whole := Diff(nil, []byte(strings.Repeat("x\n", maxShown+1))); whole {
		t.Error("a long difference is whole")
	}
}

// patched applies hunks to a file, and fails if they do not match.
func patched(t interface{ Fatalf(string, ...any) }, old string, hunks []Hunk) string {
	in, out := lines(old), []string(nil)
	at := 0
	for _, h := range hunks {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start++
		}
		if start < at || start > len(in) {
			t.Fatalf("hunk at %d after %d lines", h.OldStart, at)
		}
		out, at = append(out, in[at:start]...), start
		first := len(out) + 1
		if h.NewLines == 0 {
			first--
		}
		if first != h.NewStart {
			t.Fatalf("hunk says it begins at %d, it does at %d", h.NewStart, first)
		}
		olds, news := 0, 0
		for _, line := range h.Lines {
			if line[0] != '+' {
				if at >= len(in) || strings.TrimSuffix(in[at], "\n") != line[1:] {
					t.Fatalf("the hunk's %q is not line %d", line, at+1)
				}
				at++
				olds++
			}
			if line[0] != '-' {
				out = append(out, line[1:]+"\n")
				news++
			}
		}
		if olds != h.OldLines || news != h.NewLines {
			t.Fatalf("%d and %d lines, the hunk says %d and %d", olds, news, h.OldLines, h.NewLines)
		}
	}
	return strings.Join(append(out, in[at:]...), "")
}

// TestHunksApply checks that applying a patch to the old content yields the new content.
func TestHunksApply(t *testing.T) {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "x\n", "\n"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "") })
	rapid.Check(t, func(t *rapid.T) {
		old, fresh := text.Draw(t, "old"), text.Draw(t, "new")
		hunks, _ := Diff([]byte(old), []byte(fresh))
		if got := patched(t, old, hunks); got != fresh {
			t.Fatalf("Diff: patched %q, want %q", got, fresh)
		}
		if old == fresh && hunks != nil {
			t.Fatalf("equal contents differ: %v", hunks)
		}
		p, err := Find([]byte(old), Request{Old: "x\n", New: rapid.SampledFrom([]string{"", "x\nx\n", "y\n", "a\nz\n"}).Draw(t, "with"), All: true})
		if err != nil {
			return
		}
		hunks, _ = p.Hunks()
		if got, want := patched(t, old, hunks), string(bytes.Join(p.Pieces(), nil)); got != want {
			t.Fatalf("Hunks: patched %q, want %q", got, want)
		}
	})
}
