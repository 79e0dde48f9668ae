// Package svg draws terminal screens as SVG pictures, still or animated. A [Terminal] interprets
// what package screen and the front ends write.
package svg

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/term/cells"
)

// A Terminal is a terminal without a window. It supports what package screen writes, and ignores
// other control sequences. It is safe for concurrent use.
type Terminal struct {
	width, height int

	mu     sync.Mutex
	now    Screen
	pen    style
	rest   []byte  // incomplete sequence or character
	behind *Screen // main screen while the alternate screen is shown, otherwise nil
}

// NewTerminal returns an empty terminal.
func NewTerminal(width, height int) *Terminal {
	return &Terminal{width: width, height: height, now: newScreen(width, height)}
}

// A Screen is the content of a terminal at one time.
type Screen struct {
	width    int
	rows     [][]cell
	row, col int // cursor
	hidden   bool
}

func newScreen(width, height int) Screen { return Screen{width: width, rows: make([][]cell, height)} }

// clone returns an independent copy.
func (s Screen) clone() Screen {
	s.rows = slices.Clone(s.rows)
	for i, row := range s.rows {
		s.rows[i] = slices.Clone(row)
	}
	return s
}

// A cell holds a character with its combining marks. A wide one is followed by an empty cell.
type cell struct {
	text  string
	style style
}

// A style is how a cell looks.
type style struct {
	text, ground                                      colour
	bold, faint, italic, underlined, struck, inverted bool
}

// A colour is 0 for the default, indexed|n for a color of the palette, or direct|0xrrggbb.
type colour uint32

const (
	indexed colour = 1 << 24
	direct  colour = 2 << 24
)

// Screen returns the current content.
func (t *Terminal) Screen() Screen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.clone()
}

// Write implements [io.Writer]. A line feed begins a new line, as with terminal output processing.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := append(t.rest, p...)
	for len(text) > 0 {
		n := t.take(text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	t.rest = slices.Clone(text)
	if len(t.rest) > maxSequence { // not a sequence of ours
		t.rest = nil
	}
	return len(p), nil
}

// maxSequence is the maximum length of a control sequence.
const maxSequence = 128 << 10

// take executes the character or sequence that text begins with and returns its length, or 0 if
// it is incomplete.
func (t *Terminal) take(text []byte) int {
	switch c := text[0]; {
	case c == 0x1b:
		return t.sequence(text)
	case !utf8.FullRune(text):
		return 0
	case c == '\n':
		t.now.col = 0
		t.feed()
	case c == '\r':
		t.now.col = 0
	case c == '\b':
		t.now.col = max(0, t.now.col-1)
	case c == '\t':
		t.now.col = min(t.width-1, t.now.col+8-t.now.col%8)
	default:
		r, n := utf8.DecodeRune(text)
		if unicode.IsPrint(r) || cells.Of(r) == 0 {
			t.show(r)
		}
		return n
	}
	return 1
}

// sequence executes a control sequence.
func (t *Terminal) sequence(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			if c := text[i]; c >= 0x40 && c < 0x7f {
				t.control(string(text[2:i]), c)
				return i + 1
			}
		}
		return 0
	case ']', 'P', '_', '^': // ends in BEL or ESC \
		for i := 2; i < len(text); i++ {
			if text[i] == '\a' {
				return i + 1
			}
			if text[i] == 0x1b && i+1 < len(text) {
				return i + 2
			}
		}
		return 0
	}
	return 2
}

// control executes a CSI sequence.
func (t *Terminal) control(parameters string, final byte) {
	s := &t.now
	n, err := strconv.Atoi(parameters)
	if err != nil || n < 1 {
		n = 1
	}
	switch final {
	case 'm':
		if parameters == "" || parameters[0] < '<' || parameters[0] > '?' { // otherwise a private sequence
			t.pen.set(parameters)
		}
	case 'A':
		s.row = max(0, s.row-n)
	case 'B':
		s.row = min(t.height-1, s.row+min(n, t.height))
	case 'G':
		s.col = min(t.width, n) - 1
	case 'K':
		t.erase(s.row, s.col)
	case 'J':
		t.erase(s.row, s.col)
		for i := s.row + 1; i < t.height; i++ {
			t.erase(i, 0)
		}
	case 'L':
		n = min(n, t.height-s.row)
		s.rows = slices.Insert(s.rows[:t.height-n], s.row, make([][]cell, n)...)
		s.col = 0
	case 'h', 'l':
		t.mode(parameters, final == 'h')
	}
}

