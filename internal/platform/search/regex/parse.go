package regex

import (
	"strings"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of groups and classes.
const maxDepth = 250

// flags are the options that a pattern may change.
type flags struct {
	fold    bool // i: case-insensitive
	lines   bool // m: ^ and $ match at line ends
	dotAll  bool // s: . matches a line feed
	swap    bool // U: repetitions are lazy unless followed by ?
	verbose bool // x: ignore white space and comments in the pattern
}

// A parser parses the syntax of Rust's regex crate, which ripgrep uses.
type parser struct {
	cursor
	flags flags
	depth int
}

// A cursor is a position in a pattern.
type cursor struct {
	pattern string
	pos     int
}

// parse returns the tree of a pattern.
func parse(pattern string, f flags) (*node, error) {
	if !utf8.ValidString(pattern) {
		valid := 0
		for r, n := utf8.DecodeRuneInString(pattern); r != utf8.RuneError || n > 1; {
			valid += n
			r, n = utf8.DecodeRuneInString(pattern[valid:])
		}
		return nil, &Error{Pattern: pattern, Offset: valid, Message: "the pattern is not valid UTF-8"}
	}
	p := &parser{cursor: cursor{pattern: pattern}, flags: f}
	n, err := p.alternation()
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.pattern) {
		return nil, p.fail(p.pos, 1, "a group is closed that was not opened", `to match a parenthesis, write \)`)
	}
	return n, nil
}

// fail returns an error about the n bytes of the pattern at offset.
func (c *cursor) fail(offset, n int, message, hint string) error {
	part := c.pattern[offset:min(offset+n, len(c.pattern))]
	return &Error{Pattern: c.pattern, Offset: offset, Part: part, Message: message, Hint: hint}
}

func (c *cursor) rest() string { return c.pattern[c.pos:] }

func (c *cursor) more() bool { return c.pos < len(c.pattern) }

// peek returns the next byte, or 0 at the end. All special characters are ASCII.
func (c *cursor) peek() byte {
	if !c.more() {
		return 0
	}
	return c.pattern[c.pos]
}

// accept skips s if it comes next.
func (c *cursor) accept(s string) bool {
	if !strings.HasPrefix(c.rest(), s) {
		return false
	}
	c.pos += len(s)
	return true
}

func (c *cursor) next() rune {
	r, n := utf8.DecodeRuneInString(c.rest())
	c.pos += n
	return r
}

// skipBlanks skips white space and comments in a verbose pattern.
func (p *parser) skipBlanks() {
	for p.flags.verbose && p.more() {
		switch c := p.peek(); {
		case c == '#':
			if end := strings.IndexByte(p.rest(), '\n'); end >= 0 {
				p.pos += end
			} else {
				p.pos = len(p.pattern)
			}
		case c == ' ' || c >= '\t' && c <= '\r':
			p.pos++
		default:
			return
		}
	}
}

// alternation parses up to the end of the group or pattern.
func (p *parser) alternation() (*node, error) {
	var branches []*node
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		branches = append(branches, n)
		if !p.accept("|") {
			return alternate(branches...), nil
		}
	}
}

func (p *parser) sequence() (*node, error) {
	var parts []*node
	for {
		p.skipBlanks()
		if c := p.peek(); !p.more() || c == '|' || c == ')' {
			return concat(parts...), nil
		}
		n, err := p.atom()
		if err != nil {
			return nil, err
		}
		if n == nil { // flags for the rest of the group
			continue
		}
		if n, err = p.repeated(n); err != nil {
			return nil, err
		}
		parts = append(parts, n)
	}
}

