package regex

import "errors"

// maxNodes is the maximum size of a pattern's program, which bounds the work per byte of text.
const maxNodes = 150_000

// errTooLarge means that a pattern's program would exceed maxNodes.
var errTooLarge = errors.New("the pattern is too large: use smaller repetition counts")

// A program is a nondeterministic automaton over bytes.
type program struct {
	insts []inst
	edges []edge
	start uint32
	looks bool // has conditions
	words bool // has conditions on word characters

	// Bytes that the program does not distinguish are in the same class.
	classOf [256]uint8
	example []byte // one byte of each class
}

type instKind uint8

const (
	instMatch instKind = iota
	instBytes          // reads a byte in any of edges[first:last]
	instSplit          // continues at out, or else at alt
	instLook           // continues at out if look holds
)

type inst struct {
	kind        instKind
	look        lookaround
	first, last uint32
	out, alt    uint32
}

// compiler builds a program from its end: each part is given its continuation.
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
	// The shape's nodes are contiguous, so an edge to its node i leads to base+i.
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
		// The loop's body must be compiled first, and refers back to the loop.
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
		// The body itself can serve as the only copy. With more copies it cannot: if the body
		// may match nothing, the preferred match would differ from Rust's.
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
			break // empty body
		}
	}
	return entry
}

// classify determines which bytes the program distinguishes.
func (c *compiler) classify() {
	var ends [257]bool // class boundaries
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
