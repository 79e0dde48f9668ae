package regex

import "strconv"

// repeated parses the repetition operators after n.
func (p *parser) repeated(n *node) (*node, error) {
	operators := 0
	for {
		p.skipBlanks()
		start := p.pos
		r := &node{op: opRepeat, subs: []*node{n}, min: 0, max: -1, lazy: p.flags.swap}
		switch p.peek() {
		case '*':
			p.pos++
		case '+':
			if operators > 0 {
				return nil, p.fail(start, 1, "a possessive repetition is not supported",
					`leave out the +, or write \+ to match a plus sign`)
			}
			p.pos++
			r.min = 1
		case '?':
			p.pos++
			r.max = 1
		case '{':
			p.pos++
			if err := p.counts(start, r); err != nil {
				return nil, err
			}
		default:
			return n, nil
		}
		if p.accept("?") {
			r.lazy = !r.lazy
		}
		n = r
		if operators++; operators > maxDepth {
			return nil, p.fail(start, 1, "too many repetitions of repetitions", "")
		}
	}
}

// counts parses {2}, {2,} or {2,5} after its brace.
func (p *parser) counts(start int, r *node) error {
	const hint = `to match a brace, write \{`
	var err error
	if r.min, err = p.number(start, hint); err != nil {
		return err
	}
	r.max = r.min
	if p.accept(",") {
		r.max = -1
		if p.skipBlanks(); p.peek() != '}' {
			if r.max, err = p.number(start, hint); err != nil {
				return err
			}
			if r.max < r.min {
				return p.fail(start, p.pos-start, "the least count is above the greatest", "")
			}
		}
	}
	if !p.accept("}") {
		return p.fail(start, p.pos-start, "this repetition count is not closed", hint)
	}
	return nil
}

// number parses a count, which the program size would limit anyway.
func (p *parser) number(start int, hint string) (int, error) {
	p.skipBlanks()
	digits := p.pos
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
	}
	text := p.pattern[digits:p.pos]
	if text == "" {
		return 0, p.fail(start, p.pos-start+1, "a repetition count is not a number", hint)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > maxNodes {
		return 0, p.fail(start, p.pos-start, "this repetition count is too large", "use + or *")
	}
	p.skipBlanks()
	return n, nil
}
