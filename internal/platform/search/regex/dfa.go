package regex

import (
	"encoding/binary"
	"slices"
)

// A dfa is a program's deterministic automaton, built lazily. It determines only whether a
// match has ended, not where it began, so its states are plain sets. It is not safe for
// concurrent use.
//
// A state is the index of its row in trans. Conditions that need the next byte wait in the
// state until that byte is known. A condition that depends on a non-ASCII character, and makes
// a difference, leads to quit: a [pike] must then decide the line.
type dfa struct {
	p      *program
	lines  bool // the text consists of independent lines
	budget *budget

	stride uint32
	trans  []uint32 // indexed by state and class of the next byte
	states []dfaState
	ids    map[string]uint32    // state numbers, keyed by content
	starts [sideHigh + 1]uint32 // indexed by left side; unknown if not yet built
	skip   uint32               // state that waits for the end of the line

	closure
	key []byte // key of the state being looked up

	maxWords int  // memory limit for the table and the sets
	setWords int  // memory of the states' sets
	read     int  // bytes of text before the current buffer
	flushed  int  // bytes of text before the last flush
	useless  int  // consecutive flushes that came too soon
	gaveUp   bool // states are built faster than they are used
}

// A closure holds the instructions reachable without reading a byte, while a set is built.
type closure struct {
	seen   sparseSet // visited instructions
	leaves []uint32  // visited instructions that make up the state
	hit    bool      // a visited instruction matches
	waits  bool      // a visited instruction waits
	stack  []uint32
}

// A dfaState is a set of instructions that read or wait for a byte, and the side to their left.
type dfaState struct {
	set     []uint32
	left    side // sideOther unless a condition waits
	waiting bool
	skip    bool // nothing counts before the end of the line
}

// Transitions with the special bit set are not states.
const (
	special = 1 << 31
	unknown = special
	matched = special | 1
	quit    = special | 2
)

const (
	// dfaWords is the memory limit for a dfa's table and sets, in four-byte words.
	dfaWords = 1 << 19
	// flushWorth is the minimum number of bytes read per state built.
	flushWorth = 8
	maxUseless = 3
)

func newDFA(p *program, lines bool, b *budget) *dfa {
	d := &dfa{p: p, lines: lines, budget: b, stride: uint32(len(p.example)), maxWords: dfaWords}
	d.seen = newSparse(len(p.insts))
	d.reset()
	return d
}

func (d *dfa) reset() {
	d.trans = d.trans[:0]
	d.states = d.states[:0]
	d.ids = map[string]uint32{}
	d.setWords = 0
	for i := range d.starts {
		d.starts[i] = unknown
	}
	d.skip = d.intern(dfaState{skip: true})
}

// words returns the memory used by the states.
func (d *dfa) words() int { return len(d.trans) + d.setWords }

// flush drops all states except keep, whose numbers it changes. at is the position in the
// current buffer.
func (d *dfa) flush(keep []uint32, at int) {
	if d.read+at-d.flushed < flushWorth*len(d.states) {
		d.useless++
	} else {
		d.useless = 0
	}
	d.flushed = d.read + at
	d.gaveUp = d.useless >= maxUseless
	kept := make([]dfaState, len(keep))
	for i, id := range keep {
		if id&special == 0 {
			kept[i] = d.states[id/d.stride]
		}
	}
	d.reset()
	for i, s := range kept {
		if keep[i]&special == 0 {
			keep[i] = d.intern(s)
		}
	}
}

// start returns the state at a position with the given left side: matched if the pattern
// matches the empty text.
func (d *dfa) start(left side) uint32 {
	if d.starts[left] == unknown {
		d.begin()
		d.follow(d.p.start, left)
		d.starts[left] = d.finish(left)
	}
	return d.starts[left]
}

// begin and finish enclose the construction of a set.
func (d *dfa) begin() {
	d.seen.clear()
	d.leaves = d.leaves[:0]
	d.hit, d.waits = false, false
}

func (d *dfa) finish(left side) uint32 {
	if d.hit {
		return matched
	}
	slices.Sort(d.leaves)
	s := dfaState{set: d.leaves, waiting: d.waits}
	if d.waits {
		s.left = left
	}
	return d.intern(s)
}

