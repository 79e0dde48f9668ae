package lineedit

import (
	"slices"
	"strings"
	"unicode"

	"adze/internal/platform/cells"
)

// An Editor holds the input that the user is typing. Its methods return what has to be written to the
// terminal. Typing at the end writes just what is typed, so that a screen reader reads it once.
type Editor struct {
	// Prompt stands before the first line and More before those that follow.
	Prompt, More string
	// Width returns the room on a line; nil, or less than 20, means 80.
	Width func() int
	// Complete returns what Tab makes of the input, or the input itself. It may be nil.
	Complete func(text string) string
	// History is what was entered before, oldest first.
	History []string

	lines []string // complete lines before the one that is edited
	line  []rune
	pos   int // of the cursor in line
	off   int // first rune of line that is shown
	shown int // places that are written after the prompt

	past  int    // how many entries of the history back
	draft string // what was typed before going back
}

// An Event is what a key asks for beyond editing.
type Event int

// The events.
const (
	None Event = iota
	Submit
	Cancel // Ctrl-C
	Leave  // Ctrl-D without input
	Stop   // Ctrl-Z
)

// Text returns the input.
func (e *Editor) Text() string {
	return strings.Join(append(slices.Clip(e.lines), string(e.line)), "\n")
}

// Empty reports whether nothing was typed.
func (e *Editor) Empty() bool { return len(e.lines) == 0 && len(e.line) == 0 }

// Clear forgets the input. Nothing is written.
func (e *Editor) Clear() {
	e.lines, e.line, e.pos, e.off, e.shown = nil, nil, 0, 0, 0
	e.past, e.draft = 0, ""
}

// Open writes the prompt and the input, on a line of its own.
func (e *Editor) Open() string {
	var b strings.Builder
	for i, line := range e.lines {
		b.WriteString(e.prompt(i) + spell([]rune(line)) + "\n")
	}
	e.shown = 0
	return b.String() + e.redraw()
}

// Press takes a key.
func (e *Editor) Press(k Key) (out string, ev Event) {
	switch k.Code {
	case Rune:
		return e.insert(k.Text), None
	case Paste:
		return e.paste(k.Text), None
	case Enter:
		return e.enter()
	case NewLine:
		return e.newLine(), None
	case Interrupt:
		return "", Cancel
	case Suspend:
		return "", Stop
	case EOF:
		if e.Empty() {
			return "", Leave
		}
		return e.remove(e.pos, e.pos+1), None
	case Tab:
		if e.Complete != nil {
			return e.replace(e.Complete(e.Text())), None
		}
	case Up, Down:
		return e.recall(k.Code), None
	default:
		return e.edit(k.Code), None
	}
	return "", None
}

// edit moves the cursor or removes something.
func (e *Editor) edit(c Code) string {
	switch c {
	case Backspace:
		if e.pos == 0 {
			return e.join()
		}
		return e.remove(e.pos-1, e.pos)
	case Delete:
		return e.remove(e.pos, e.pos+1)
	case Left, Back:
		return e.move(e.pos - 1)
	case Right:
		return e.move(e.pos + 1)
	case Home:
		return e.move(0)
	case End:
		return e.move(len(e.line))
	case KillBack:
		return e.remove(0, e.pos)
	case KillEnd:
		return e.remove(e.pos, len(e.line))
	case KillWord:
		return e.remove(e.wordStart(), e.pos)
	}
	return ""
}

func (e *Editor) enter() (string, Event) {
	if n := len(e.line); n > 0 && e.line[n-1] == '\\' && e.pos == n {
		e.line = e.line[:n-1]
		e.pos--
		return e.newLine(), None
	}
	return e.move(len(e.line)) + "\n", Submit
}

// newLine breaks the line at the cursor.
func (e *Editor) newLine() string {
	rest := slices.Clone(e.line[e.pos:])
	out := e.remove(e.pos, len(e.line)) + "\n"
	e.lines = append(e.lines, string(e.line))
	e.line, e.pos, e.off, e.shown = rest, 0, 0, 0
	return out + e.redraw()
}