// mode sets or resets a private mode.
func (t *Terminal) mode(name string, on bool) {
	switch {
	case name == "?25":
		t.now.hidden = !on
	case name == "?1049" && on && t.behind == nil:
		main := t.now
		t.behind, t.now = &main, newScreen(t.width, t.height)
	case name == "?1049" && !on && t.behind != nil:
		t.now, t.behind = *t.behind, nil
	}
}

// erase erases a row from a column, in the current background.
func (t *Terminal) erase(row, col int) {
	line := t.now.rows[row]
	line = line[:min(col, len(line))]
	if ground := t.pen.ground; ground != 0 {
		for len(line) < t.width {
			blank := cell{text: " "}
			if len(line) >= col {
				blank.style.ground = ground
			}
			line = append(line, blank)
		}
	}
	t.now.rows[row] = line
}

// show writes a character at the cursor.
func (t *Terminal) show(r rune) {
	s, w := &t.now, cells.Of(r)
	if w == 0 {
		if row := s.rows[s.row]; s.col > 0 && s.col <= len(row) {
			row[s.col-1].text += string(r)
		}
		return
	}
	if s.col+w > t.width { // the line continues in the next row
		s.col = 0
		t.feed()
	}
	row := s.rows[s.row]
	for len(row) < s.col+w {
		row = append(row, cell{text: " "})
	}
	row[s.col] = cell{string(r), t.pen}
	if w == 2 {
		row[s.col+1] = cell{style: t.pen}
	}
	s.rows[s.row] = row
	s.col += w
}

// feed moves down one row, and scrolls at the end.
func (t *Terminal) feed() {
	if t.now.row < t.height-1 {
		t.now.row++
		return
	}
	t.now.rows = append(t.now.rows[1:], nil)
}

// set applies the parameters of a style sequence.
func (s *style) set(parameters string) {
	var list []int
	for _, part := range strings.FieldsFunc(parameters, func(r rune) bool { return r == ';' || r == ':' }) {
		n, _ := strconv.Atoi(part) // ok: 0 resets
		list = append(list, n)
	}
	if len(list) == 0 {
		list = []int{0}
	}
	for i := 0; i < len(list); i++ {
		switch n := list[i]; {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 3:
			s.italic = true
		case n == 4:
			s.underlined = true
		case n == 7:
			s.inverted = true
		case n == 9:
			s.struck = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 23:
			s.italic = false
		case n == 24:
			s.underlined = false
		case n == 27:
			s.inverted = false
		case n == 29:
			s.struck = false
		case n == 38 || n == 48:
			c, used := extended(list[i+1:])
			if i += used; n == 38 {
				s.text = c
			} else {
				s.ground = c
			}
		case n == 39:
			s.text = 0
		case n == 49:
			s.ground = 0
		case n >= 30 && n < 38:
			s.text = indexed | colour(n-30)
		case n >= 40 && n < 48:
			s.ground = indexed | colour(n-40)
		case n >= 90 && n < 98:
			s.text = indexed | colour(n-90+8)
		case n >= 100 && n < 108:
			s.ground = indexed | colour(n-100+8)
		}
	}
}

// extended returns the color in the parameters after 38 or 48, and how many it takes.
func extended(list []int) (c colour, used int) {
	switch {
	case len(list) >= 2 && list[0] == 5:
		return indexed | colour(list[1]&0xff), 2
	case len(list) >= 4 && list[0] == 2:
		return direct | colour(list[1]&0xff)<<16 | colour(list[2]&0xff)<<8 | colour(list[3]&0xff), 4
	}
	return 0, len(list)
}
