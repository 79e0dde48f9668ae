package regex

// lineMatches tells whether line has a match that begins at or after from: matched, quit if only a pike
// can tell, or any other value for no.
func (d *dfa) lineMatches(line []byte, from int) uint32 {
	if d.gaveUp {
		return quit
	}
	left := sideEdge
	if from > 0 {
		left = d.side(line[from-1])
	}
	state := d.start(left)
	if state&special == 0 {
		state = d.run(state, line, from)
	}
	if state&special == 0 {
		keep := [1]uint32{state}
		state = d.step(keep[:], 0, '\n', len(line)-from)
	}
	d.read += len(line) - from
	return state
}

// run moves a state over text[from:], up to the first transition that leads to no state.
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

// missing reports whether text, which is not of lines, has no match that begins at or after from. If it
// cannot tell it says no.
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
			d.followIf(pc, func(l look) (holds, waits bool) { return l.holds(left, sideEdge), false })
		}
		if d.hit {
			return true
		}
	}
	return false
}
