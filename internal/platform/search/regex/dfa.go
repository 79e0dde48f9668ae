package regex

import (
	"encoding/binary"
	"slices"
)

// A dfa is the deterministic automaton of a program, built as the text asks for it. It answers only
// whether a match has ended, not where one began, so that its states are plain sets. It belongs to one
// goroutine.
//
// A state is the number of its row in trans. Conditions that need the next byte wait in the state until
// that byte is known. One that needs to know a character beyond ASCII, and makes a difference, leads to
// quit: the line is then for a [pike].
type dfa struct {
	p      *program
	lines  bool // the text is of lines, each for itself
	budget *budget

	stride uint32
	trans  []uint32 // by state and class of the next byte
	states []dfaState
	ids    map[string]uint32    // of states, by what they are
	starts [sideHigh + 1]uint32 // by what stands before them; unknown if not yet built
	skip   uint32               // the state that waits for the end of the line

	closure
	key []byte // of the state that is looked up

	maxWords int  // what the table and the sets may take
	setWords int  // memory of the states' sets
	read     int  // bytes of text before the current buffer
	flushed  int  // bytes of text before the last flush
	useless  int  // flushes in a row that came too soon
	gaveUp   bool // states are built faster than they are used
}

// A closure holds the instructions that are reached without reading a byte, while a set is built.
type closure struct {
	seen   sparse   // instructions that were followed
	leaves []uint32 // of these, the ones that make up the state
	hit    bool     // one of them matches
	waits  bool     // one of them waits
	stack  []uint32
}

// A dfaState is a set of instructions that read a byte or wait for one, and what stands before them.
type dfaState struct {
	set     []uint32
	left    side // sideOther unless a condition waits
	waiting bool
	skip    bool // nothing counts before the end of the line
}

// Transitions with the bit special set are not states.
const (
	special = 1 << 31
	unknown = special
	matched = special | 1
	quit    = special | 2
)

const (
	// dfaWords is what the table and the sets of a dfa may take, in words of four bytes.
	dfaWords = 1 << 19
	// flushWorth is how many bytes of text must be read for each state built.
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

// words returns how much memory the states take.
func (d *dfa) words() int { return len(d.trans) + d.setWords }

// flush forgets all states but those in keep, whose numbers it changes. at is how much of the current
// buffer was read.
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

// start returns the state at a place that has left before it: matched if the pattern needs no text.
func (d *dfa) start(left side) uint32 {
	if d.starts[left] == unknown {
		d.begin()
		d.follow(d.p.start, left)
		d.starts[left] = d.finish(left)
	}
	return d.starts[left]
}

// begin and finish enclose the building of a set.
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

// intern returns the number of the state that is like s.
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

// follow adds pc and all that it leads to without a byte of text. Conditions wait unless what stands
// before them decides.
func (d *dfa) follow(pc uint32, left side) {
	d.followIf(pc, func(l look) (holds, waits bool) {
		if !l.leftAlone(left) {
			return false, true
		}
		return l.holds(left, sideOther), false
	})
}

func (d *dfa) followIf(pc uint32, decide func(look) (holds, waits bool)) {
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

// step returns where the state id goes over c, and remembers it. at is how much text was read so far,
// and keep are the states in use, which it updates if it has to forget the others; the result is then
// only in its place in keep.
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

// over computes where s goes over c.
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

// possible returns what a side may turn out to be.
func possible(s side) []side {
	if s == sideHigh {
		return []side{sideWord, sideOther, sideInvalid, sideInside}
	}
	return []side{s}
}

// decided advances set over c, after what waits in it is decided.
func (d *dfa) decided(set []uint32, left, right side, c byte) uint32 {
	d.begin()
	for _, pc := range set {
		d.followIf(pc, func(l look) (holds, waits bool) { return l.holds(left, right), false })
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

// side returns the side that c makes, or sideOther if the program does not care.
func (d *dfa) side(c byte) side {
	s := sideOf(c)
	if !d.p.words && s != sideLine {
		return sideOther
	}
	return s
}
