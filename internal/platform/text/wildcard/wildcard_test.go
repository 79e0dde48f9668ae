package wildcard

import "testing"

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"git push", "git push", true}, {"git push", "git push x", false},
		{"git *", "git", true}, {"git *", "git push", true}, {"git *", "gitk", false}, {"git*", "gitk", true},
		{"a * b", "a x b", true}, {"a * b", "a b", false}, {"*", "anything", true}, {"* --force", "push --force", true},
		{"a*a", "a", false}, {"a*b*a", "aba", true}, {`echo \*`, "echo *", true}, {`echo \*`, "echo x", false},
	} {
		pieces := Split(tt.pattern)
		if got := Match(tt.text, pieces, Bare(pieces)); got != tt.want {
			t.Errorf("%q against %q: %v", tt.text, tt.pattern, got)
		}
	}
}
