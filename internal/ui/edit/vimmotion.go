package edit

// A motion is the target of a motion and the extent an operator applies to.
type motion struct {
	to        pos
	inclusive bool // includes the target itself
	lines     bool // linewise
	short     bool // stopped early; an operator is not applied
}

// A mover holds the state that motions keep from earlier ones.
type mover struct {
	seek seek // last f, F, t or T search
	goal int  // target cell of j and k, 1-based; 0 means unset
}

// motion returns the target of a command's motion. It reports false if the motion fails. If
// selecting is true, there is a selection, which may include a line end.
func (m *mover) motion(f *Field, c command, selecting bool) (motion, bool) {
	t, at, n := &f.text, f.caret, c.repeats()
	w := &walker{t: t, p: at}
	switch {
	case c.g:
		return second(f, c)
	case c.motion == 'h' || c.motion == 'l':
		return sideways(t, at, c, selecting)
	case c.motion == 'j' || c.motion == 'k':
		return m.upDown(f, c)
	case c.motion == 'G':
		return toLine(t, c, len(t.lines)), true
	case c.motion == '0':
		return motion{to: pos{at.line, 0}}, true
	case c.motion == '^':
		return motion{to: firstChar(t, at.line)}, true
	case c.motion == '$':
		return m.lineEnd(f, c, selecting)
	case c.motion == '{' || c.motion == '}':
		by := int(c.motion) - '|'
		ok, inclusive := w.paragraph(n, by)
		return motion{to: w.p, inclusive: inclusive}, ok
	case c.motion == '%':
		ok := !c.given() && w.match()
		return motion{to: w.p, inclusive: true}, ok
	}
	if found, ok, is := m.finding(w, c); is {
		return found, ok
	}
	return words(w, c)
}

// second returns the target of the motions that begin with g.
func second(f *Field, c command) (motion, bool) {
	if c.motion == 'g' {
		return toLine(&f.text, c, 1), true
	}
	w := &walker{t: &f.text, p: f.caret, big: c.motion == 'E'}
	ok := w.backEnd(c.repeats())
	return motion{to: w.p, inclusive: true, short: !ok}, true
}

// words returns the target of the word motions.
func words(w *walker, c command) (motion, bool) {
	n := c.repeats()
	w.big = c.motion == 'W' || c.motion == 'B' || c.motion == 'E'
	switch c.motion {
	case 'w', 'W':
		if c.op == 'c' && w.class() != blank { // only to the end of the word
			w.end(n, true, false)
			return motion{to: onto(w.t, w.p), inclusive: true}, true
		}
		start := w.p
		w.forward(n, c.op != 0)
		if c.op == 0 && start.before(w.p) {
			w.p = onto(w.t, w.p)
		}
		return motion{to: w.p}, true
	case 'e', 'E':
		w.end(n, false, false)
		return motion{to: onto(w.t, w.p), inclusive: true}, true
	}
	ok := w.back(n)
	return motion{to: w.p, short: !ok}, true
}

// finding returns the target of the character search motions. Is reports whether the command is
// such a motion.
func (m *mover) finding(w *walker, c command) (found motion, ok, is bool) {
	s, repeated := m.seek, true
	switch c.motion {
	case 'f', 'F', 't', 'T':
		s = seek{char: c.arg, back: c.motion == 'F' || c.motion == 'T', till: c.motion == 't' || c.motion == 'T'}
		m.seek, repeated = s, false
	case ';':
	case ',':
		s.back = !s.back
	default:
		return motion{}, false, false
	}
	ok = s.char != 0 && w.find(s, c.repeats(), repeated)
	return motion{to: w.p, inclusive: !s.back}, ok, true
}

// sideways returns the target of h and l, which stay in the line.
func sideways(t *text, at pos, c command, selecting bool) (motion, bool) {
	to, runes := at, t.lines[at.line].runes
	for range c.repeats() {
		if c.motion == 'h' && to.col > 0 {
			to.col = previousCluster(runes, to.col)
		}
		if c.motion == 'l' && to.col < len(runes) {
			to.col = nextCluster(runes, to.col)
		}
	}
	if c.op == 0 && !selecting {
		to = onto(t, to)
	}
	return motion{to: to}, to != at || c.op != 0
}

// upDown returns the target of j and k: the same cell in another line, or its end.
func (m *mover) upDown(f *Field, c command) (motion, bool) {
	n := c.repeats()
	if c.motion == 'k' {
		n = -n
	}
	line := max(0, min(len(f.lines)-1, f.caret.line+n))
	if line == f.caret.line {
		return motion{}, false
	}
	if m.goal == 0 {
		m.goal = 1
		for runes, i := f.lines[f.caret.line].runes, 0; i < f.caret.col; i++ {
			m.goal += f.size(runes, i)
		}
	}
	return motion{to: atCell(f, line, m.goal-1), lines: true}, true
}

// endless is the goal after $.
const endless = 1 << 30

// atCell returns the position in a line that shows the given cell.
func atCell(f *Field, line, goal int) pos {
	runes := f.lines[line].runes
	at := 0
	for col, cell := 0, 0; col < len(runes); {
		next := nextCluster(runes, col)
		for i := col; i < next; i++ {
			cell += f.size(runes, i)
		}
		if at = col; cell > goal {
			break
		}
		col = next
	}
	return pos{line, at}
}

// lineEnd returns the target of $.
func (m *mover) lineEnd(f *Field, c command, selecting bool) (motion, bool) {
	n := c.repeats() - 1
	if n > 0 && f.caret.line == len(f.lines)-1 {
		return motion{}, false
	}
	line := min(len(f.lines)-1, f.caret.line+n)
	m.goal = endless
	to := pos{line, len(f.lines[line].runes)}
	if !selecting {
		to = onto(&f.text, to)
	}
	return motion{to: to, inclusive: true}, true
}

// toLine returns the target of G and gg.
func toLine(t *text, c command, line int) motion {
	if c.given() {
		line = c.repeats()
	}
	line = min(line, len(t.lines)) - 1
	return motion{to: firstChar(t, line), lines: true}
}

// firstChar returns the position of a line's first non-blank character, or of its last
// character if all are blank.
func firstChar(t *text, line int) pos {
	return onto(t, pos{line, indent(t.lines[line].runes)})
}
