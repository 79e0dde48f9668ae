package edit

import "slices"

// A command is a vi command, such as 2d3w: a name, or an operator with a motion or a text
// object.
type command struct {
	count int  // 0 if not given
	name  rune // name if it is neither an operator nor a motion
	op    rune // operator; for two-key operators (g...), the second key
	more  int  // count after the operator
	// motion is the motion, prefixed with g if it begins with g. The operator itself means
	// whole lines.
	motion rune
	g      bool
	kind   rune   // i or a, for a text object
	arg    rune   // argument of f, t, r and so on, or the text object
	typed  []rune // inserted text
}

// A state is the parse state of a command.
type state uint8

const (
	begun state = iota
	whole
	wrong
)

// repeats returns the number of repetitions.
func (c command) repeats() int { return max(1, c.count) * max(1, c.more) }

// given reports whether a count was given.
func (c command) given() bool { return c.count > 0 || c.more > 0 }

// changes reports whether the command changes the text.
func (c command) changes() bool {
	return c.op != 0 && c.op != 'y' || slices.Contains([]rune("xXsSDCr~JpPiIaAoO"), c.name)
}

const (
	simpleMotions = "hjklwWbBeE0^$G;,%{}"
	findMotions   = "fFtT"
	operators     = "dcy><"
	simpleNames   = "xXsSDCY~JpPu.iIaAoOvV"
	visualNames   = "xXsSDCYRuU~JpPvVo"
	maxCount      = 9999
)

// parse parses a command from its keys.
func parse(all []rune, selecting bool) (command, state) {
	p := &parser{rest: all, selecting: selecting}
	s := p.command()
	return p.c, s
}

// A parser parses the keys of a command.
type parser struct {
	c         command
	rest      []rune
	selecting bool // visual mode: operators apply to the selection
}

func (p *parser) next() (rune, bool) {
	if len(p.rest) == 0 {
		return 0, false
	}
	r := p.rest[0]
	p.rest = p.rest[1:]
	return r, true
}

// number parses a count.
func (p *parser) number() (n int) {
	for len(p.rest) > 0 && (p.rest[0] >= '1' && p.rest[0] <= '9' || n > 0 && p.rest[0] == '0') {
		n = min(maxCount, n*10+int(p.rest[0]-'0'))
		p.rest = p.rest[1:]
	}
	return n
}

func (p *parser) command() state {
	p.c.count = p.number()
	r, ok := p.next()
	names := simpleNames
	if p.selecting {
		names = visualNames
	}
	switch {
	case !ok:
		return begun
	case p.selecting && (r == 'i' || r == 'a'):
		return p.object(r)
	case slices.Contains([]rune(names), r):
		p.c.name = r
		return whole
	case r == 'r':
		p.c.name = r
		return p.argument()
	case slices.Contains([]rune(operators), r):
		return p.operator(r)
	case r == 'g':
		return p.second()
	}
	return p.motion(r)
}

// second parses the key after g.
func (p *parser) second() state {
	r, ok := p.next()
	switch {
	case !ok:
		return begun
	case r == 'u' || r == 'U' || r == '~':
		return p.operator(r)
	case r == 'g' || r == 'e' || r == 'E':
		p.c.motion, p.c.g = r, true
		return whole
	}
	return wrong
}

// operator parses the keys after an operator.
func (p *parser) operator(op rune) state {
	p.c.op = op
	if p.selecting {
		return whole
	}
	p.c.more = p.number()
	r, ok := p.next()
	switch {
	case !ok:
		return begun
	case r == op:
		p.c.motion = op
		return whole
	case r == 'i' || r == 'a':
		return p.object(r)
	case r == 'g':
		again, ok := p.next()
		switch {
		case !ok:
			return begun
		case again == op: // such as gugu
			p.c.motion = op
			return whole
		case again == 'g' || again == 'e' || again == 'E':
			p.c.motion, p.c.g = again, true
			return whole
		}
		return wrong
	}
	return p.motion(r)
}

// object parses a text object.
func (p *parser) object(kind rune) state {
	p.c.kind = kind
	r, ok := p.next()
	if !ok {
		return begun
	}
	p.c.arg = r
	return whole
}

// motion parses a motion.
func (p *parser) motion(r rune) state {
	p.c.motion = r
	switch {
	case slices.Contains([]rune(simpleMotions), r):
		return whole
	case slices.Contains([]rune(findMotions), r):
		return p.argument()
	}
	return wrong
}

// argument parses a command's character argument.
func (p *parser) argument() state {
	r, ok := p.next()
	if !ok {
		return begun
	}
	p.c.arg = r
	return whole
}
