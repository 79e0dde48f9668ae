package regex

import "strings"

// class parses a bracket expression: ranges, escapes, nested brackets, and the operators && --
// ~~ between them, which have equal precedence and associate to the left.
func (p *parser) class() (runes, error) {
	start := p.pos
	p.pos++
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(start, 1, "brackets are nested too deep", "")
	}
	defer func() { p.depth-- }()

	p.skipBlanks()
	negated := p.accept("^")
	var items, left runes
	operator := ""
	p.skipBlanks()
	for p.accept("-") { // a leading hyphen or bracket is literal
		items = append(items, [2]rune{'-', '-'})
		p.skipBlanks()
	}
	if len(items) == 0 && p.accept("]") {
		items = append(items, [2]rune{']', ']'})
	}
	for {
		p.skipBlanks()
		if !p.more() {
			return nil, p.fail(start, 1, "this bracket is not closed", `to match a bracket, write \[`)
		}
		if p.accept("]") {
			set := combine(left, operator, p.folded(items))
			if negated {
				set = set.negate()
			}
			if set == nil {
				set = runes{}
			}
			return set, nil
		}
		if op := p.setOperator(); op != "" {
			left = combine(left, operator, p.folded(items))
			operator, items = op, nil
			continue
		}
		set, err := p.classItem()
		if err != nil {
			return nil, err
		}
		items = append(items, set...)
	}
}

func (p *parser) folded(items runes) runes {
	if p.flags.fold {
		return items.fold()
	}
	return normal(items)
}

func (p *parser) setOperator() string {
	for _, op := range []string{"&&", "--", "~~"} {
		if p.accept(op) {
			return op
		}
	}
	return ""
}

func combine(left runes, operator string, right runes) runes {
	switch operator {
	case "&&":
		return left.intersect(right)
	case "--":
		return left.minus(right)
	case "~~":
		return union(left.minus(right), right.minus(left))
	}
	return right
}

// classItem parses one member of a bracket expression: a nested class, an escape, or a range.
func (p *parser) classItem() (runes, error) {
	if p.peek() == '[' {
		if set, ok := p.namedClass(); ok {
			return set, nil
		}
		return p.class()
	}
	start := p.pos
	set, lo, err := p.classChar()
	if err != nil {
		return nil, err
	}
	p.skipBlanks()
	if p.peek() != '-' || p.hyphenAlone() {
		if set != nil {
			return set, nil
		}
		return single(lo), nil
	}
	p.pos++
	p.skipBlanks()
	if !p.more() {
		return nil, p.fail(start, 1, "this range is not closed", "")
	}
	other, hi, err := p.classChar()
	switch {
	case err != nil:
		return nil, err
	case set != nil || other != nil:
		return nil, p.fail(start, p.pos-start, "a range goes from character to character", `to match a hyphen, write \-`)
	case lo > hi:
		return nil, p.fail(start, p.pos-start, "this range is backwards", `to match a hyphen, write \-`)
	}
	return runes{{lo, hi}}, nil
}

// hyphenAlone reports whether the next hyphen is literal or begins an operator.
func (p *parser) hyphenAlone() bool {
	after := strings.TrimPrefix(p.rest(), "-")
	if p.flags.verbose {
		after = strings.TrimLeft(after, " \t\n\v\f\r")
	}
	return strings.HasPrefix(after, "]") || strings.HasPrefix(after, "-")
}

func (p *parser) classChar() (runes, rune, error) {
	if p.peek() == '\\' {
		return p.escaped()
	}
	return nil, p.next(), nil
}

// namedClass parses [:alpha:] or [:^alpha:].
func (p *parser) namedClass() (runes, bool) {
	name, found := strings.CutPrefix(p.rest(), "[:")
	if !found {
		return nil, false
	}
	name, _, found = strings.Cut(name, ":]")
	if !found {
		return nil, false
	}
	plain, negated := strings.CutPrefix(name, "^")
	set, ok := asciiClass(plain)
	if !ok {
		return nil, false
	}
	p.pos += len("[:") + len(name) + len(":]")
	if negated { // a letter's other cases are excluded with it
		set = p.folded(set).negate()
	}
	return set, true
}
