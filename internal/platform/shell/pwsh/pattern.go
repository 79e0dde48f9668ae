package pwsh

import (
	"errors"
	"strings"

	"adze/internal/platform/text/wildcard"
)

// A Pattern is the content of a command rule: a command ("npm test"), a prefix ("git commit:*")
// or a wildcard ("git * main", where * matches any text and \* a star). Case is ignored, and a
// cmdlet is equivalent to its aliases.
type Pattern struct {
	content string
	pieces  []string // normalized literal parts between the stars
	bare    bool     // the last star and the blank before it are optional
	program string   // program the pattern names; empty if the name contains a star
}

// ParsePattern parses the content of a rule.
func ParsePattern(content string) (Pattern, error) {
	text := strings.TrimSpace(content)
	if text == "" || text == ":*" {
		return Pattern{}, errors.New("the pattern names no command; write one, such as git status or Remove-Item:*")
	}
	p := Pattern{content: text}
	if prefix, ok := strings.CutSuffix(text, ":*"); ok {
		text = strings.TrimRight(prefix, " ") + " *"
	}
	p.pieces = wildcard.Split(text)
	p.bare = wildcard.Bare(p.pieces)
	for i, piece := range p.pieces {
		p.pieces[i] = strings.ToLower(plain(piece))
	}
	if name, rest, ok := strings.Cut(p.pieces[0], " "); ok || p.exact() {
		p.program = resolve(name)
		p.pieces[0] = p.program
		if ok {
			p.pieces[0] += " " + rest
		}
	}
	return p, nil
}

// exact reports whether the pattern has no star.
func (p Pattern) exact() bool { return len(p.pieces) == 1 }

// match reports whether the pattern matches text.
func (p Pattern) match(text string) bool {
	return wildcard.Match(text, p.pieces, p.bare)
}

// Suspected reports whether pat, as a deny or ask rule or the condition of a hook, matches
// anything in the line that may run as a command, and returns the matching text. It takes time
// linear in the line.
func (l *Line) Suspected(pat Pattern) (text string, ok bool) {
	if whole := strings.TrimSpace(l.Source); pat.exact() && strings.EqualFold(whole, strings.ReplaceAll(pat.content, `\*`, "*")) {
		return whole, true
	}
	pats := []Pattern{pat}
	if name := resolve(pat.pieces[0]); pat.program == "" && name != pat.pieces[0] { // "rm*" also means the other aliases
		pat.pieces = append([]string{name}, pat.pieces[1:]...)
		pats = append(pats, pat)
	}
	for _, r := range l.runs() {
		for _, pat := range pats {
			if text, ok := r.match(pat); ok {
				return text, true
			}
		}
	}
	return "", false
}

// match tries commands starting at each word. A pattern with a star matches at the first word
// where its beginning matches, or nowhere, because the star matches everything in between.
func (r run) match(pat Pattern) (string, bool) {
	for i, w := range r.words {
		name, tail := resolve(w), r.text[r.at[i]:]
		rest := tail[len(strings.ToLower(w)):]
		fits := false
		for _, start := range []string{name, strings.ToLower(w)} {
			if !pat.begins(start, rest) {
				continue
			}
			fits = true
			if text := start + rest; pat.match(text) {
				return text, true
			}
		}
		if fits && !pat.exact() {
			return "", false
		}
	}
	return "", false
}

// begins is a cheap test for whether the pattern can match name followed by rest.
func (p Pattern) begins(name, rest string) bool {
	first := p.pieces[0]
	if len(p.pieces) == 2 && p.bare && len(name)+len(rest) == len(first)-1 {
		first = strings.TrimSuffix(first, " ")
	}
	if p.exact() && len(name)+len(rest) != len(first) {
		return false
	}
	if len(first) <= len(name) {
		return strings.HasPrefix(name, first)
	}
	return strings.HasPrefix(first, name) && strings.HasPrefix(rest, first[len(name):])
}

// Covered reports whether allow rules with these patterns cover the line: a pattern quotes the
// whole line, or each command is read-only or covered by a pattern. A program given by its path
// is only covered by a pattern that quotes the line.
func (l *Line) Covered(pats []Pattern) bool {
	if l.Opaque {
		return false
	}
	whole := strings.TrimSpace(l.Source)
	for _, pat := range pats {
		if pat.exact() && strings.ReplaceAll(pat.content, `\*`, "*") == whole {
			return true
		}
	}
	if !l.Simple {
		return false
	}
	for _, c := range l.commands {
		if _, err := c.proof(); err != nil && !c.covered(pats) {
			return false
		}
	}
	return true
}

func (c cmd) covered(pats []Pattern) bool {
	if strings.ContainsAny(c.words[0].value, `\/:`) {
		return false
	}
	for _, pat := range pats {
		if pat.match(c.text()) {
			return true
		}
	}
	return false
}
