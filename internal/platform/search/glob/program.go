package glob

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A program matches one pattern without braces. It compares the fixed text at both ends as
// strings; for most patterns nothing in between needs the automaton.
type program struct {
	prefix, suffix string
	middle         middle
	nfa            nfa    // used if middle is general
	least          int    // minimum length of a general middle in characters
	last           *token // token for the last character of a general middle; nil if it is a loop
}

// A middle is the part between a pattern's fixed ends.
type middle uint8

const (
	general  middle = iota
	nothing         // the pattern is fixed text
	star            // anything without a slash
	anything        // anything
	elements        // nothing, or whole path elements, each with its slash
	never           // malformed pattern, matches no text
)

// newProgram prepares tokens for matching. Folded patterns have no fixed text.
func newProgram(tokens []token, d dialect) program {
	var p program
	if !d.fold {
		p.prefix, p.suffix, tokens = d.fixedEnds(tokens)
	}
	switch {
	case len(tokens) == 0:
		p.middle = nothing
	case len(tokens) == 1 && tokens[0].kind == loopElement:
		p.middle = star
	case len(tokens) == 1 && tokens[0].kind == loopAny:
		p.middle = anything
	case len(tokens) == 2 && tokens[0].kind == loopElements:
		p.middle = elements
	default:
		p.nfa = nfa{slices.Clone(tokens), d.git} // copy, so that the fixed ends can be freed
		for _, t := range tokens {
			switch t.kind {
			case single:
				p.least++
			case loopElements:
				p.least-- // the slash after it is optional
			}
		}
		if last := &p.nfa.tokens[len(tokens)-1]; last.kind == single {
			p.last = last
		}
	}
	return p
}

// fixedEnds removes the fixed text from both ends of tokens.
func (d dialect) fixedEnds(tokens []token) (prefix, suffix string, rest []token) {
	first := 0
	for first < len(tokens) && tokens[first].isFixed() {
		first++
	}
	last := len(tokens)
	for last > first && tokens[last-1].isFixed() {
		last--
	}
	if last > first && tokens[last-1].kind == loopElements {
		last++ // include its slash
	}
	return d.text(tokens[:first]), d.text(tokens[last:]), tokens[first:last]
}

func (t *token) isFixed() bool { return t.kind == single && t.set == nil }

// text returns the text of fixed tokens.
func (d dialect) text(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		if d.git {
			b.WriteByte(byte(t.char))
		} else {
			b.WriteString(encode(t.char))
		}
	}
	return b.String()
}

func (p *program) match(text string) bool {
	if len(text) < len(p.prefix)+len(p.suffix) || !strings.HasSuffix(text, p.suffix) || !strings.HasPrefix(text, p.prefix) {
		return false
	}
	text = text[len(p.prefix) : len(text)-len(p.suffix)]
	switch p.middle {
	case nothing:
		return text == ""
	case star:
		return strings.IndexByte(text, '/') < 0
	case anything:
		return true
	case elements:
		return text == "" || text[len(text)-1] == '/'
	case never:
		return false
	}
	if len(text) < p.least {
		return false
	}
	if p.last != nil && text != "" {
		if c := text[len(text)-1]; c < utf8.RuneSelf && !p.last.takes(rune(c)) {
			return false
		}
	}
	return p.nfa.match(text)
}
