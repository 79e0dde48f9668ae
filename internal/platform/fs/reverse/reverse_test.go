package reverse

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestChange(t *testing.T) {
	text := func(words string) string { return strings.ReplaceAll(words, " ", "\n") }
	tests := []struct {
		name, before, after, now, want string // words represent lines; "-" means refused
	}{
		{"nothing since", "a b c ", "a B c ", "a B c ", "a b c "},
		{"above", "a b c d ", "a b C d ", "A b C d ", "A b c d "},
		{"below", "a b c d ", "A b c d ", "A b c D ", "a b c D "},
		{"lines added above", "a b c ", "a b C ", "x y a b C ", "x y a b c "},
		{"lines added and removed around", "a b c d e f g ", "a b c D e f g ", "b c D e f x g ", "b c d e f x g "},
		{"an addition", "a b c ", "a b x c ", "A b x c ", "A b c "},
		{"a removal", "a b c d ", "a b d ", "a B d ", "-"},
		{"a removal with a line between", "a b c d e ", "a b c e ", "A b c e ", "A b c d e "},
		{"the same line", "a b c ", "a B c ", "a X c ", "-"},
		{"the next line", "a b c ", "a B c ", "a B C ", "-"},
		{"the line before", "a b c ", "a B c ", "A B c ", "-"},
		{"removed since", "a b c ", "a B c ", "a c ", "-"},
		{"taken back already", "a b c ", "a B c ", "a b c ", "a b c "},
		{"taken back already, and another line", "a b c d ", "a B c d ", "a b c D ", "a b c D "},
		{"one of two changes reverted", "a b c d e ", "A b c d E ", "a b c d E ", "a b c d e "},
		{"added at the end by both", "a ", "a b ", "a b c ", "-"},
		{"a new file", "", "a b ", "a b ", ""},
		{"a new file with a line of another", "", "a b ", "a x b ", "-"},
		{"without an end of line", "a b", "a B", "x y a B", "x y a b"},
		{"an end of line added", "a b", "a b ", "x a b ", "x a b"},
		{"two places", "a b c d e ", "A b c d E ", "A b C d E ", "a b C d e "},
		{"one of two places changed", "a b c d e ", "A b c d E ", "X b c d E ", "-"},
	}
	for _, tt := range tests {
		got, ok := Revert(text(tt.now), text(tt.before), text(tt.after))
		if !ok {
			got = "-"
		}
		if got != text(tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, strings.ReplaceAll(got, "\n", " "), tt.want)
		}
	}
}

// edit draws a few changes to lines. New lines are unique.
func edit(t *rapid.T, lines []string, name string) []string {
	lines = slices.Clone(lines)
	for i := range rapid.IntRange(1, 3).Draw(t, "edits") {
		at := rapid.IntRange(0, len(lines)).Draw(t, "at")
		end := min(len(lines), at+rapid.IntRange(0, 2).Draw(t, "removed"))
		var fresh []string
		for j := range rapid.IntRange(0, 2).Draw(t, "added") {
			fresh = append(fresh, fmt.Sprintf("%s%d.%d", name, i, j))
		}
		lines = slices.Replace(lines, at, end, fresh...)
	}
	return lines
}

func join(lines []string) string { return strings.Join(append(slices.Clone(lines), ""), "\n") }

// TestChangeTouchesNothingElse checks that undoing a change removes its additions and restores
// its deletions, and preserves all later changes.
func TestChangeTouchesNothingElse(t *testing.T) {
	done := 0
	rapid.Check(t, func(t *rapid.T) {
		var before []string
		for i := range rapid.IntRange(0, 12).Draw(t, "lines") {
			before = append(before, fmt.Sprint("line", i))
		}
		after := edit(t, before, "mine")
		now := edit(t, after, "theirs")
		text, ok := Revert(join(now), join(before), join(after))
		if !ok {
			return
		}
		done++
		got := lines(text)
		for i := range got {
			got[i] = strings.TrimSuffix(got[i], "\n")
		}
		keep := func(l string) bool { return strings.HasPrefix(l, "theirs") || slices.Contains(before, l) }
		var theirs, left []string // lines that are not mine, in now and in the result
		for _, l := range now {
			if keep(l) {
				theirs = append(theirs, l)
			}
		}
		for _, l := range got {
			if slices.Contains(now, l) {
				left = append(left, l)
			}
			if strings.HasPrefix(l, "mine") {
				t.Fatalf("%s is still there: %q", l, got)
			}
			if slices.Contains(after, l) && !slices.Contains(now, l) {
				t.Fatalf("%s, which others removed, is back: %q", l, got)
			}
		}
		if !slices.Equal(theirs, left) {
			t.Fatalf("of %q there is left %q", theirs, left)
		}
		for _, l := range before {
			if !slices.Contains(after, l) && !slices.Contains(got, l) {
				t.Fatalf("%s is not back: %q", l, got)
			}
		}
	})
	if done == 0 {
		t.Error("every change was refused")
	}
}

func FuzzChange(f *testing.F) {
	f.Add("a\nb\n", "a\n", "a\nb\n")
	f.Add("", "\n\n", "x")
	f.Fuzz(func(t *testing.T, now, before, after string) {
		if got, ok := Revert(after, before, after); !ok || got != before {
			t.Errorf("with nothing since: %q, %v", got, ok)
		}
		if got, ok := Revert(now, before, before); !ok || got != now {
			t.Errorf("no change taken back: %q, %v", got, ok)
		}
		Revert(now, before, after)
	})
}
