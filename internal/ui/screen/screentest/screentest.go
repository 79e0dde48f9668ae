// Package screentest implements a terminal for tests. It supports the control sequences written
// by package screen and the packages that use it, and reports any other.
package screentest

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/platform/term/cells"
)

// A Terminal emulates a terminal. It is safe for concurrent use.
type Terminal struct {
	// Reflows enables reflowing of lines when the width changes, as in most terminals. It must
	// be set before the first write.
	Reflows bool

	mu            sync.Mutex
	width, height int
	history       []line
	lines         []line // lines on the screen
	row, col      int
	style         string
	rest          string
	written       int
	problems      []string
	below         *below // main screen while the alternate screen is shown, otherwise nil
	hidden        bool   // the cursor is hidden
}

// below is the main screen while the alternate screen is shown.
type below struct {
	lines    []line
	row, col int
}

// A line is a row of the terminal.
type line struct {
	cells  []cell
	broken bool // continues in the next row
}

// A cell holds a character. A wide character is followed by an empty cell.
type cell struct {
	char  rune
	style string
}

// New returns an empty terminal.
func New(width, height int) *Terminal {
	return &Terminal{width: width, height: height, lines: make([]line, height)}
}

// Write implements [io.Writer]. A line feed begins a new line, as with terminal output
// processing.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written += len(p)
	text := t.rest + string(p)
	t.rest = ""
	for text != "" {
		n := 0
		if text[0] == 0x1b {
			n = t.control(text)
		} else if utf8.FullRuneInString(text) {
			var r rune
			r, n = utf8.DecodeRuneInString(text)
			t.put(r)
		}
		if n == 0 {
			t.rest = text
			break
		}
		text = text[n:]
	}
	return len(p), nil
}

func (t *Terminal) put(r rune) {
	switch {
	case r == '\n':
		t.lines[t.row].broken = false
		t.col = 0
		t.feed()
	case r == '\r':
		t.col = 0
	case r == '\b':
		t.col = max(0, min(t.col, t.width-1)-1)
	case r == '\t':
		t.col = min(t.width-1, t.col+8-t.col%8)
	case r == '\a':
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		t.problem("control character %q", string(r))
	default:
		t.show(r)
	}
}

func (t *Terminal) show(r rune) {
	w := cells.Of(r)
	if w == 0 {
		return
	}
	if t.col+w > t.width { // the line continues in the next row
		t.lines[t.row].broken = true
		t.col = 0
		t.feed()
	}
	row := t.lines[t.row].cells
	for len(row) < t.col+w {
		row = append(row, cell{char: ' '})
	}
	row[t.col] = cell{r, t.style}
	if w == 2 {
		row[t.col+1] = cell{}
	}
	t.lines[t.row].cells = row
	t.col += w
}

// feed moves down one row, and scrolls at the end.
func (t *Terminal) feed() {
	if t.row < t.height-1 {
		t.row++
		return
	}
	if t.below == nil {
		t.history = append(t.history, t.lines[0])
	}
	t.lines = append(t.lines[1:], line{})
}

// alternate switches to the alternate screen, which begins empty, or back.
func (t *Terminal) alternate(on bool) {
	switch {
	case on == (t.below != nil):
		t.problem("the alternate screen is entered or left twice")
	case on:
		t.below = &below{t.lines, t.row, t.col}
		t.lines = make([]line, t.height)
	default:
		t.lines, t.row, t.col = t.below.lines, t.below.row, t.below.col
		t.below = nil
	}
}

// Resize changes the terminal size. Without Reflows, long lines are cut.
func (t *Terminal) Resize(width, height int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.below == nil {
		t.resize(width, height)
		return
	}
	// The alternate screen is cleared; the main screen is resized as usual.
	t.lines, t.row, t.col, t.below = t.below.lines, t.below.row, t.below.col, nil
	t.resize(width, height)
	t.below = &below{t.lines, t.row, t.col}
	t.lines, t.row, t.col = make([]line, height), min(t.row, height-1), 0
}

