package regex

import (
	"regexp"
	"regexp/syntax"
	"testing"
	"unicode/utf8"
)

// FuzzAgainstRegexp compares patterns with the same meaning with package regexp.
func FuzzAgainstRegexp(f *testing.F) {
	f.Add("a(b|c)*d", "xabcbd")
	f.Add("^[a-c]+$", "abc")
	f.Add("é.{2,3}?x", "é12x")
	f.Fuzz(func(t *testing.T, pattern, line string) {
		if !utf8.ValidString(line) || len(line) > 500 || len(pattern) > 100 {
			return
		}
		tree, err := syntax.Parse(pattern, syntax.Perl&^syntax.UnicodeGroups)
		if err != nil || !sameMeaning(pattern, tree) {
			return
		}
		q, err := Compile(pattern, Options{Multiline: true})
		if err != nil || len(q.program.insts) > 5000 {
			return
		}
		want := regexp.MustCompile(`(?ms:` + pattern + `)`).MatchString(line)
		if _, _, got := q.NewMatcher().Find(t.Context(), []byte(line), 0); got != want {
			t.Errorf("%q in %q: %t, want %t", pattern, line, got, want)
		}
	})
}

// sameMeaning reports whether a pattern contains only syntax that both packages read alike.
func sameMeaning(pattern string, tree *syntax.Regexp) bool {
	for _, c := range pattern {
		if c == '\\' || c == '[' || c == '{' || c == '#' { // classes, escapes and counts differ
			return false
		}
		if c == '?' && regexpFlags.MatchString(pattern) {
			return false
		}
	}
	return tree.MaxCap() < 50
}

var regexpFlags = regexp.MustCompile(`\(\?`)