// intern returns the number of the state equal to s.
func (d *dfa) intern(s dfaState) uint32 {
	d.key = append(d.key[:0], byte(s.left))
	if s.skip {
		d.key[0] = 0xff
	}
	for _, pc := range s.set {
		d.key = binary.LittleEndian.AppendUint32(d.key, pc)
	}
	if id, ok := d.ids[string(d.key)]; ok {
		return id
	}
	id := uint32(len(d.trans))
	s.set = slices.Clone(s.set)
	d.states = append(d.states, s)
	d.ids[string(d.key)] = id
	d.trans = slices.Grow(d.trans, int(d.stride))
	for range d.stride {
		d.trans = append(d.trans, unknown)
	}
	d.setWords += 2*len(s.set) + 32
	return id
}

// follow adds pc and everything reachable from it without a byte. Conditions wait unless the
// left side decides them.
func (d *dfa) follow(pc uint32, left side) {
	d.followIf(pc, func(l lookaround) (holds, waits bool) {
		if !l.leftAlone(left) {
			return false, true
		}
		return l.holds(left, sideOther), false
	})
}

func (d *dfa) followIf(pc uint32, decide func(lookaround) (holds, waits bool)) {
	stack := append(d.stack[:0], pc)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !d.seen.add(pc) {
			continue
		}
		switch i := &d.p.insts[pc]; i.kind {
		case instMatch:
			d.hit = true
		case instBytes:
			d.leaves = append(d.leaves, pc)
		case instSplit:
			stack = append(stack, i.alt, i.out)
		case instLook:
			switch holds, waits := decide(i.look); {
			case waits:
				d.waits = true
				d.leaves = append(d.leaves, pc)
			case holds:
				stack = append(stack, i.out)
			}
		}
	}
	d.stack = stack
}

// step returns the successor of the state keep[which] over c, and caches it. at is the amount
// of text read so far. keep are the states in use, which it updates if it must flush; the
// result is then only in its place in keep.
func (d *dfa) step(keep []uint32, which int, c byte, at int) uint32 {
	id := keep[which]
	class := uint32(d.p.classOf[c])
	if to := d.trans[id+class]; to != unknown {
		return to
	}
	s := d.states[id/d.stride]
	d.budget.spend(16 + 4*len(s.set))
	to := d.over(s, c)
	d.trans[id+class] = to
	if d.words() < d.maxWords {
		return to
	}
	keep[which] = to
	d.flush(keep, at)
	return keep[which]
}

// over computes the successor of s over c.
func (d *dfa) over(s dfaState, c byte) uint32 {
	if s.skip && c != '\n' {
		return d.skip
	}
	if !s.waiting {
		return d.advance(s.set, c)
	}
	lefts, rights := possible(s.left), possible(sideOf(c))
	if d.lines && c == '\n' {
		rights = []side{sideEdge}
	}
	result := uint32(unknown)
	for _, left := range lefts {
		for _, right := range rights {
			to := d.decided(s.set, left, right, c)
			if result != unknown && to != result {
				return quit
			}
			result = to
		}
	}
	return result
}

// possible returns the sides that s may turn out to be.
func possible(s side) []side {
	if s == sideHigh {
		return []side{sideWord, sideOther, sideInvalid, sideInside}
	}
	return []side{s}
}

// decided advances set over c after resolving its waiting conditions.
func (d *dfa) decided(set []uint32, left, right side, c byte) uint32 {
	d.begin()
	for _, pc := range set {
		d.followIf(pc, func(l lookaround) (holds, waits bool) { return l.holds(left, right), false })
	}
	if d.hit {
		return matched
	}
	return d.advance(slices.Clone(d.leaves), c)
}

// advance moves the instructions of set over c, and lets a match begin after it.
func (d *dfa) advance(set []uint32, c byte) uint32 {
	if d.lines && c == '\n' {
		return d.start(sideEdge)
	}
	left := d.side(c)
	d.begin()
	for _, pc := range set {
		i := &d.p.insts[pc]
		for _, e := range d.p.edges[i.first:i.last] {
			if c >= e.lo && c <= e.hi {
				d.follow(e.to, left)
				break
			}
		}
	}
	d.follow(d.p.start, left)
	return d.finish(left)
}

// side returns the side for c, or sideOther if the program does not distinguish it.
func (d *dfa) side(c byte) side {
	s := sideOf(c)
	if !d.p.words && s != sideLine {
		return sideOther
	}
	return s
}
