package plain

import (
	"strings"
	"time"

	"adze/internal/platform/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/screen"
)

// frameTime is the least time between two frames while text arrives.
const frameTime = 33 * time.Millisecond

// A view shows the live rows.
type view struct{ *Front }

// frame brings the live rows up to date: what is written just now, what goes on, and what the user types.
func (f view) frame() {
	if f.talk != nil {
		f.open()
	}
	if !f.cfg.Keys {
		return
	}
	width := f.cfg.Width()
	live := f.out.pending()
	if !f.asking() && f.busy() {
		live = append(live, f.out.rows(f.hint())...)
	}
	if f.held && f.effect == nil && len(f.asked) > 0 {
		live = append(live, draw.Wrap(draw.Line(draw.Strong, "A question waits until what you are typing is sent or cleared (Ctrl-U)."), f.out.width(), nil)...)
	}
	paint := f.cfg.Palette.Unlinked()
	rows := paint.Lines(live)
	var caret screen.Point
	if n := len(rows); n > 0 {
		caret = screen.Point{Row: n - 1, Col: live[n-1].Width()}
	}
	if f.prompting() {
		rows = append(rows, paint.Lines(f.promptRows())...)
		input, row, col := f.keyboard.Rows(width, max(3, f.cfg.Height()/3))
		caret = screen.Point{Row: len(rows) + row, Col: col}
		rows = append(rows, input...)
		rows = append(rows, paint.Lines(f.choices())...)
		rows = append(rows, paint.Lines(f.pressed())...)
	}
	f.out.show(rows, caret)
}

// prompting reports whether the input is shown.
func (f view) prompting() bool {
	return f.talk != nil && f.next == nil && (!f.busy() && f.followed == nil || f.asking() || !f.keyboard.Empty())
}

// promptRows sets the prompt of the input, and returns the rows before it if it is long.
func (f view) promptRows() []draw.Row {
	text := f.promptText()
	f.keyboard.Prompt = text
	width := f.out.width()
	if cells.Width(text) <= width/2 {
		return nil
	}
	lines := draw.Wrap(draw.Line(draw.Text, text), width, nil)
	last := lines[len(lines)-1].String()
	if cells.Width(last) > width/2 {
		f.keyboard.Prompt = "> "
		return lines
	}
	f.keyboard.Prompt = last + " "
	return lines[:len(lines)-1]
}

// hint says how to stop what goes on.
func (f view) hint() string {
	if f.leave {
		return ""
	}
	return "; Esc interrupts"
}

// choices returns the rows that show what the input can be completed to.
func (f view) choices() []draw.Row {
	text := ""
	for i, c := range f.keyboard.Choices() {
		if i > 0 {
			text += "  "
		}
		text += draw.Clean(c)
	}
	if text == "" {
		return nil
	}
	return draw.Wrap(draw.Line(draw.Faint, text), f.out.width(), nil)
}

// pressed returns the row that shows the mode of vim, and the keys of a command or a chord that has begun.
func (f view) pressed() []draw.Row {
	text := f.keyboard.Pending()
	if mode := f.keyboard.Mode(); mode != "" {
		text = strings.TrimSpace("-- " + mode + " -- " + text)
	}
	if text == "" {
		return nil
	}
	return []draw.Row{draw.Line(draw.Faint, text)}
}

// promptText returns the prompt of the question that is asked, or of the conversation.
func (f view) promptText() string {
	if !f.asking() {
		return questions(nil).prompt()
	}
	return f.asked.prompt()
}

// tick is called each second while something goes on.
func (f view) tick() {
	if f.followed != nil && f.keyboard.Empty() && !f.followed.show(f.out) {
		f.unfollow()
	}
	if !f.cfg.Keys && !f.asking() && f.offer == nil {
		f.out.waiting()
	}
}

// open shows the question that waits, unless the user is typing or choosing something else: what is typed must not
// become the answer.
func (f view) open() {
	if f.held && f.effect == nil && f.keyboard.Empty() && f.offer == nil {
		f.held = false
		if len(f.asked) > 0 {
			f.askNext()
			f.prompt()
		}
	}
}
