package regex

import "errors"

// maxNodes bounds the program of a pattern, and with it the work for a byte of text.
const maxNodes = 150_000

// errTooLarge says that a pattern's program would have more than maxNodes.
var errTooLarge = errors.New("the pattern is too large: use smaller repetition counts")

// A program is a nondeterministic automaton over bytes.
type program struct {
	insts []inst
	edges []edge
	start uint32
	looks bool // it has conditions
	words bool // it has conditions on word characters

	// Bytes that no part of the program tells apart are of one class.
	classOf [256]uint8
	example []byte // one byte of each class
}

type instKind uint8

const (
	instMatch instKind = iota
	instBytes          // over one of edges[first:last]
	instSplit          // to out, or else to alt
	instLook           // to out if look holds
)

type inst struct {
	kind        instKind
	look        look
	first, last uint32
	out, alt    uint32
}

// compiler builds a program from its end: each part is given where to go on.
type compiler struct {
	program
	shapes map[*[2]rune]shape
	err    error
}

func compile(n *node) (*program, error) {
	c := &compiler{shapes: map[*[2]rune]shape{}}
	match := c.add(inst{kind: instMatch})
	c.start = c.node(n, match)
	if c.err != nil {
		return nil, c.err
	}
	c.classify()
	return &c.program, nil
}

func (c *compiler) add(i inst) uint32 {
	if len(c.insts) >= maxNodes {
		c.err = errTooLarge
		return 0
	}
	c.insts = append(c.insts, i)
	return uint32(len(c.insts) - 1)
}

// node adds n, followed by next, and returns its entry.
func (c *compiler) node(n *node, next uint32) uint32 {
	if c.err != nil {
		return 0
	}
	switch n.op {
	case opClass:
		return c.class(n.set, next)
	case opConcat:
		for i := len(n.subs) - 1; i >= 0; i-- {
			next = c.node(n.subs[i], next)
		}
		return next
	case opAlternate:
		entry := c.node(n.subs[len(n.subs)-1], next)
		for i := len(n.subs) - 2; i >= 0; i-- {
			entry = c.add(inst{kind: instSplit, out: c.node(n.subs[i], next), alt: entry})
		}
		return entry
	case opRepeat:
		return c.repeat(n, next)
	case opLook:
		c.looks = true
		c.words = c.words || n.look >= lookBoundary
		return c.add(inst{kind: instLook, look: n.look, out: next})
	}
	return next
}

func (c *compiler) class(set runes, next uint32) uint32 {
	if len(set) == 0 {
		return c.add(inst{kind: instBytes})
	}
	s, ok := c.shapes[&set[0]]
	if !ok {
		s = cachedShape(set)
		c.shapes[&set[0]] = s
	}
	// The shape's nodes follow each other, so an edge to its node i leads to base+i.
	base := uint32(len(c.insts)) - 1
	for _, edges := range s.nodes[1:] {
		first := uint32(len(c.edges))
		for _, e := range edges {
			if e.to == 0 {
				e.to = next
			} else {
				e.to += base
			}
			c.edges = append(c.edges, e)
		}
		c.add(inst{kind: instBytes, first: first, last: uint32(len(c.edges))})
	}
	return base + s.entry
}

func (c *compiler) repeat(n *node, next uint32) uint32 {
	sub := n.subs[0]
	split := func(again uint32) uint32 {
		i := inst{kind: instSplit, out: again, alt: next}
		if n.lazy {
			i.out, i.alt = i.alt, i.out
		}
		return c.add(i)
	}
	entry := next
	copies := n.min
	switch {
	case n.max < 0:
		// The entry of the loop is known only after its body, which comes back to it.
		loop := split(next)
		body := c.node(sub, loop)
		if c.err != nil {
			return 0
		}
		if n.lazy {
			c.insts[loop].alt = body
		} else {
			c.insts[loop].out = body
		}
		entry = loop
		// The body itself can be the only copy. With more it cannot: where the body may match nothing, what
		// a pattern prefers would not be what it does in Rust.
		if copies == 1 {
			entry = body
			copies = 0
		}
	default:
		for i := n.min; i < n.max && c.err == nil; i++ {
			entry = split(c.node(sub, entry))
		}
	}
	for range copies {
		if c.err != nil {
			return 0
		}
		before := len(c.insts)
		if entry = c.node(sub, entry); len(c.insts) == before {
			break // what is repeated is empty
		}
	}
	return entry
}

// classify finds which bytes the program tells apart.
func (c *compiler) classify() {
	var ends [257]bool // where a class ends and the next begins
	cut := func(lo, hi int) { ends[lo], ends[hi+1] = true, true }
	for _, e := range c.edges {
		cut(int(e.lo), int(e.hi))
	}
	cut('\n', '\n')
	if c.words {
		for _, r := range [][2]int{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}, {0x80, 0xff}} {
			cut(r[0], r[1])
		}
	}
	class := 0
	for b := range 256 {
		if b > 0 && ends[b] {
			class++
		}
		if class == len(c.example) {
			c.example = append(c.example, byte(b))
		}
		c.classOf[b] = uint8(class)
	}
}
