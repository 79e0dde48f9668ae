package skill

import (
	"strings"

	"adze/internal/platform/search/glob"
)

// Matches reports whether a touched file activates the skill. The path is relative to the
// project and slash-separated. A skill without patterns never matches, since it is always
// active; a skill with an invalid pattern never matches either.
func (s *Skill) Matches(rel string) bool {
	patterns, err := compile(s.Paths)
	if err != nil || rel == "" || rel == ".." || strings.HasPrefix(rel, "../") || strings.HasPrefix(rel, "/") {
		return false
	}
	matched := false
	for _, p := range patterns {
		if p.matches(rel) {
			matched = !p.negated
		}
	}
	return matched
}

// A pattern is an ignore file pattern that also supports braces.
type pattern struct {
	*glob.Pattern
	negated bool
}

// matches reports whether the pattern matches a path or any parent directory.
func (p pattern) matches(rel string) bool {
	for i := range len(rel) {
		if rel[i] == '/' && p.Match(rel[:i]) {
			return true
		}
	}
	return p.Match(rel)
}

// compile compiles patterns; the last match decides.
func compile(texts []string) ([]pattern, error) {
	var patterns []pattern
	for _, text := range texts {
		inner, negated := strings.CutPrefix(text, "!")
		p, err := glob.Compile(inner, glob.Options{})
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, pattern{p, negated})
	}
	return patterns, nil
}
