package shell

import (
	"errors"
	"strings"

	"adze/internal/platform/text/wildcard"
)

// A Pattern is the content of a command rule: a command ("npm test"), a prefix ending at a word
// boundary ("git commit:*"), or a wildcard pattern ("git * main", where * is any text, \* a
// literal star, and a final " *" also matches the bare command). The zero pattern matches
// nothing.
type Pattern struct {
	content string
	pieces  []string // literal texts between the stars
	bare    bool     // the last star and the blank before it are optional
	exact   string   // canonical form of a pattern without stars
	program string
}

// ParsePattern parses the content of a rule.
func ParsePattern(content string) (Pattern, error) {
	text := strings.TrimSpace(content)
	switch {
	case text == "":
		return Pattern{}, errors.New("the pattern is empty: name a command, such as git status")
	case text == ":*":
		return Pattern{}, errors.New("the pattern has nothing before :*: name a command, such as git:*")
	}
	p := Pattern{content: content}
	if prefix, ok := strings.CutSuffix(text, ":*"); ok {
		text = strings.TrimRight(prefix, " ") + " *"
	}
	p.pieces = wildcard.Split(text)
	last := len(p.pieces) - 1
	if last == 0 {
		p.exact = canonicalText(p.pieces[0])
		p.program = firstWord(p.exact)
		return p, nil
	}
	p.bare = wildcard.Bare(p.pieces)
	if last == 1 && p.bare {
		// A prefix is written like a command, with any quoting.
		p.pieces[0] = canonicalText(p.pieces[0]) + " "
	}
	if strings.ContainsAny(p.pieces[0], " ") {
		p.program = firstWord(p.pieces[0])
	}
	return p, nil
}

// canonicalText returns the canonical form of a command in a rule, or its words unchanged if it
// is not a simple command.
func canonicalText(text string) string {
	s := Parse(text, Vars{})
	if s.Simple && len(s.Parts) == 1 && len(s.Parts[0].Redirects) == 0 && len(s.Parts[0].Assigns) == 0 {
		return s.Parts[0].Text
	}
	return strings.TrimSpace(text)
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return baseName(word)
}

// spellings returns the pattern and, if it names a program by path, the same pattern with the
// base name: a program can be reached by many paths, and a deny rule must cover all of them.
func (p Pattern) spellings() []Pattern {
	if len(p.pieces) == 0 {
		return nil
	}
	word, _, whole := strings.Cut(p.pieces[0], " ")
	cut := len(word) - len(baseName(word))
	if cut == 0 || !whole && !p.Exact() {
		return []Pattern{p}
	}
	named := p
	named.pieces = append([]string{p.pieces[0][cut:]}, p.pieces[1:]...)
	named.exact = strings.TrimPrefix(p.exact, word[:cut])
	return []Pattern{p, named}
}

// String returns the pattern as written.
func (p Pattern) String() string { return p.content }

// Program returns the base name of the pattern's program, or "" if it contains a star.
func (p Pattern) Program() string { return p.program }

// Exact reports whether the pattern has no star.
func (p Pattern) Exact() bool { return len(p.pieces) == 1 }

// everything reports whether the pattern is a single star.
func (p Pattern) everything() bool {
	return len(p.pieces) == 2 && p.pieces[0] == "" && p.pieces[1] == ""
}

// Quotes reports whether the pattern equals the whole line, except for surrounding blanks. It
// never matches a line that a user could misread.
func (p Pattern) Quotes(s *Script) bool {
	return p.Exact() && !s.Opaque && p.pieces[0] == strings.TrimSpace(s.Source)
}

// Quote returns the content of a rule that matches exactly text.
func Quote(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "*", `\*`) }

// match reports whether the pattern matches text, in linear time.
func (p Pattern) match(text string) bool {
	last := len(p.pieces) - 1
	switch {
	case last < 0:
		return false
	case last == 0:
		return text == p.exact || text == p.pieces[0]
	}
	return wildcard.Match(text, p.pieces, p.bare)
}
