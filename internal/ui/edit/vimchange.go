package edit

import (
	"slices"
	"strings"
	"unicode"
)

// operate executes an operator with its motion or text object.
func (v *vim) operate(f *Field, c command) {
	a, ok := v.area(f, c)
	if !ok {
		return
	}
	v.apply(f, c, a)
}

// area returns the area an operator applies to.
func (v *vim) area(f *Field, c command) (area, bool) {
	at := f.caret
	switch {
	case c.motion == c.op:
		n := c.repeats() - 1
		if n > 0 && at.line == len(f.lines)-1 {
			return area{}, false
		}
		start, end := at, min(len(f.lines)-1, at.line+n)
		if first := firstChar(&f.text, at.line); end == at.line && c.op != 'y' && first.before(at) {
			start = first
		}
		return area{start: start, end: pos{end, at.col}, lines: true}, true
	case c.kind != 0:
		a, ok := object(&f.text, at, c.kind, c.arg, c.repeats())
		if ok && a.exclusive {
			a = adjusted(&f.text, a)
		}
		return a, ok
	}
	m, ok := v.motion(f, c, false)
	v.goal = 0
	if ok && m.short {
		f.caret = m.to
	}
	if !ok || m.short {
		return area{}, false
	}
	a := area{start: at, end: m.to, lines: m.lines}
	if a.end.before(a.start) {
		a.start, a.end = a.end, a.start
	}
	switch {
	case a.lines:
		return a, true
	case m.inclusive:
		a.end = lineRight(&f.text, a.end)
		return a, true
	}
	return adjusted(&f.text, a), true
}

// adjusted returns the area of an exclusive motion. If it ends at the start of a line, it is
// shortened to the end of the previous line; if it also begins at or before the first non-blank
// character, it becomes linewise.
func adjusted(t *text, a area) area {
	if a.end.col != 0 || a.end.line == a.start.line {
		return a
	}
	a.end.line--
	if indented(t, a.start) {
		a.lines = true
		return a
	}
	a.end.col = len(t.lines[a.end.line].runes)
	return a
}

// apply executes an operator on an area.
func (v *vim) apply(f *Field, c command, a area) {
	switch c.op {
	case 'y':
		v.keep(f, a)
		f.caret = a.start
	case 'd':
		v.delete(f, spread(&f.text, a, v.mode))
	case 'c':
		v.keep(f, a)
		a = a.inside(f, a.lines)
		f.change(a.start, a.end, nil, apart)
		f.caret = f.snap(a.start)
		v.insert(f, c)
	case '>', '<':
		shift(f, a, c.op)
	case 'u', 'U', '~':
		letters(f, a, map[rune]func(rune) rune{'u': unicode.ToLower, 'U': unicode.ToUpper, '~': swapCase}[c.op])
	}
}

// inside returns a linewise area without its last line end, so that a line remains.
func (a area) inside(f *Field, lines bool) area {
	if lines {
		a.start.col, a.end.col = 0, len(f.lines[a.end.line].runes)
		a.lines = false
	}
	return a
}

// spread returns the area that d deletes: a multi-line area becomes linewise if only blanks
// would remain.
func spread(t *text, a area, m mode) area {
	if a.lines || m != normal || a.start.line == a.end.line {
		return a
	}
	rest := t.lines[a.end.line].runes[a.end.col:]
	a.lines = indent(rest) == len(rest) && indented(t, a.start)
	return a
}

// A register holds the last deleted or copied text.
type register struct {
	text  []rune
	lines bool // linewise
}

// keep stores an area in the register.
func (r *register) keep(f *Field, a area) {
	r.lines = a.lines
	if a.lines {
		a = a.inside(f, true)
	}
	r.text = f.slice(a.start, a.end)
}

// delete removes an area and stores it in the register.
func (r *register) delete(f *Field, a area) {
	if !a.lines && a.start == a.end {
		f.caret = a.start
		return
	}
	r.keep(f, a)
	if !a.lines {
		f.change(a.start, a.end, nil, apart)
		return
	}
	from, to := pos{a.start.line, 0}, pos{a.end.line + 1, 0}
	switch {
	case a.end.line < len(f.lines)-1:
	case a.start.line > 0: // also remove the preceding line end
		from, to = pos{a.start.line - 1, len(f.lines[a.start.line-1].runes)}, f.end()
	default:
		to = f.end()
	}
	f.change(from, to, nil, apart)
	f.caret = firstChar(&f.text, min(a.start.line, len(f.lines)-1))
}