func (p *parser) atom() (*node, error) {
	start := p.pos
	switch p.peek() {
	case '(':
		return p.group()
	case '[':
		set, err := p.class()
		return &node{op: opClass, set: set, offset: start}, err
	case '\\':
		return p.escape()
	case '.':
		p.pos++
		set := runes(nil)
		if !p.flags.dotAll {
			set = single('\n')
		}
		return &node{op: opClass, set: set.negate(), offset: start}, nil
	case '^':
		p.pos++
		if p.flags.lines {
			return looking(lookStartLine), nil
		}
		return looking(lookStartText), nil
	case '$':
		p.pos++
		if p.flags.lines {
			return looking(lookEndLine), nil
		}
		return looking(lookEndText), nil
	case '*', '+', '?':
		return nil, p.fail(start, 1, "there is nothing to repeat", `to match the character itself, write \`+p.rest()[:1])
	case '{':
		return nil, p.fail(start, 1, "there is nothing to repeat", `to match a brace, write \{`)
	}
	return p.literal(p.next(), start), nil
}

func (p *parser) literal(r rune, offset int) *node {
	set := single(r)
	if p.flags.fold {
		set = set.fold()
	}
	return &node{op: opClass, set: set, offset: offset}
}

// group parses a parenthesized group. It returns nil for flags without a group.
func (p *parser) group() (*node, error) {
	start := p.pos
	outer := p.flags
	p.pos++
	if p.accept("?") {
		switch done, err := p.groupKind(start); {
		case err != nil:
			return nil, err
		case done:
			return nil, nil
		}
	}
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(start, 1, "groups are nested too deep", "")
	}
	n, err := p.alternation()
	if err != nil {
		return nil, err
	}
	p.depth--
	if !p.accept(")") {
		return nil, p.fail(start, 1, "this group is not closed", `to match a parenthesis, write \(`)
	}
	p.flags = outer
	return n, nil
}

// groupKind parses the part after a group's question mark. It reports whether that is all:
// flags that apply to the rest of the enclosing group.
func (p *parser) groupKind(start int) (bool, error) {
	refuse := func(n int, what, hint string) error {
		return p.fail(start, n, what+" is not supported", hint)
	}
	const filter = "search for the text itself, and leave out lines in a second step"
	switch {
	case p.accept("="):
		return false, refuse(3, "look-ahead", "make the look-ahead part of the pattern: (?:...)")
	case p.accept("!"):
		return false, refuse(3, "negative look-ahead", filter)
	case p.accept("<="):
		return false, refuse(4, "look-behind", "make the look-behind part of the pattern: (?:...)")
	case p.accept("<!"):
		return false, refuse(4, "negative look-behind", filter)
	case p.accept(">"):
		return false, refuse(3, "an atomic group", "write a plain group: (?:...)")
	case p.accept("P="), p.accept("&"), p.accept("P>"):
		return false, refuse(p.pos-start, "a reference to a group", "repeat the pattern instead")
	case p.accept("("):
		return false, refuse(3, "a condition", "write the cases with |")
	case p.accept("#"):
		return false, refuse(3, "a comment", "leave it out")
	case p.accept("P<"), p.accept("<"):
		return false, p.groupName(start)
	}
	return p.groupFlags(start)
}

func (p *parser) groupName(start int) error {
	end := strings.IndexByte(p.rest(), '>')
	if end <= 0 {
		return p.fail(start, p.pos-start, "the name of this group is missing or not closed", "write (?P<name>...)")
	}
	p.pos += end + 1
	return nil
}

// groupFlags parses the letters of (?i) or (?i-s:...), and sets them.
func (p *parser) groupFlags(start int) (bool, error) {
	f := p.flags
	on := true
	for p.more() {
		at := p.pos
		switch p.next() {
		case 'i':
			f.fold = on
		case 'm':
			f.lines = on
		case 's':
			f.dotAll = on
		case 'U':
			f.swap = on
		case 'x':
			f.verbose = on
		case 'u':
			if !on {
				return false, p.fail(at, 1, "matching without Unicode is not supported", "leave out the flag u")
			}
		case '-':
			if !on {
				return false, p.fail(at, 1, "flags are negated twice", "")
			}
			on = false
		case ':':
			p.flags = f
			return false, nil
		case ')':
			p.flags = f
			return true, nil
		default:
			return false, p.fail(at, 1, "this is not a flag", "flags are i, m, s, U and x; a plain group is (?:...)")
		}
	}
	return false, p.fail(start, 2, "this group is not closed", `to match a parenthesis, write \(`)
}
