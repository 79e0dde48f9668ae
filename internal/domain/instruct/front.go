package instruct

import (
	"errors"
	"strings"

	"adze/internal/platform/search/glob"
	"adze/internal/platform/text/frontmatter"
)

// A frontMatter is a file's front matter.
type frontMatter struct {
	conditional bool // has a paths key, valid or not
	paths       []string
}

var errPaths = errors.New("paths in the front matter is neither a pattern nor a list of patterns; the rule never holds")

// splitFront separates the front matter from the text. Only the key paths is used: a pattern,
// several separated by commas, or a list.
func splitFront(text string) (frontMatter, string, error) {
	var f frontMatter
	head, body, err := frontmatter.Split(text)
	if err != nil {
		return f, text, err
	}
	fields, _ := frontmatter.Parse(head) // ok: the other keys are ignored
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

// pathsOf returns the patterns in a value.
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

// A rule is a file that applies only once the model works on a file matching its patterns.
type rule struct {
	file File
	base string // base directory of the patterns
	when patterns
}

func (r *rule) matches(path string) bool {
	rel, ok := relative(r.base, path)
	return ok && r.when.match(rel)
}

// Patterns match if the last applicable pattern is not negated.
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

// compile compiles patterns. An invalid pattern is reported and never matches.
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
