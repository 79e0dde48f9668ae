package edit

// A walker moves through a text like vi motions. It stops at each character and at the end of
// each line.
type walker struct {
	t   *text
	p   pos
	big bool // words are separated by blanks alone
}

// class returns the class of the character at the walker.
func (w *walker) class() class {
	c := classOf(w.t.char(w.p))
	if w.big && c != blank {
		return letter
	}
	return c
}

// A step is the result of a walker's step.
type step uint8

const (
	inLine  step = iota
	toEnd        // reached the end of the line
	newLine      // moved to another line
	nowhere      // end of the text
)

// inc moves to the next position, and dec to the previous one.
func (w *walker) inc() step {
	runes := w.t.lines[w.p.line].runes
	switch {
	case w.p.col < len(runes):
		w.p.col = nextCluster(runes, w.p.col)
		if w.p.col < len(runes) {
			return inLine
		}
		return toEnd
	case w.p.line < len(w.t.lines)-1:
		w.p = pos{w.p.line + 1, 0}
		return newLine
	}
	return nowhere
}

func (w *walker) dec() step {
	switch {
	case w.p.col > 0:
		w.p.col = previousCluster(w.t.lines[w.p.line].runes, w.p.col)
		return inLine
	case w.p.line > 0:
		w.p = pos{w.p.line - 1, len(w.t.lines[w.p.line-1].runes)}
		return newLine
	}
	return nowhere
}

// incChar is like inc, and decChar like dec, but they do not stop at the end of a non-empty
// line.
func (w *walker) incChar() {
	if s := w.inc(); (s == toEnd || s == newLine) && w.p.col > 0 {
		w.inc()
	}
}

func (w *walker) decChar() step {
	s := w.dec()
	if s == newLine && w.p.col > 0 {
		s = w.dec()
	}
	return s
}

// emptyLine reports whether the walker is on an empty line.
func (w *walker) emptyLine() bool { return len(w.t.lines[w.p.line].runes) == 0 }

// forward moves to the start of the nth next word. If eol is true, an operator follows, which
// does not extend into the next line.
func (w *walker) forward(n int, eol bool) bool {
	for n--; n >= 0; n-- {
		class := w.class()
		last := w.p.line == len(w.t.lines)-1
		switch s := w.inc(); {
		case s == nowhere || s != inLine && last:
			return false
		case s != inLine && eol && n == 0:
			return true
		}
		for class != blank && w.class() == class {
			if s := w.inc(); s == nowhere || s != inLine && eol && n == 0 {
				return true
			}
		}
		for w.class() == blank && !w.emptyLine() {
			if s := w.inc(); s == nowhere || s != inLine && (last || eol && n == 0) {
				return true
			}
		}
	}
	return true
}

// end moves to the end of the nth word. If stop is true, it stays if already at the end of a
// word; if empty is true, it stops at an empty line.
func (w *walker) end(n int, stop, empty bool) bool {
	for ; n > 0; n-- {
		class := w.class()
		if w.inc() == nowhere {
			return false
		}
		switch {
		case w.class() == class && class != blank:
			if !w.skip(class, w.inc) {
				return false
			}
		case !stop || class == blank:
			for w.class() == blank {
				if empty && w.emptyLine() {
					return true
				}
				if w.inc() == nowhere {
					return false
				}
			}
			if !w.skip(w.class(), w.inc) {
				return false
			}
		}
		w.dec()
		stop = false
	}
	return true
}

// skip moves past the characters of a class. It reports false if the text ends.
func (w *walker) skip(class class, step func() step) bool {
	for w.class() == class {
		if step() == nowhere {
			return false
		}
	}
	return true
}

// back moves to the start of the nth previous word.
func (w *walker) back(n int) bool {
	for ; n > 0; n-- {
		if w.dec() == nowhere {
			return false
		}
		for w.class() == blank && !w.emptyLine() {
			if w.dec() == nowhere {
				return true
			}
		}
		if w.emptyLine() {
			continue
		}
		if !w.skip(w.class(), w.dec) {
			return true
		}
		w.inc()
	}
	return true
}

// backEnd moves to the end of the nth previous word.
func (w *walker) backEnd(n int) bool {
	for ; n > 0; n-- {
		class := w.class()
		if w.dec() == nowhere {
			return false
		}
		for class != blank && w.class() == class {
			if w.dec() == nowhere {
				return true
			}
		}
		for w.class() == blank && !w.emptyLine() {
			if w.dec() == nowhere {
				return true
			}
		}
	}
	return true
}

// runStart moves to the start of the run of characters of one class in the line.
func (w *walker) runStart() {
	for class := w.class(); w.p.col > 0; {
		was := w.p
		w.dec()
		if w.class() != class {
			w.p = was
			return
		}
	}
}

// pairs maps opening to closing brackets.
var pairs = map[rune]rune{'(': ')', '[': ']', '{': '}', '<': '>'}

// opens returns the opening bracket for a closing one, or 0.
func opens(closing rune) rune {
	for open, c := range pairs {
		if c == closing {
			return open
		}
	}
	return 0
}

// match moves to the bracket that matches the next one in the line.
func (w *walker) match() bool {
	runes := w.t.lines[w.p.line].runes
	for ; w.p.col < len(runes); w.p.col++ {
		switch r := runes[w.p.col]; {
		case r == '<' || r == '>':
		case pairs[r] != 0:
			return w.balance(r, pairs[r], w.inc)
		case opens(r) != 0:
			return w.balance(r, opens(r), w.dec)
		}
	}
	return false
}

// balance moves until brackets one and other are balanced. It begins at the first one.
func (w *walker) balance(one, other rune, next func() step) bool {
	for depth := 0; ; {
		switch w.t.char(w.p) {
		case one:
			depth++
		case other:
			if depth--; depth <= 0 {
				return true
			}
		}
		if next() == nowhere {
			return false
		}
	}
}

// paragraph moves to the nth next empty line, or the nth previous one if by is negative, and
// reports whether the target is inclusive.
func (w *walker) paragraph(n, by int) (ok, inclusive bool) {
	at := w.p.line
	for ; n > 0; n-- {
		text := false // passed a non-empty line
		for first := true; ; first = false {
			full := len(w.t.lines[at].runes) > 0
			text = text || full
			if !first && text && !full {
				break
			}
			if at+by < 0 || at+by >= len(w.t.lines) {
				if n > 1 {
					return false, false
				}
				break
			}
			at += by
		}
	}
	w.p = pos{at, 0}
	if runes := w.t.lines[at].runes; at == len(w.t.lines)-1 && len(runes) > 0 {
		w.p.col = previousCluster(runes, len(runes))
		return true, true
	}
	return true, false
}

// find moves to the nth matching character in the line. Till stops before it. If repeated is
// true, the character next to the walker does not count.
func (w *walker) find(s seek, n int, repeated bool) bool {
	runes := w.t.lines[w.p.line].runes
	col := w.p.col
	pass := repeated && s.till && n == 1
	for ; n > 0; n-- {
		for {
			if s.back && col == 0 || !s.back && col >= len(runes)-1 {
				return false
			}
			if s.back {
				col--
			} else {
				col++
			}
			if runes[col] == s.char && !pass {
				break
			}
			pass = false
		}
	}
	switch {
	case s.till && s.back:
		col = nextCluster(runes, col)
	case s.till:
		col = previousCluster(runes, col)
	}
	w.p = w.t.snap(pos{w.p.line, col})
	return true
}

// A seek is the target of f, F, t and T.
type seek struct {
	char       rune
	back, till bool
}
