package edit

import "unicode"

// An area is the part of a text an operator applies to: up to end, or whole lines.
type area struct {
	start, end pos
	lines      bool
	// exclusive is true if the area ends at the target of an exclusive motion.
	exclusive bool
}

// object returns the area of a text object. Kind is i (inner) or a (all).
func object(t *text, at pos, kind, name rune, n int) (area, bool) {
	all := kind == 'a'
	switch name {
	case 'w', 'W':
		return wordObject(t, at, all, name == 'W', n)
	case '"', '\'', '`':
		return quoteObject(t, at, all, name)
	case '(', ')', 'b':
		return blockObject(t, at, all, '(', n)
	case '[', ']':
		return blockObject(t, at, all, '[', n)
	case '{', '}', 'B':
		return blockObject(t, at, all, '{', n)
	case '<', '>':
		return blockObject(t, at, all, '<', n)
	case 'p':
		return paragraphObject(t, at, all, n)
	}
	return area{}, false
}

// wordObject returns n words or runs of blanks at a position; all includes the blanks next to a
// word.
func wordObject(t *text, at pos, all, big bool, n int) (area, bool) {
	w := &walker{t: t, p: at, big: big}
	w.runStart()
	start := w.p
	white := false
	if (w.class() == blank) == all {
		if !w.end(1, true, true) {
			return area{}, false
		}
	} else {
		w.forward(1, true)
		if w.p.col == 0 {
			w.decChar()
		} else {
			w.dec()
		}
		white = all
	}
	for n--; n > 0; n-- {
		if !w.extend(all) {
			return area{}, false
		}
	}
	if white && w.class() != blank {
		before := &walker{t: t, p: start, big: big}
		if start.col > 0 {
			before.dec()
			if before.runStart(); before.class() == blank && before.p.col > 0 {
				start = before.p
			}
		}
	}
	if w.p.before(start) { // an empty line at the end
		return area{start: w.p, end: lineRight(t, start)}, true
	}
	return area{start: start, end: lineRight(t, w.p)}, true
}

// extend moves to the end of the next word or run of blanks.
func (w *walker) extend(all bool) bool {
	was := w.p
	w.incChar()
	if w.p == was {
		return false
	}
	if all {
		return w.forwardInLine()
	}
	class := w.class()
	for runes := w.t.lines[w.p.line].runes; ; {
		next := w.p
		if next.col < len(runes) {
			next.col = nextCluster(runes, next.col)
		}
		if next.col >= len(runes) {
			return true
		}
		if was = w.p; classAt(w, next) != class {
			w.p = was
			return true
		}
		w.p = next
	}
}

func classAt(w *walker, p pos) class { return (&walker{t: w.t, p: p, big: w.big}).class() }

// forwardInLine moves to the last character before the next word in the line.
func (w *walker) forwardInLine() bool {
	if w.class() == blank {
		return w.end(1, true, true)
	}
	if !w.forward(1, true) {
		w.p.col = len(w.t.lines[w.p.line].runes)
	}
	if w.p.col == 0 {
		w.decChar()
	} else {
		w.dec()
	}
	return true
}

// lineRight returns the position after the character at p, in the same line.
func lineRight(t *text, p pos) pos {
	if p.col < len(t.lines[p.line].runes) {
		return t.right(p)
	}
	return p
}

