package compact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"adze/internal/platform/text/texts"
)

// TestRead checks that a compaction can parse the summary written by an earlier one in any
// language, so that the user's words are preserved.
func TestRead(t *testing.T) {
	line := rapid.StringMatching(`[a-z<>/ ]{1,20}(\n[a-z ]{1,20}){0,2}`).Filter(func(s string) bool { return strings.TrimSpace(s) == s })
	rapid.Check(t, func(t *rapid.T) {
		text := phrases{rapid.SampledFrom([]texts.Language{texts.English, texts.Chinese}).Draw(t, "language")}
		told := line.Draw(t, "told")
		said := rapid.SliceOfN(line, 0, 4).Draw(t, "said")
		path := rapid.SampledFrom([]string{"", "/logs/s.jsonl"}).Draw(t, "path")
		side := rapid.SampledFrom([]Side{Whole, Back}).Draw(t, "side")
		trigger := rapid.SampledFrom([]Trigger{Auto, Manual}).Draw(t, "trigger")
		for _, left := range []string{
			text.summary(told, said, path, Job{Side: side, Trigger: trigger}),
			text.dropped(told, said, path),
		} {
			gotTold, gotSaid := read(left)
			if gotTold != told || !cmp.Equal(said, gotSaid, cmpopts.EquateEmpty()) {
				t.Fatalf("read %q and %q from\n%s", gotTold, gotSaid, left)
			}
		}
		if gotTold, gotSaid := read(text.dropped("", said, path)); gotTold != "" || !cmp.Equal(said, gotSaid, cmpopts.EquateEmpty()) {
			t.Fatalf("read %q and %q without anything told", gotTold, gotSaid)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(phrases{texts.English}.summary("told", []string{"said"}, "/log", Job{Trigger: Auto}))
	f.Add(openTag + openSaid + closeSaid + closeTag)
	f.Fuzz(func(t *testing.T, text string) {
		told, said := read(text)
		if n := len(told) + len(strings.Join(said, "")); n > len(text) {
			t.Errorf("%d bytes were read from %d", n, len(text))
		}
	})
}

func TestCatalogue(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}
