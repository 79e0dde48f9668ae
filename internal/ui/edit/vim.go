package edit

import (
	"slices"
	"time"
	"unicode"

	"adze/internal/ui/keys"
)

// A mode is a vi mode.
type mode uint8

const (
	insert mode = iota
	normal
	visual
	visualLines
)

// A vim interprets keys as vi commands.
type vim struct {
	on     bool
	escape string // two characters that end the insertion when typed in succession; may be empty
	mode   mode
	keys   []rune // keys of an incomplete command
	anchor pos    // start of the selection
	mover
	register

	typed  []rune   // text being inserted
	began  command  // command that began the insertion
	last   command  // last command that changed the text, with its inserted text; see [vim.repeat]
	before struct { // the last character, which may begin escape
		char rune
		at   time.Time
	}
}

// SetVim enables or disables vim mode. Escape is a pair of characters that end the insertion
// like Esc; it may be empty.
func (f *Field) SetVim(on bool, escape string) {
	if on != f.vim.on {
		f.vim.on, f.vim.mode, f.vim.keys = on, insert, nil
		f.group = 0
	}
	f.vim.escape = escape
}

// Mode returns the current vi mode: INSERT, NORMAL, VISUAL, VISUAL LINE, or "" without vim.
func (f *Field) Mode() string {
	if !f.vim.on {
		return ""
	}
	return [...]string{"INSERT", "NORMAL", "VISUAL", "VISUAL LINE"}[f.vim.mode]
}

// restart resets to insert mode, for an empty text.
func (v *vim) restart() { v.mode, v.keys, v.typed, v.began = insert, nil, nil, command{} }

// pending returns the keys of an incomplete command.
func (v *vim) pending() string { return string(v.keys) }

// key handles a key and reports whether it was consumed.
func (v *vim) key(f *Field, ev keys.Event) bool {
	if ev.Kind != keys.Press {
		return false
	}
	if v.mode == insert {
		return v.inserting(f, ev)
	}
	switch k := ev.Key; {
	case k.Name == "escape" && k.Mod == 0:
		return v.cancel(f)
	case k == keys.Key{Mod: keys.Ctrl, Name: "r"}:
		f.redo()
		f.caret = onto(&f.text, f.caret)
	case k == keys.Key{Name: "backspace"} && len(v.keys) == 0:
		v.take(f, 'h')
	case ev.Text == " " && !v.awaits():
		v.take(f, 'l')
	case ev.Text != "":
		for _, r := range ev.Text {
			v.take(f, r)
		}
	default:
		return false
	}
	return true
}

// awaits reports whether the incomplete command takes any character next.
func (v *vim) awaits() bool {
	n := len(v.keys)
	return n > 0 && slices.Contains([]rune("fFtTr"), v.keys[n-1])
}

// inserting handles a key in insert mode.
func (v *vim) inserting(f *Field, ev keys.Event) bool {
	was := v.before
	v.before.char, v.before.at = 0, ev.At
	if ev.Key == (keys.Key{Name: "escape"}) {
		v.leave(f)
		return true
	}
	if r := []rune(ev.Text); len(r) == 1 {
		v.before.char = r[0]
		if e := []rune(v.escape); len(e) == 2 && was.char == e[0] && r[0] == e[1] && ev.At.Sub(was.at) < pause && f.caret.col > 0 {
			f.erase(f.left(f.caret), f.caret)
			v.typed = v.typed[:max(0, len(v.typed)-1)]
			v.leave(f)
			return true
		}
	}
	return false
}

// noted records typed text so that it can be repeated.
func (v *vim) noted(ev keys.Event, action keys.Action) {
	switch {
	case !v.on || v.mode != insert:
	case action == "" && ev.Kind == keys.Press:
		v.typed = append(v.typed, []rune(ev.Text)...)
	case action == keys.NewLine:
		v.typed = append(v.typed, '\n')
	case action == keys.Backspace && len(v.typed) > 0:
		v.typed = v.typed[:len(v.typed)-1]
	default:
		v.typed = nil
	}
}

// leave ends the insertion.
func (v *vim) leave(f *Field) {
	if v.began.name != 0 {
		v.last = v.began
		v.last.typed = v.typed
		for range v.began.repeats() - 1 {
			v.insertAgain(f)
		}
	}
	v.mode, v.typed, v.began = normal, nil, command{}
	if f.caret.col > 0 {
		f.caret = f.left(f.caret)
	}
}

// insertAgain inserts the typed text once more.
func (v *vim) insertAgain(f *Field) {
	if c := v.began.name; c == 'o' || c == 'O' {
		end := pos{f.caret.line, len(f.lines[f.caret.line].runes)}
		f.change(end, end, append([]rune{'\n'}, v.typed...), within)
		return
	}
	f.change(f.caret, f.caret, v.typed, within)
}

// cancel drops an incomplete command or the selection, and reports whether there was one.
func (v *vim) cancel(f *Field) bool {
	had := len(v.keys) > 0 || v.mode != normal
	v.keys, v.mode = nil, normal
	f.caret = onto(&f.text, f.caret)
	return had
}

// onto returns p, or the position of the last character if p is the end of a non-empty line.
func onto(t *text, p pos) pos {
	runes := t.lines[p.line].runes
	if p.col >= len(runes) && len(runes) > 0 {
		return pos{p.line, previousCluster(runes, len(runes))}
	}
	return p
}

// take adds a character to the current command and runs it once it is complete.
func (v *vim) take(f *Field, r rune) {
	if r != ' ' && !unicode.IsGraphic(r) {
		return
	}
	v.keys = append(v.keys, r)
	c, state := parse(v.keys, v.mode != normal)
	if state == begun && len(v.keys) < maxCommand {
		return
	}
	v.keys = nil
	if state != whole {
		return
	}
	f.group++
	if c.op != 0 || c.motion != 'j' && c.motion != 'k' {
		v.goal = 0
	}
	v.run(f, c)
	if v.mode == normal {
		f.caret = onto(&f.text, f.caret)
	}
}

// maxCommand limits the keys of a command.
const maxCommand = 16

// run executes a command.
func (v *vim) run(f *Field, c command) {
	switch {
	case c.name == '.':
		v.repeat(f, c)
		return
	case v.mode != normal:
		v.selected(f, c)
		return
	case c.op != 0:
		v.operate(f, c)
	case c.motion != 0:
		v.move(f, c)
		return
	default:
		v.simple(f, c)
	}
	if c.changes() && v.mode == normal {
		v.last = c
	}
}

// repeat repeats the last change, with another count if one is given.
func (v *vim) repeat(f *Field, c command) {
	last := v.last
	if last.name == 0 && last.op == 0 {
		return
	}
	if c.count > 0 {
		last.count, last.more = c.count, 0
	}
	typed := last.typed
	v.run(f, last)
	if v.mode == insert {
		f.change(f.caret, f.caret, typed, within)
		v.began, v.typed = last, typed
		v.leave(f)
	}
	v.last = last
}

// move executes a motion without an operator.
func (v *vim) move(f *Field, c command) {
	m, ok := v.motion(f, c, v.mode != normal)
	switch {
	case ok:
		f.caret = m.to
		if v.mode == normal {
			f.caret = onto(&f.text, f.caret)
		}
	case c.motion == 'k' && v.mode == normal:
		f.earlier(1)
	case c.motion == 'j' && v.mode == normal:
		f.earlier(-1)
	}
}