// quoteObject returns the area between quotes in the line; all includes the quotes and the
// blanks after or before them.
func quoteObject(t *text, at pos, all bool, quote rune) (area, bool) {
	runes := t.lines[at.line].runes
	open, end := -1, -1
	if at.col < len(runes) && runes[at.col] == quote { // only the start of the line tells opening from closing quotes
		for end < at.col {
			if open = nextQuote(runes, end+1, quote, false); open < 0 || open > at.col {
				return area{}, false
			}
			if end = nextQuote(runes, open+1, quote, true); end < 0 {
				return area{}, false
			}
		}
	} else {
		open = previousQuote(runes, at.col, quote)
		if end = nextQuote(runes, open+1, quote, true); open < 0 || end < 0 {
			return area{}, false
		}
	}
	if !all {
		return area{start: pos{at.line, open + 1}, end: pos{at.line, end}}, true
	}
	end++
	if end < len(runes) && isBlank(runes[end]) {
		for end < len(runes) && isBlank(runes[end]) {
			end++
		}
	} else {
		for open > 0 && isBlank(runes[open-1]) {
			open--
		}
	}
	return area{start: pos{at.line, open}, end: pos{at.line, end}}, true
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

// previousQuote returns the column of the quote before col, otherwise of the first quote in the
// line, or -1.
func previousQuote(runes []rune, col int, quote rune) int {
	for i := min(col, len(runes)) - 1; i >= 0; i-- {
		escapes := 0
		for i-1-escapes >= 0 && runes[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 1 {
			i -= escapes
		} else if runes[i] == quote {
			return i
		}
	}
	return nextQuote(runes, 0, quote, false)
}

// nextQuote returns the column of the next quote, or -1.
func nextQuote(runes []rune, from int, quote rune, escapes bool) int {
	for i := from; i < len(runes); i++ {
		if escapes && runes[i] == '\\' {
			i++
			continue
		}
		if runes[i] == quote {
			return i
		}
	}
	return -1
}

// blockObject returns the area between the nth brackets around a position; all includes the
// brackets.
func blockObject(t *text, at pos, all bool, open rune, n int) (area, bool) {
	w := &walker{t: t, p: at}
	for open == '{' && indented(t, pos{w.p.line, w.p.col + 1}) && w.inc() == inLine {
	}
	for ; n > 0; n-- {
		if !w.enclosing(open) {
			return area{}, false
		}
		if n > 1 && w.dec() == nowhere {
			return area{}, false
		}
	}
	start := w.p
	if !w.balance(open, pairs[open], w.inc) {
		return area{}, false
	}
	if all {
		return area{start: start, end: t.right(w.p)}, true
	}
	from := &walker{t: t, p: start}
	from.incChar()
	return inside(t, from.p, w)
}

// inside returns the area from start to before the closing bracket at the walker.
func inside(t *text, start pos, w *walker) (area, bool) {
	bol := w.p.col == 0
	w.decChar()
	for indented(t, pos{w.p.line, w.p.col + 1}) {
		bol = true
		if w.decChar() != inLine {
			break
		}
	}
	switch {
	case bol:
		w.incChar()
		return area{start: start, end: maxPos(start, w.p), exclusive: true}, true
	case w.p.before(start):
		return area{start: start, end: start}, true
	}
	return area{start: start, end: lineRight(t, w.p)}, true
}

func maxPos(a, b pos) pos {
	if a.before(b) {
		return b
	}
	return a
}

// indented reports whether only blanks precede p in its line.
func indented(t *text, p pos) bool { return indent(t.lines[p.line].runes) >= p.col }

// indent returns the number of blanks a line begins with.
func indent(runes []rune) int {
	n := 0
	for n < len(runes) && isBlank(runes[n]) {
		n++
	}
	return n
}

// enclosing moves to the opening bracket around the walker, or to the next one. A bracket at
// the walker counts.
func (w *walker) enclosing(open rune) bool {
	if w.t.char(w.p) == open {
		return true
	}
	at := w.p
	if w.unmatched(open, w.dec) {
		return true
	}
	w.p = at
	return w.unmatched(open, w.inc)
}

// unmatched moves to the next opening bracket without a matching closing one before it.
func (w *walker) unmatched(open rune, next func() step) bool {
	depth := 0
	for next() != nowhere {
		switch w.t.char(w.p) {
		case open:
			if depth == 0 {
				return true
			}
			depth--
		case pairs[open]:
			depth++
		}
	}
	return false
}

// paragraphObject returns n paragraphs or runs of blank lines at a position; all includes the
// blank lines after a paragraph, otherwise those before it.
func paragraphObject(t *text, at pos, all bool, n int) (area, bool) {
	last := len(t.lines) - 1
	blankLine := func(i int) bool { return indent(t.lines[i].runes) == len(t.lines[i].runes) }
	start := at.line
	front := blankLine(start)
	for start > 0 && blankLine(start-1) == front && (front || len(t.lines[start].runes) > 0) {
		start--
	}
	end := start
	for end <= last && blankLine(end) {
		end++
	}
	end--
	if !all && front {
		n--
	}
	for ; n > 0; n-- {
		if end == last {
			return area{}, false
		}
		white := blankLine(end + 1)
		if all || !white {
			end++
			for end < last && !blankLine(end+1) {
				end++
			}
		}
		if n == 1 && front && all {
			break
		}
		for (all || white) && end < last && blankLine(end+1) {
			end++
		}
	}
	if !front && !blankLine(end) && all {
		for start > 0 && blankLine(start-1) {
			start--
		}
	}
	return area{start: pos{start, 0}, end: pos{end, 0}, lines: true}, true
}

// swapCase returns a letter in the other case.
func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}
