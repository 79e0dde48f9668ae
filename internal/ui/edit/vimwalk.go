package edit

// A walker goes through a text as the motions of vi do. Beside the characters it stops at the end of each line.
type walker struct {
	t   *text
	p   pos
	big bool // words are separated by blanks alone
}

// class returns the class of the character that the walker is at.
func (w *walker) class() class {
	c := classOf(w.t.char(w.p))
	if w.big && c != blank {
		return letter
	}
	return c
}

// A step says where a step has led.
type step uint8

const (
	inLine  step = iota
	toEnd        // to the end of the line
	newLine      // to another line
	nowhere      // the text ends
)

// inc goes to the next place, and dec to the one before.
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

// incChar and decChar are the same, but do not stop at the end of a line that has characters.
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

// emptyLine reports whether the walker is at a line without characters.
func (w *walker) emptyLine() bool { return len(w.t.lines[w.p.line].runes) == 0 }

// forward goes to the start of the nth word after this. Eol says that an operator follows, which does not reach into the
// next line.
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

// end goes to the end of the nth word. Stop says that it stays if it is at the end of one, and empty that it stops at an
// empty line.
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

// skip goes past the characters of a class, and reports false if the text ends.
func (w *walker) skip(class class, step func() step) bool {
	for w.class() == class {
		if step() == nowhere {
			return false
		}
	}
	return true
}

// back goes to the start of the nth word before this.
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

// backEnd goes to the end of the nth word before this.
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

// runStart goes to the start of the run of characters of one class in the line.
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

// pairs are the brackets that match each other.
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

// match goes to the bracket that matches the next one in the line.
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

// balance goes on until as many other brackets have come as there were of the given one. It begins at the first of them.
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

// paragraph goes to the nth empty line after this, or before it if by is negative, and reports whether the place belongs
// to what is passed over.
func (w *walker) paragraph(n, by int) (ok, inclusive bool) {
	at := w.p.line
	for ; n > 0; n-- {
		text := false // something was passed
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

// find goes to the nth such character in the line. Till stops before it. Repeated says that the one beside the walker does
// not count.
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

// A seek is what f, F, t and T look for.
type seek struct {
	char       rune
	back, till bool
}
