// Package glob compiles path patterns and matches them in time linear in the path. It speaks two
// dialects: [Compile] and [ParseFilter] read the one users and models write (braces, characters,
// mistakes reported with their position), [Git] reads a pattern exactly as git reads a line of an
// ignore file. It computes on strings: paths use "/", and what exists on disk is left to others.
package glob

import (
	"fmt"
	"slices"
	"strings"
)

// Options change how patterns are read. The zero value distinguishes upper and lower case.
type Options struct {
	Fold bool // match without regard to case
}

// A Pattern matches paths relative to some directory. It may be used by several goroutines.
//
// Its language: * and ? match within a path element, [a-z], [!a-z] and [[:alpha:]] match one
// character, {a,b} either of its parts, ** any number of elements, and \ takes the special meaning
// away. A pattern without a slash matches at any depth; one with a slash, be it only in front, is
// anchored; one that ends in a slash means everything below.
type Pattern struct {
	text string
	alts []alternative
}

// An alternative is one way to read the braces of a pattern.
type alternative struct {
	program
	whole nfa // the program before its fixed ends were taken off, to tell where a match may begin
}

// A SyntaxError says what is wrong with a pattern, and where.
type SyntaxError struct {
	Pattern string
	Pos     int // of the character, counted from 1
	Msg     string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("pattern %q, position %d: %s", e.Pattern, e.Pos, e.Msg)
}

// Compile reads a pattern. Its error is a [*SyntaxError].
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
			return nil, &SyntaxError{pattern, 1, err.Msg} // cannot be: expand has checked every part
		}
		p.alts = append(p.alts, alternative{newProgram(tokens, d), nfa{tokens, d.git}})
	}
	return p, nil
}

// anchor writes out what a missing, a leading and a trailing slash stand for.
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

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// Match reports whether path, relative and separated by slashes, matches as a whole.
func (p *Pattern) Match(path string) bool {
	for i := range p.alts {
		if p.alts[i].match(path) {
			return true
		}
	}
	return false
}

// MayContain reports whether a path below the directory dir can match. It lets a walk leave out
// what it need not enter.
func (p *Pattern) MayContain(dir string) bool {
	for i := range p.alts {
		if p.alts[i].whole.reaches(dir, "/") {
			return true
		}
	}
	return false
}

// Split divides a pattern into the directory that all its matches lie in and a pattern that is
// anchored there. The directory is empty if the first element is not fixed, and "/" at the root.
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
