// Package glob compiles path patterns and matches them in time linear in the path. It supports
// two dialects: [Compile] and [ParseFilter] parse the dialect for users and models (braces,
// Unicode characters, errors with positions), [Git] parses a pattern exactly as git parses a
// line of an ignore file. It works on strings with "/" as separator and does not access the
// file system.
package glob

import (
	"fmt"
	"slices"
	"strings"
)

// Options configure the matching. The zero value is case-sensitive.
type Options struct {
	Fold bool // ignore case
}

// A Pattern matches paths relative to some directory. It is safe for concurrent use.
//
// Syntax: * and ? match within a path element, [a-z], [!a-z] and [[:alpha:]] match one
// character, {a,b} matches any of its parts, ** matches any number of elements, and \ escapes.
// A pattern without a slash matches at any depth; a pattern with a slash, even if only a
// leading one, is anchored; a pattern that ends in a slash matches everything below.
type Pattern struct {
	text string
	alts []alternative
}

// An alternative is one brace expansion of a pattern.
type alternative struct {
	program
	whole nfa // program including its fixed ends, to determine where a match may begin
}

// A SyntaxError describes a mistake in a pattern and its position.
type SyntaxError struct {
	Pattern string
	Pos     int // character position, counted from 1
	Msg     string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("pattern %q, position %d: %s", e.Pattern, e.Pos, e.Msg)
}

// Compile compiles a pattern. The error is a [*SyntaxError].
func Compile(pattern string, o Options) (*Pattern, error) {
	chars := decode(pattern)
	if len(chars) == 0 {
		return nil, &SyntaxError{pattern, 1, "the pattern is empty"}
	}
	expanded, err := expand(chars)
	if err != nil {
		err.Pattern = pattern
		return nil, err
	}
	p := &Pattern{text: pattern}
	for _, chars := range expanded {
		d := dialect{fold: o.Fold}
		tokens, err := d.parse(anchor(chars))
		if err != nil {
			return nil, &SyntaxError{pattern, 1, err.Msg} // impossible: expand has validated every part
		}
		p.alts = append(p.alts, alternative{newProgram(tokens, d), nfa{tokens, d.git}})
	}
	return p, nil
}

// anchor makes the meaning of a missing, a leading and a trailing slash explicit.
func anchor(chars []rune) []rune {
	if len(chars) > 2 && chars[0] == '.' && chars[1] == '/' {
		chars = chars[1:]
	}
	if n := len(chars); n > 1 && chars[n-1] == '/' && chars[n-2] != '\\' {
		return slices.Concat(anchor(chars[:n-1]), []rune("/**"))
	}
	switch {
	case len(chars) > 0 && chars[0] == '/':
		return chars[1:]
	case !slices.Contains(chars, '/'):
		return slices.Concat([]rune("**/"), chars)
	}
	return chars
}

// String returns the pattern as written.
func (p *Pattern) String() string { return p.text }

// Match reports whether the whole path, which is relative and slash-separated, matches.
func (p *Pattern) Match(path string) bool {
	for i := range p.alts {
		if p.alts[i].match(path) {
			return true
		}
	}
	return false
}

// MayContain reports whether a path below dir can match. It lets a walk skip directories.
func (p *Pattern) MayContain(dir string) bool {
	for i := range p.alts {
		if p.alts[i].whole.reaches(dir, "/") {
			return true
		}
	}
	return false
}

// Split splits a pattern into the directory that contains all its matches and a pattern
// anchored there. The directory is empty if the first element is not fixed, and "/" at the
// root.
func Split(pattern string) (dir, rest string) {
	fixed := pattern
	if i := strings.IndexAny(pattern, `*?[{\`); i >= 0 {
		fixed = pattern[:i]
	}
	slash := strings.LastIndexByte(fixed, '/')
	switch slash {
	case -1:
		return "", pattern
	case 0:
		return "/", pattern
	}
	return pattern[:slash], pattern[slash:]
}