// shiftWidth is the number of blanks that > inserts.
const shiftWidth = 2

// shift indents or unindents lines.
func shift(f *Field, a area, op rune) {
	for line := a.start.line; line <= a.end.line; line++ {
		runes := f.lines[line].runes
		n := indent(runes)
		switch {
		case len(runes) == 0:
		case op == '>':
			f.change(pos{line, n}, pos{line, n}, []rune(strings.Repeat(" ", shiftWidth)), apart)
		default:
			f.change(pos{line, max(0, n-shiftWidth)}, pos{line, n}, nil, apart)
		}
	}
	f.caret = firstChar(&f.text, a.start.line)
}

// letters maps the letters of an area.
func letters(f *Field, a area, to func(rune) rune) {
	start := a.start
	if a.lines {
		a = a.inside(f, true)
	}
	runes := f.slice(a.start, a.end)
	for i, r := range runes {
		if !isFold(r) {
			runes[i] = to(r)
		}
	}
	f.change(a.start, a.end, runes, apart)
	f.caret = start
}

// insert begins an insertion.
func (v *vim) insert(f *Field, c command) {
	v.mode, v.typed, v.began = insert, nil, c
	if v.began.name == 0 {
		v.began.name = 'c'
	}
	if v.began.op != 0 || strings.ContainsRune("sSC", c.name) {
		v.began.count, v.began.more = 1, 0 // the count applies to the deletion, not the typed text
	}
	v.last = c
}

// simple executes a command that is neither a motion nor an operator.
func (v *vim) simple(f *Field, c command) {
	at, n := f.caret, c.repeats()
	runes := f.lines[at.line].runes
	end := pos{at.line, len(runes)}
	switch c.name {
	case 'x', 'X', 's', 'D', 'C', 'S', 'Y':
		v.short(f, c)
	case 'r':
		overwrite(f, c.arg, n)
	case '~':
		to := at
		for range n {
			to = lineRight(&f.text, to)
		}
		letters(f, area{start: at, end: to}, swapCase)
		f.caret = to
	case 'J':
		join(f, max(2, n))
	case 'p', 'P':
		v.put(f, c.name == 'p', n)
	case 'u':
		for range n {
			f.undo()
		}
	case 'v', 'V':
		v.anchor, v.mode = at, visual
		if c.name == 'V' {
			v.mode = visualLines
		}
	case 'o', 'O':
		v.openLine(f, c)
	default:
		f.caret = map[rune]pos{'i': at, 'I': {at.line, indent(runes)}, 'a': lineRight(&f.text, at), 'A': end}[c.name]
		v.insert(f, c)
	}
}

// short executes a command that abbreviates an operator with a motion.
func (v *vim) short(f *Field, c command) {
	long := map[rune]command{
		'x': {op: 'd', motion: 'l'}, 'X': {op: 'd', motion: 'h'}, 's': {op: 'c', motion: 'l'}, 'D': {op: 'd', motion: '$'},
		'C': {op: 'c', motion: '$'}, 'S': {op: 'c', motion: 'c'}, 'Y': {op: 'y', motion: 'y'},
	}[c.name]
	long.count = c.count
	v.operate(f, long)
	if v.mode == insert {
		v.insert(f, c)
	}
}

// openLine begins an insertion in a new line below or above.
func (v *vim) openLine(f *Field, c command) {
	at := pos{f.caret.line, len(f.lines[f.caret.line].runes)}
	if c.name == 'O' {
		at.col = 0
	}
	f.change(at, at, []rune{'\n'}, apart)
	if c.name == 'O' {
		f.caret = at
	}
	v.insert(f, c)
}

// overwrite replaces the next n characters with r.
func overwrite(f *Field, r rune, n int) {
	to, from := f.caret, f.caret
	for range n {
		next := lineRight(&f.text, to)
		if next == to {
			return
		}
		to = next
	}
	f.change(from, to, slices.Repeat([]rune{r}, n), apart)
	f.caret = pos{from.line, max(0, from.col+n-1)}
	f.caret = f.snap(f.caret)
}

// join joins n lines.
func join(f *Field, n int) {
	line := f.caret.line
	if line == len(f.lines)-1 {
		return
	}
	for range min(n, len(f.lines)-line) - 1 {
		runes, next := f.lines[line].runes, f.lines[line+1].runes
		skip := indent(next)
		var space []rune
		if rest := next[skip:]; len(rest) > 0 && rest[0] != ')' && len(runes) > 0 && !isBlank(runes[len(runes)-1]) {
			space = []rune{' '}
		}
		at := pos{line, len(runes)}
		f.change(at, pos{line + 1, skip}, space, apart)
		f.caret = f.snap(at)
	}
}

