package regex

// lineMatches returns matched if line has a match, quit if only a pike can tell, and any other
// value if not.
func (d *dfa) lineMatches(line []byte) uint32 {
	if d.gaveUp {
		return quit
	}
	state := d.start(sideEdge)
	if state&special == 0 {
		state = d.run(state, line, 0)
	}
	if state&special == 0 {
		keep := [1]uint32{state}
		state = d.step(keep[:], 0, '\n', len(line))
	}
	d.read += len(line)
	return state
}

// skim reads lines from a position where a match can begin, until it has matched or no match is
// in progress. It returns the end position, which after a match is in the matching line, and
// matched, quit if only a pike can tell, or any other value for no match.
func (d *dfa) skim(text []byte, at int) (to int, state uint32) {
	if d.gaveUp {
		return at, quit
	}
	state = d.start(d.sideBefore(text, at))
	for to = at; state&special == 0; {
		var begins bool
		to, state, begins = d.skimOn(state, text, to)
		if begins && !d.idle(state, text, to) {
			continue
		}
		if begins || state&special != 0 {
			break
		}
		keep := [1]uint32{state}
		if to == len(text) { // the last line may be unterminated
			return to, d.step(keep[:], 0, '\n', to-at)
		}
		if state = d.step(keep[:], 0, text[to], to-at); state&special != 0 {
			break
		}
		to++
		if d.gaveUp || d.budget.err != nil {
			state = quit
		}
	}
	d.read += to - at
	return to, state
}

// skimOn moves a state over text[at:]. It stops after a byte that leads to a start state, and
// before a byte that leads to matched or to no state, which is then returned.
func (d *dfa) skimOn(state uint32, text []byte, at int) (to int, _ uint32, begins bool) {
	classOf, trans := &d.p.classOf, d.trans
	// States not built yet never occur.
	other, edge, word := d.starts[sideOther], d.starts[sideEdge], d.starts[sideWord]
	for ; at < len(text); at++ {
		t := trans[state+uint32(classOf[text[at]])]
		switch {
		case t == matched:
			return at, t, false
		case t&special != 0:
			return at, state, false
		case t == other || t == edge || t == word:
			return at + 1, t, true
		}
		state = t
	}
	return at, state, false
}

// idle reports whether no match is in progress in a start state at a position in text. It must
// be the start state of this very position: after a comma, (^|,)id is in the start state of a
// line start, but a match is in progress.
func (d *dfa) idle(state uint32, text []byte, at int) bool {
	return !d.p.looks || state == d.starts[d.sideBefore(text, at)]
}

// sideBefore returns the side before a position in line-based text.
func (d *dfa) sideBefore(text []byte, at int) side {
	if at == 0 || text[at-1] == '\n' {
		return sideEdge
	}
	return d.side(text[at-1])
}

// run moves a state over text[from:], up to the first transition that does not lead to a state.
func (d *dfa) run(state uint32, text []byte, from int) uint32 {
	keep := [1]uint32{state}
	for i := from; i < len(text); i++ {
		classOf := &d.p.classOf
		trans := d.trans
		s := keep[0]
		for i < len(text) {
			t := trans[s+uint32(classOf[text[i]])]
			if t&special != 0 {
				break
			}
			s = t
			i++
		}
		keep[0] = s
		if i == len(text) {
			break
		}
		if keep[0] = d.step(keep[:], 0, text[i], i-from); keep[0]&special != 0 {
			return keep[0]
		}
		if d.gaveUp || d.budget.err != nil {
			return quit
		}
	}
	return keep[0]
}

// missing reports whether text, which is not line-based, has no match that begins at or after
// from. It is false if that is uncertain.
func (d *dfa) missing(text []byte, from int) bool {
	if d.gaveUp {
		return false
	}
	left := sideEdge
	if from > 0 {
		left = d.side(text[from-1])
	}
	state := d.start(left)
	if state&special == 0 {
		state = d.run(state, text, from)
		d.read += len(text) - from
	}
	if state&special != 0 {
		return false
	}
	s := d.states[state/d.stride]
	return !s.waiting || !d.mayEnd(s)
}

// mayEnd reports whether s may match at the end of the text.
func (d *dfa) mayEnd(s dfaState) bool {
	for _, left := range possible(s.left) {
		d.begin()
		for _, pc := range s.set {
			d.followIf(pc, func(l lookaround) (holds, waits bool) { return l.holds(left, sideEdge), false })
		}
		if d.hit {
			return true
		}
	}
	return false
}
