package regex

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape parses an escape sequence outside brackets.
func (p *parser) escape() (*node, error) {
	start := p.pos
	p.pos++
	for _, l := range []struct {
		text string
		look lookaround
	}{
		{"b{start-half}", lookNoWordLeft},
		{"b{end-half}", lookNoWordRight},
		{"b{start}", lookWordStart},
		{"b{end}", lookWordEnd},
		{"b", lookBoundary},
		{"B", lookNoBoundary},
		{"<", lookWordStart},
		{">", lookWordEnd},
		{"A", lookStartText},
		{"z", lookEndText},
	} {
		if p.accept(l.text) {
			return looking(l.look), nil
		}
	}
	p.pos = start
	set, r, err := p.escaped()
	switch {
	case err != nil:
		return nil, err
	case set != nil:
		return &node{op: opClass, set: set, offset: start}, nil
	}
	return p.literal(r, start), nil
}

// escaped parses an escape for a single character or, if set is not nil, for a set.
func (p *parser) escaped() (set runes, r rune, err error) {
	start := p.pos
	p.pos++
	if !p.more() {
		return nil, 0, p.fail(start, 1, "a backslash ends the pattern", `to match a backslash, write \\`)
	}
	c := p.next()
	if set, ok := perl(c); ok {
		return set, 0, nil
	}
	switch c {
	case 'a':
		return nil, '\a', nil
	case 'f':
		return nil, '\f', nil
	case 'n':
		return nil, '\n', nil
	case 'r':
		return nil, '\r', nil
	case 't':
		return nil, '\t', nil
	case 'v':
		return nil, '\v', nil
	case 'x':
		r, err = p.hex(start, 2)
		return nil, r, err
	case 'u':
		r, err = p.hex(start, 4)
		return nil, r, err
	case 'U':
		r, err = p.hex(start, 8)
		return nil, r, err
	case 'p', 'P':
		set, err = p.property(start, c == 'P')
		return set, 0, err
	}
	if c < utf8.RuneSelf && !isWordByte(byte(c)) || c == '_' {
		return nil, c, nil
	}
	return nil, 0, p.badEscape(start, c)
}

func (p *parser) badEscape(start int, c rune) error {
	n := p.pos - start
	switch {
	case c >= '0' && c <= '9':
		return p.fail(start, n, "a back-reference is not supported", "repeat the pattern instead")
	case c == 'k' || c == 'g':
		return p.fail(start, n, "a reference to a group is not supported", "repeat the pattern instead")
	case c == 'Z' || c == 'G' || c == 'K' || c == 'R' || c == 'X' || c == 'h' || c == 'H':
		near := map[rune]string{
			'Z': `\z or $`, 'G': "^", 'K': "a group", 'R': `\r?\n`, 'X': ".", 'h': `[ \t]`, 'H': `[^ \t]`,
		}
		return p.fail(start, n, "this escape is not supported", "the nearest is "+near[c])
	case c == 'Q' || c == 'E':
		return p.fail(start, n, "quoting is not supported", "escape each special character with a backslash")
	case c == 'b' || c == 'B' || c == 'A' || c == 'z':
		return p.fail(start, n, "this escape means nothing within brackets", "")
	}
	return p.fail(start, n, "this escape is not known", `to match a backslash, write \\`)
}

// hex parses the digits of \x41, \x{41} and their longer forms.
func (c *cursor) hex(start, digits int) (rune, error) {
	text := c.rest()
	if c.accept("{") {
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return 0, c.fail(start, len(text)+2, "a brace is not closed", `write \x{41}`)
		}
		text = text[1:end]
		c.pos += end
	} else if len(text) < digits {
		return 0, c.fail(start, len(text)+2, "there are too few digits", `write \x{41}`)
	} else {
		text = text[:digits]
		c.pos += digits
	}
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) || n > maxRune {
		return 0, c.fail(start, c.pos-start, "this is not the number of a character", `write \x{41}`)
	}
	return rune(n), nil
}

// property parses the name in \pL or \p{Greek}.
func (p *parser) property(start int, negated bool) (runes, error) {
	name := ""
	if p.accept("{") {
		end := strings.IndexByte(p.rest(), '}')
		if end < 0 {
			return nil, p.fail(start, p.pos-start, "a brace is not closed", `write \p{L}`)
		}
		name = p.rest()[:end]
		p.pos += end + 1
	} else if p.more() {
		name = string(p.next())
	}
	set, ok := property(name)
	if !ok {
		return nil, p.fail(start, p.pos-start, "this Unicode property is not known",
			`known are general categories such as \p{Lu} and scripts such as \p{Greek}`)
	}
	if p.flags.fold {
		set = set.fold()
	}
	if negated {
		set = set.negate()
	}
	if set == nil {
		set = runes{}
	}
	return set, nil
}

// isWordByte reports whether c is an ASCII word character.
func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