// maxPut limits the text inserted by one command, in characters.
const maxPut = 1 << 20

// put inserts the register n times after the caret, or before it.
func (r *register) put(f *Field, after bool, n int) {
	if len(r.text) == 0 && !r.lines {
		return
	}
	n = max(1, min(n, maxPut/(len(r.text)+1)))
	at := f.caret
	if !r.lines {
		if after {
			at = lineRight(&f.text, at)
		}
		put := slices.Repeat(r.text, n)
		f.change(at, at, put, apart)
		if !slices.Contains(put, '\n') {
			f.caret = f.left(f.caret)
		} else {
			f.caret = f.snap(at)
		}
		return
	}
	lines := slices.Repeat(append(slices.Clone(r.text), '\n'), n)
	if after {
		at = pos{at.line, len(f.lines[at.line].runes)}
		f.change(at, at, append([]rune{'\n'}, lines[:len(lines)-1]...), apart)
		f.caret = firstChar(&f.text, at.line+1)
		return
	}
	at = pos{at.line, 0}
	f.change(at, at, lines, apart)
	f.caret = firstChar(&f.text, at.line)
}

// selected executes a command in visual mode.
func (v *vim) selected(f *Field, c command) {
	switch {
	case c.kind != 0:
		if a, ok := object(&f.text, f.caret, c.kind, c.arg, c.repeats()); ok {
			v.anchor, f.caret = a.start, a.end
			if !a.lines && a.start.before(a.end) {
				f.caret = f.left(a.end)
			}
			if a.lines {
				v.mode = visualLines
			}
		}
		return
	case c.motion != 0:
		v.move(f, c)
		return
	case c.name == 'o':
		v.anchor, f.caret = f.caret, v.anchor
		return
	case c.name == 'v' || c.name == 'V':
		v.switchSelection(c.name)
		return
	}
	a := area{start: v.anchor, end: f.caret, lines: v.mode == visualLines}
	if a.end.before(a.start) {
		a.start, a.end = a.end, a.start
	}
	if !a.lines {
		a.end = f.right(a.end) // also remove a selected line end
	}
	v.finish(f, c, a)
}

// switchSelection switches between characterwise and linewise selection, or ends the selection.
func (v *vim) switchSelection(name rune) {
	to := map[rune]mode{'v': visual, 'V': visualLines}[name]
	if v.mode == to {
		to = normal
	}
	v.mode = to
}

// finish executes a command on the selection and ends it.
func (v *vim) finish(f *Field, c command, a area) {
	op := c.op
	switch c.name {
	case 'x':
		op = 'd'
	case 's':
		op = 'c'
	case 'X', 'D', 'Y', 'C', 'S', 'R':
		op, a.lines = map[rune]rune{'X': 'd', 'D': 'd', 'Y': 'y', 'C': 'c', 'S': 'c', 'R': 'c'}[c.name], true
	case 'u', 'U', '~':
		op = c.name
	}
	if a.lines && a.end.col == 0 && a.end.line > f.caret.line && a.end.line > v.anchor.line {
		a.end.line-- // the line end that was added
	}
	v.mode = visual
	switch {
	case op != 0:
		v.apply(f, command{op: op}, a)
	case c.name == 'J':
		f.caret = a.start
		join(f, max(2, a.end.line-a.start.line+1))
	case c.name == 'r':
		letters(f, a, func(r rune) rune {
			if r == '\n' {
				return r
			}
			return c.arg
		})
		f.caret = a.start
	case c.name == 'p' || c.name == 'P':
		v.replace(f, a)
	}
	if v.mode == visual {
		v.mode = normal
	}
}

// replace replaces the selection with the register, and stores the selection in the register.
func (r *register) replace(f *Field, a area) {
	was, lines := r.text, r.lines
	a = a.inside(f, a.lines)
	r.keep(f, a)
	if lines && !a.lines && a.start.col > 0 {
		was = append([]rune{'\n'}, was...)
	}
	f.change(a.start, a.end, was, apart)
	if slices.Contains(was, '\n') {
		f.caret = f.snap(a.start)
	} else {
		f.caret = f.left(f.caret)
	}
}
