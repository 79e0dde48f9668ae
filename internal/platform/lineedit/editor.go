package lineedit

import (
	"slices"
	"strings"
	"unicode"
)

// An Editor holds the text that the user is typing, which may have several lines.
type Editor struct {
	// Prompt stands before the first line and More before those that follow.
	Prompt, More string
	// Complete returns what Tab makes of the text before the cursor. If there are several possibilities, it lists them. It
	// may be nil.
	Complete func(before string) (completed string, choices []string)
	// History is what was entered before, oldest first.
	History []string

	buffer
	goal    int      // the column that vertical moves aim at; 0 if there is none
	killed  []rune   // what was cut last
	kills   bool     // the last key cut something: the next one adds to it
	choices []string // that Tab has found

	past   int    // how many entries of the history back
	draft  string // what was typed before going back
	search *search
	undo   []buffer
	typing bool // the last key was a character: they are undone together
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
	Escaped
	Redraw  // Ctrl-L
	Show    // Ctrl-O
	Cycle   // Shift-Tab
	Unbound // a key that does nothing here
)

// Text returns the input.
func (e *Editor) Text() string { return string(e.text) }

// Empty reports whether nothing was typed.
func (e *Editor) Empty() bool { return len(e.text) == 0 && e.search == nil }

// Clear forgets the input.
func (e *Editor) Clear() {
	e.buffer, e.goal = buffer{}, 0
	e.past, e.draft, e.search, e.choices, e.undo = 0, "", nil, nil, nil
}

// Choices returns what Tab has found, if there are several continuations, until the next key.
func (e *Editor) Choices() []string { return e.choices }

// Press takes a key. Width is the room on a line, for vertical moves.
func (e *Editor) Press(k Key, width int) Event {
	e.choices = nil
	if e.search != nil {
		if ev, done := e.searchKey(k); done {
			return ev
		}
	}
	if k.Code != Up && k.Code != Down {
		e.goal = 0
	}
	kills := e.kills
	e.kills = false
	typing := e.typing
	e.typing = k.Code == Rune && strings.TrimSpace(k.Text) != ""
	switch k.Code {
	case Rune, Paste, NewLine:
		e.remember(typing && e.typing)
		e.insert(k)
	case Enter:
		return e.enter()
	case EOF:
		if len(e.text) == 0 {
			return Leave
		}
		e.remember(false)
		e.cut(e.pos, e.next(e.pos))
	case Up, Down:
		e.vertical(k.Code, width)
	case Search:
		e.search = &search{before: e.Text(), pos: e.pos, at: len(e.History)}
	case Undo:
		e.back()
	case Backspace, Delete, KillBack, KillWord, KillNextWord, KillEnd, Yank:
		e.remember(false)
		e.change(k.Code, kills)
	case Tab:
		e.complete()
	default:
		return e.move(k.Code)
	}
	return None
}

// events are the keys that are not about the text.
var events = map[Code]Event{Interrupt: Cancel, Suspend: Stop, Escape: Escaped, Clear: Redraw, Whole: Show, BackTab: Cycle}

// move moves the cursor, or returns what else the key means.
func (e *Editor) move(c Code) Event {
	switch c {
	case Left, Back:
		e.pos = e.previous(e.pos)
	case Right:
		e.pos = e.next(e.pos)
	case WordLeft:
		e.pos = e.wordStart(wordRune)
	case WordRight:
		e.pos = e.wordEnd()
	case Home:
		e.pos = e.lineStart(e.pos)
	case End:
		e.pos = e.lineEnd(e.pos)
	default:
		if ev, ok := events[c]; ok {
			return ev
		}
		return Unbound
	}
	return None
}

// change removes something or brings it back. Cuts that follow each other are kept together.
func (e *Editor) change(c Code, again bool) {
	from, to := e.pos, e.pos
	switch c {
	case Backspace:
		e.cut(e.previous(e.pos), e.pos)
		return
	case Delete:
		e.cut(e.pos, e.next(e.pos))
		return
	case Yank:
		e.insertRunes(e.killed)
		return
	case KillBack:
		from = e.lineStart(e.pos)
		if from == e.pos {
			from = e.previous(e.pos)
		}
	case KillWord:
		from = e.wordStart(func(r rune) bool { return !unicode.IsSpace(r) })
	case KillNextWord:
		to = e.wordEnd()
	case KillEnd:
		to = e.lineEnd(e.pos)
		if to == e.pos {
			to = e.next(e.pos)
		}
	}
	gone := slices.Clone(e.text[from:to])
	switch {
	case len(gone) == 0:
		return
	case !again:
		e.killed = gone
	case from < e.pos:
		e.killed = append(gone, e.killed...)
	default:
		e.killed = append(e.killed, gone...)
	}
	e.kills = true
	e.cut(from, to)
}

func (e *Editor) enter() Event {
	if e.pos == len(e.text) && e.pos > 0 && e.text[e.pos-1] == '\\' {
		e.remember(false)
		e.text[e.pos-1] = '\n'
		return None
	}
	return Submit
}

func (e *Editor) insert(k Key) {
	text := k.Text
	switch k.Code {
	case NewLine:
		text = "\n"
	case Paste:
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	e.insertRunes([]rune(text))
}

func (e *Editor) complete() {
	if e.Complete == nil {
		return
	}
	before := string(e.text[:e.pos])
	completed, choices := e.Complete(before)
	if completed != before {
		e.remember(false)
		e.cut(0, e.pos)
		e.insertRunes([]rune(completed))
	}
	e.choices = choices
}

const (
	// maxUndo bounds the steps that can be undone, and maxUndoText the text of each, in characters.
	maxUndo     = 100
	maxUndoText = 10_000
)

// remember keeps the text before a change, unless it continues the change before.
func (e *Editor) remember(goesOn bool) {
	if goesOn || len(e.text) > maxUndoText {
		return
	}
	e.undo = append(e.undo, buffer{slices.Clone(e.text), e.pos})
	if len(e.undo) > maxUndo {
		e.undo = slices.Delete(e.undo, 0, 1)
	}
}

// back undoes the last change.
func (e *Editor) back() {
	if n := len(e.undo); n > 0 {
		e.buffer = e.undo[n-1]
		e.undo = e.undo[:n-1]
	}
}

// vertical moves to the row above or below, or through the history from the first and the last one.
func (e *Editor) vertical(c Code, width int) {
	l := e.layout(width)
	row, col := l.find(e.pos)
	if e.goal == 0 {
		e.goal = col + 1
	}
	if c == Up {
		row--
	} else {
		row++
	}
	if at, ok := l.at(row, e.goal-1); ok {
		e.pos = at
		return
	}
	e.goal = 0
	e.recall(c)
}

// recall goes back or forward in the history.
func (e *Editor) recall(c Code) {
	past := e.past + 1
	if c == Down {
		past = e.past - 1
	}
	if past < 0 || past > len(e.History) {
		return
	}
	if e.past == 0 {
		e.draft = e.Text()
	}
	text := e.draft
	if past > 0 {
		text = e.History[len(e.History)-past]
	}
	e.replace(text)
	e.past = past
}
