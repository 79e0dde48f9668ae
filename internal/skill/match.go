package skill

import (
	"strings"

	"adze/internal/platform/search/glob"
)

// Matches reports whether a file that was touched activates the skill. Its path is relative to the project and separated
// by slashes. A skill without patterns is matched by none, since it is always active; one with a pattern that is wrong
// never is.
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

// A pattern is one of an ignore file, in which braces count too.
type pattern struct {
	*glob.Pattern
	negated bool
}

// matches reports whether the pattern matches a path, or a directory that it lies in.
func (p pattern) matches(rel string) bool {
	for i := range len(rel) {
		if rel[i] == '/' && p.Match(rel[:i]) {
			return true
		}
	}
	return p.Match(rel)
}

// compile reads patterns, of which the last that matches decides.
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