// join takes the line before back to edit it, together with this one, below them both.
func (e *Editor) join() string {
	n := len(e.lines)
	if n == 0 {
		return ""
	}
	before := []rune(e.lines[n-1])
	e.lines = e.lines[:n-1]
	e.line, e.pos, e.off, e.shown = append(before, e.line...), len(before), 0, 0
	return "\n" + e.redraw()
}

func (e *Editor) insert(text string) string {
	runes := []rune(text)
	atEnd := e.pos == len(e.line)
	e.line = slices.Insert(e.line, e.pos, runes...)
	e.pos += len(runes)
	safe := spell(runes)
	if places := cells.Width(safe); atEnd && e.shown+places < e.room() {
		e.shown += places
		return safe
	}
	return e.redraw()
}

// paste inserts text with its line ends.
func (e *Editor) paste(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteString(e.newLine())
		}
		out.WriteString(e.insert(line))
	}
	return out.String()
}

func (e *Editor) remove(from, to int) string {
	to = min(to, len(e.line))
	if from >= to {
		return ""
	}
	gone := e.line[from:to]
	lastOne := to == len(e.line) && to == e.pos && to-from == 1 && e.off == 0
	places := places(gone)
	e.line = slices.Delete(e.line, from, to)
	e.pos = from
	if lastOne {
		e.shown -= places
		return strings.Repeat("\b", places) + strings.Repeat(" ", places) + strings.Repeat("\b", places)
	}
	return e.redraw()
}

func (e *Editor) move(to int) string {
	to = max(0, min(to, len(e.line)))
	if to == e.pos {
		return ""
	}
	e.pos = to
	return e.redraw()
}

func (e *Editor) wordStart() int {
	i := e.pos
	for i > 0 && unicode.IsSpace(e.line[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.line[i-1]) {
		i--
	}
	return i
}

// recall goes back or forward in the history.
func (e *Editor) recall(c Code) string {
	past := e.past + 1
	if c == Down {
		past = e.past - 1
	}
	if past < 0 || past > len(e.History) {
		return ""
	}
	if e.past == 0 {
		e.draft = e.Text()
	}
	text := e.draft
	if past > 0 {
		text = e.History[len(e.History)-past]
	}
	out := e.replace(text)
	e.past = past
	return out
}

// replace makes text the input.
func (e *Editor) replace(text string) string {
	if text == e.Text() {
		return ""
	}
	several := len(e.lines) > 0 || strings.Contains(text, "\n")
	lines := strings.Split(text, "\n")
	e.lines = lines[:len(lines)-1]
	e.line = []rune(lines[len(lines)-1])
	e.pos, e.off = len(e.line), 0
	if several {
		return "\n" + e.Open()
	}
	return e.redraw()
}

func (e *Editor) prompt(line int) string {
	if line > 0 {
		return e.More
	}
	return e.Prompt
}

// room returns the places for the line after its prompt; the last place of all stays free, because
// terminals differ in what they do when it is used.
func (e *Editor) room() int {
	w := 0
	if e.Width != nil {
		w = e.Width()
	}
	if w < 20 {
		w = 80
	}
	return max(8, w-cells.Width(e.prompt(len(e.lines)))-1)
}

// redraw writes the line over itself, so much of it as there is room for, and puts the cursor in
// its place.
func (e *Editor) redraw() string {
	room := e.room()
	e.off = min(e.off, e.pos)
	for places(e.line[e.off:e.pos]) >= room {
		e.off++
	}
	end, used := e.off, 0
	for end < len(e.line) {
		n := places(e.line[end : end+1])
		if used+n >= room {
			break
		}
		used += n
		end++
	}
	before, behind := spell(e.line[e.off:e.pos]), spell(e.line[e.pos:end])
	blanks := max(0, e.shown-used)
	e.shown = used
	out := "\r" + e.prompt(len(e.lines)) + before + behind + strings.Repeat(" ", blanks)
	return out + strings.Repeat("\b", blanks+cells.Width(behind))
}

// spell returns runes as they are shown: what a terminal might obey, or would not show, is replaced
// by a mark.
func spell(runes []rune) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			return unicode.ReplacementChar
		}
		return r
	}, string(runes))
}

// places returns how many places runes take when they are shown.
func places(runes []rune) int { return cells.Width(spell(runes)) }