func (t *Terminal) resize(width, height int) {
	t.col = min(t.col, t.width-1)
	if t.Reflows {
		t.reflow(width, height)
		return
	}
	t.width = width
	for i := range t.lines {
		t.lines[i].cells = t.lines[i].cells[:min(width, len(t.lines[i].cells))]
	}
	for t.height > height {
		if t.row == t.height-1 {
			t.history = append(t.history, t.lines[0])
			t.lines = t.lines[1:]
			t.row--
		} else {
			t.lines = t.lines[:len(t.lines)-1]
		}
		t.height--
	}
	for ; t.height < height; t.height++ {
		t.lines = append(t.lines, line{})
	}
	t.col = min(t.col, width-1)
}

// reflow reflows all lines. The cursor stays at its character.
func (t *Terminal) reflow(width, height int) {
	all := append(t.history, t.lines...)
	cursor := len(t.history) + t.row
	var rows []line
	row, col := 0, 0
	for i := 0; i < len(all); {
		var whole []cell
		at := -1 // cursor offset in the line
		for {
			if i == cursor {
				at = len(whole) + t.col
			}
			whole = append(whole, all[i].cells...)
			if i++; i == len(all) || !all[i-1].broken {
				break
			}
		}
		first := len(rows)
		for {
			n := min(width, len(whole))
			rows = append(rows, line{whole[:n:n], n < len(whole)})
			if whole = whole[n:]; len(whole) == 0 {
				break
			}
		}
		if at >= 0 {
			row, col = min(first+at/width, len(rows)-1), at%width
			for len(rows) <= first+at/width {
				rows = append(rows, line{})
				row++
			}
		}
	}
	for len(rows) > row+1 && len(rows[len(rows)-1].cells) == 0 {
		rows = rows[:len(rows)-1]
	}
	top := min(max(0, len(rows)-height), row)
	t.history, t.lines = rows[:top:top], rows[top:min(len(rows), top+height)]
	t.width, t.height, t.row, t.col = width, height, row-top, col
	for len(t.lines) < height {
		t.lines = append(t.lines, line{})
	}
}

// Text returns all lines including the scrollback, without trailing empty lines.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, l := range append(t.history[:len(t.history):len(t.history)], t.lines...) {
		all = append(all, l.text())
	}
	return strings.TrimRight(strings.Join(all, "\n"), "\n")
}

// Screen returns the rows of the screen.
func (t *Terminal) Screen() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var rows []string
	for _, l := range t.lines {
		rows = append(rows, l.text())
	}
	return rows
}

// Styles returns the rows of the screen with each style's parameters in braces before the
// styled text.
func (t *Terminal) Styles() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var rows []string
	for _, l := range t.lines {
		text, style := "", ""
		for _, c := range l.cells {
			if c.style != style && c.char != 0 {
				style = c.style
				text += "{" + style + "}"
			}
			if c.char != 0 {
				text += string(c.char)
			}
		}
		rows = append(rows, strings.TrimRight(text, " "))
	}
	return rows
}

// Cursor returns the cursor's row and column, from 0.
func (t *Terminal) Cursor() (row, col int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.row, t.col
}

// Alternate reports whether the alternate screen is shown.
func (t *Terminal) Alternate() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.below != nil
}

// Hidden reports whether the cursor is hidden.
func (t *Terminal) Hidden() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hidden
}

// Written returns the number of bytes written.
func (t *Terminal) Written() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}

// Problems returns the unknown or invalid sequences.
func (t *Terminal) Problems() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rest != "" {
		return append(t.problems[:len(t.problems):len(t.problems)], fmt.Sprintf("unfinished %q", t.rest))
	}
	return t.problems
}

func (t *Terminal) problem(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

func (l line) text() string {
	var b strings.Builder
	for _, c := range l.cells {
		if c.char != 0 {
			b.WriteRune(c.char)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
