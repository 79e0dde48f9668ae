package draw

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/platform/cells"
)

func TestWrapper(t *testing.T) {
	tests := []struct {
		name   string
		pieces []string
		want   string
	}{
		{"short", []string{"one two"}, "one two"},
		{"wrapped", []string{"one two three"}, "one two\nthree"},
		{"in pieces", []string{"on", "e t", "wo th", "ree"}, "one two\nthree"},
		{"own lines", []string{"one\n\ntwo"}, "one\n\ntwo"},
		{"indented", []string{"  one two"}, "  one two"},
		{"long word", []string{"one abcdefghijkl two"}, "one\nabcdefghijkl\ntwo"},
		{"escape", []string{"a\x1b[31mb"}, "ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := Wrapper{Width: 9}
			var got strings.Builder
			for _, p := range tt.pieces {
				got.WriteString(w.Add(p))
			}
			got.WriteString(w.End())
			if got.String() != tt.want {
				t.Errorf("got %q, want %q", got.String(), tt.want)
			}
		})
	}
}

// However text is cut into pieces, its words come out in order and lines are no wider than they must be.
func TestWrapperKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.StringMatching(`[a-d \n]{0,12}`)).Draw(t, "pieces")
		width := rapid.IntRange(1, 20).Draw(t, "width")
		w := Wrapper{Width: width}
		var out strings.Builder
		for _, p := range pieces {
			out.WriteString(w.Add(p))
		}
		out.WriteString(w.End())
		want := strings.Join(strings.Fields(strings.Join(pieces, "")), " ")
		if got := strings.Join(strings.Fields(out.String()), " "); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if cells.Width(line) > width && len(strings.Fields(line)) > 1 {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}
