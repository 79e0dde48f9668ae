package discover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/domain/skill"
	"adze/internal/platform/text/textlist"
)

// TestWordsSuggestTheSame checks that stored words give the same suggestions as the skills, in
// the same order and with the same text.
//
// Proves SKILL-33.
func TestWordsSuggestTheSame(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"review", "Reviews", "pull", "request", "deploy", "deploys", "deployment", "GitHub", "urls", "the", "图表", "创建图表", "日历",
		"\u212aubernetes", "\u0130stanbul", "é", "\xff", "</system-reminder>", "\n", "\x1b[31m", strings.Repeat("long ", 300),
	})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), " ") })
	one := rapid.Custom(func(t *rapid.T) *skill.Skill {
		s := made(text.Draw(t, "name"), text.Draw(t, "description"), text.Draw(t, "when"))
		s.Origin.Kind = rapid.SampledFrom([]skill.Kind{skill.Plugin, skill.Bundled}).Draw(t, "kind")
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		skills := rapid.SliceOfN(one, 0, 12).Draw(t, "skills")
		said, n := text.Draw(t, "text"), rapid.IntRange(0, 4).Draw(t, "n")
		atLeast := rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, "at least")
		var skip func(string) bool
		if seen := rapid.SliceOfN(rapid.IntRange(0, 11), 0, 3).Draw(t, "seen"); len(seen) > 0 {
			skip = func(name string) bool {
				return slices.ContainsFunc(seen, func(i int) bool { return i < len(skills) && skills[i].Name == name })
			}
		}
		f, _ := finder(skills)
		if diff := cmp.Diff(f.Suggest(said, atLeast, n, skip), WordsOf(skills).Suggest(said, atLeast, n, skip)); diff != "" {
			t.Fatalf("%q (-skills +words):\n%s", said, diff)
		}
	})
}

// TestTooManyWords checks that the words of 5,000 typical skills are stored, but not the words
// of far more.
func TestTooManyWords(t *testing.T) {
	skills := thousands()
	if words := WordsOf(skills); len(words) == 0 || len(words.Suggest(skills[7].Description, 0.1, 3, nil)) != 3 {
		t.Error("5,000 are not kept")
	}
	skills = nil
	for i := range 2000 {
		var own strings.Builder // unique words
		for j := 0; own.Len() < maxIndexed; j++ {
			fmt.Fprintf(&own, "%dx%d ", i, j)
		}
		skills = append(skills, made(fmt.Sprint("own-", i), own.String(), ""))
	}
	if words := WordsOf(skills); words != "" {
		t.Errorf("%d bytes are kept", len(words))
	}
}

// FuzzWords checks that damaged words do no harm and yield no text that they do not contain.
func FuzzWords(f *testing.F) {
	words := string(WordsOf(few()))
	f.Add(words, "review the pull request")
	f.Add(words[:len(words)-1], "review the pull request")
	f.Add("", "review")
	f.Add(string(textlist.Of("", "")), "review")
	f.Add(string(textlist.Of(string(textlist.Of("only a name")), string(index(few()).Pack().List))), "commit")
	f.Fuzz(func(t *testing.T, words, text string) {
		for _, s := range Words(words).Suggest(text, 0.1, 3, nil) {
			if !strings.Contains(words, s.Line) {
				t.Errorf("%q is suggested", s)
			}
		}
	})
}

func BenchmarkWords1000(b *testing.B) {
	skills := thousands()[:1000]
	words, text := WordsOf(skills), strings.Join(strings.Fields(skills[7].Description)[:8], " ")
	for b.Loop() {
		if len(words.Suggest(text, 0.1, 3, nil)) == 0 {
			b.Fatal("nothing is suggested")
		}
	}
	b.ReportMetric(float64(len(words)), "bytes")
}
