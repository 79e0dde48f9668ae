// Package screentest is a terminal for tests. It knows the control sequences that package screen writes, and reports any
// other.
package screentest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/platform/cells"
)

// A Terminal shows what is written to it. It is safe for concurrent use.
type Terminal struct {
	mu            sync.Mutex
	width, height int
	history       []string
	lines         [][]rune // of the screen; a wide character is followed by a 0
	row, col      int
	rest          string
	written       int
	problems      []string
}

// New returns an empty terminal.
func New(width, height int) *Terminal {
	return &Terminal{width: width, height: height, lines: make([][]rune, height)}
}

// Write implements [io.Writer]. Line feeds begin a new line, as they do in a terminal that treats output as text.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written += len(p)
	text := t.rest + string(p)
	t.rest = ""
	for text != "" {
		if text[0] == '\x1b' {
			n := t.control(text)
			if n == 0 {
				t.rest = text
				break
			}
			text = text[n:]
			continue
		}
		if !utf8.FullRuneInString(text) {
			t.rest = text
			break
		}
		r, n := utf8.DecodeRuneInString(text)
		t.put(r)
		text = text[n:]
	}
	return len(p), nil
}

var sequence = regexp.MustCompile(`^\x1b\[(\??)([0-9;]*)([@-~])`)

// control obeys the sequence that text begins with and returns its length, or 0 if it is not complete.
func (t *Terminal) control(text string) int {
	m := sequence.FindStringSubmatch(text)
	if m == nil {
		if len(text) > 20 {
			t.problems = append(t.problems, fmt.Sprintf("unknown sequence %q", text[:20]))
			return 1
		}
		return 0
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		n = 1
	}
	switch m[1] + m[3] {
	case "m":
	case "K":
		if m[2] == "" && t.col < len(t.lines[t.row]) {
			t.lines[t.row] = t.lines[t.row][:t.col]
		}
	case "A":
		t.row = max(0, t.row-n)
	case "B":
		t.row = min(t.height-1, t.row+n)
	case "G":
		t.col = min(t.width, n) - 1
	case "?h", "?l":
		switch m[2] {
		case "2026", "2004", "25":
		default:
			t.problems = append(t.problems, fmt.Sprintf("unknown mode %q", m[0]))
		}
	default:
		t.problems = append(t.problems, fmt.Sprintf("unknown sequence %q", m[0]))
	}
	return len(m[0])
}

func (t *Terminal) put(r rune) {
	switch {
	case r == '\n':
		t.col = 0
		t.feed()
	case r == '\r':
		t.col = 0
	case r == '\b':
		t.col = max(0, t.col-1)
	case r == '\t':
		t.col = min(t.width-1, t.col+8-t.col%8)
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		t.problems = append(t.problems, fmt.Sprintf("control character %q", r))
	default:
		t.show(r)
	}
}

func (t *Terminal) show(r rune) {
	w := cells.Of(r)
	if w == 0 {
		return
	}
	if t.col+w > t.width { // the line goes on in the next row
		t.col = 0
		t.feed()
	}
	line := t.lines[t.row]
	for len(line) < t.col+w {
		line = append(line, ' ')
	}
	line[t.col] = r
	if w == 2 {
		line[t.col+1] = 0
	}
	t.lines[t.row] = line
	t.col += w
}

// feed goes down one row, and scrolls at the end.
func (t *Terminal) feed() {
	if t.row < t.height-1 {
		t.row++
		return
	}
	t.history = append(t.history, text(t.lines[0]))
	t.lines = append(t.lines[1:], nil)
}

// Resize changes the size of the terminal and breaks no lines: what is too long is cut.
func (t *Terminal) Resize(width, height int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.width = width
	for i, line := range t.lines {
		t.lines[i] = line[:min(width, len(line))]
	}
	for t.height > height {
		if t.row == t.height-1 {
			t.history = append(t.history, text(t.lines[0]))
			t.lines = t.lines[1:]
			t.row--
		} else {
			t.lines = t.lines[:len(t.lines)-1]
		}
		t.height--
	}
	for ; t.height < height; t.height++ {
		t.lines = append(t.lines, nil)
	}
	t.col = min(t.col, width-1)
}

// Text returns all that was written, also what has scrolled away, without empty lines at the end.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := append([]string{}, t.history...)
	for _, line := range t.lines {
		all = append(all, text(line))
	}
	return strings.TrimRight(strings.Join(all, "\n"), "\n")
}

// Screen returns the rows of the screen.
func (t *Terminal) Screen() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var rows []string
	for _, line := range t.lines {
		rows = append(rows, text(line))
	}
	return rows
}

// Cursor returns the row and the column of the cursor, from 0.
func (t *Terminal) Cursor() (row, col int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.row, t.col
}

// Written returns how many bytes were written.
func (t *Terminal) Written() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}

// Problems returns what the terminal did not understand.
func (t *Terminal) Problems() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.problems
}

func text(line []rune) string {
	return strings.TrimRight(strings.ReplaceAll(string(line), "\x00", ""), " ")
}
