package instruct

import (
	"errors"
	"strings"

	"adze/internal/platform/frontmatter"
	"adze/internal/platform/search/glob"
)

// A front is what stands before the text of a file, between two lines of dashes.
type front struct {
	conditional bool // it names paths, well or badly
	paths       []string
}

var errPaths = errors.New("paths in the front matter is neither a pattern nor a list of patterns; the rule never holds")

// splitFront separates the front matter from the text. Of its keys only paths counts: one pattern, several
// with commas, or a list of them.
func splitFront(text string) (front, string, error) {
	var f front
	head, body, err := frontmatter.Split(text)
	if err != nil {
		return f, text, err
	}
	fields, _ := frontmatter.Parse(head) // ok: the other keys do not count
	value, named := fields["paths"]
	if !named && !strings.HasPrefix(head, "paths:") && !strings.Contains(head, "\npaths:") {
		return f, body, nil
	}
	f.conditional = true
	if f.paths = pathsOf(value); len(f.paths) == 0 {
		return f, body, errPaths
	}
	return f, body, nil
}

// pathsOf returns the patterns of a value.
func pathsOf(v frontmatter.Value) []string {
	texts := frontmatter.SplitList(v.Text)
	for _, item := range v.List {
		texts = append(texts, item.Text)
	}
	var paths []string
	for _, s := range texts {
		if s = strings.Trim(strings.TrimSpace(s), `"'`); s != "" {
			paths = append(paths, s)
		}
	}
	return paths
}

// A rule is a file that holds only once a file is worked on that its patterns match.
type rule struct {
	file File
	base string // that the patterns are relative to
	when patterns
}

func (r *rule) matches(path string) bool {
	rel, ok := relative(r.base, path)
	return ok && r.when.match(rel)
}

// Patterns match if the last of them that applies is not negated.
type patterns []pattern

type pattern struct {
	*glob.Pattern
	negated bool
}

func (ps patterns) match(path string) bool {
	matched := false
	for _, p := range ps {
		if p.Match(path) {
			matched = !p.negated
		}
	}
	return matched
}

// compile reads patterns. One that is wrong is reported and never matches.
func (sc *scanner) compile(where string, texts []string) patterns {
	ps, problems := compile(where, texts)
	sc.problems = append(sc.problems, problems...)
	return ps
}

func (s *Set) compile(where string, texts []string) patterns {
	ps, problems := compile(where, texts)
	s.problems = append(s.problems, problems...)
	return ps
}

func compile(where string, texts []string) (patterns, []Problem) {
	var ps patterns
	var problems []Problem
	for _, text := range texts {
		inner, negated := strings.CutPrefix(text, "!")
		p, err := glob.Compile(inner, glob.Options{})
		if err != nil {
			problems = append(problems, Problem{Path: where, Text: err.Error()})
			continue
		}
		ps = append(ps, pattern{p, negated})
	}
	return ps, problems
}
