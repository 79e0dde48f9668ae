// Package edit holds the text of an input field: what is typed and pasted into it, how it is moved through, cut, undone,
// looked for among earlier entries, and shown in rows. Keys are turned into actions by package keys; what an action does
// beyond the text is left to the front ends.
package edit

import (
	"slices"
	"unicode/utf8"

	"adze/internal/ui/keys"
)

// A Field is an input field with several lines. Make it with [New]. It belongs to one goroutine.
type Field struct {
	sheet
	// Complete returns what Tab makes of the text before the caret. If there are several possibilities, it lists them. It
	// may be nil: then Tab is an action for the caller.
	Complete func(before string) (completed string, choices []string)
	// History is what was entered before, oldest first.
	History []string

	chord   keys.Chord
	kills   ring
	stash   *Draft   // what was put aside; may be nil
	choices []string // that Tab has found
	recall  recall
	vim     vim
	album   album
}

// New returns an empty field.
func New(prompt, more string) *Field {
	return &Field{sheet: sheet{Prompt: prompt, More: more, buffer: buffer{text: newText()}, goal: -1, width: 80}}
}

// Text returns what the field holds, with the text of folds and the names of pictures.
func (f *Field) Text() string { return f.expand(f.slice(pos{}, f.end())) }

// Empty reports whether nothing was typed.
func (f *Field) Empty() bool { return f.empty() && f.search == nil }

// Clear forgets the text. What was cut and put aside stays.
func (f *Field) Clear() {
	f.album.keep(f.Text(), f.Draft())
	if covered := f.Covered(); covered != nil {
		f.album.keep(covered.Text(), covered)
	}
	for i, t := range f.kills.texts {
		f.kills.texts[i] = []rune(f.expand(t))
	}
	f.text, f.caret, f.goal = newText(), pos{}, -1
	f.changes, f.folds, f.recall, f.search, f.choices = changes{}, nil, recall{}, nil, nil
	f.vim.restart()
}

// Set makes text what the field holds. It can be undone.
func (f *Field) Set(text string) { f.set(f.brought(text)) }

// Choices returns what Tab has found, if there are several continuations, until the next key.
func (f *Field) Choices() []string { return f.choices }

// Pending returns the keys of a chord, or of a command of the vim mode, that has begun, or "".
func (f *Field) Pending() string {
	if p := f.chord.Pending(); p != "" {
		return p
	}
	return f.vim.pending()
}

// Press takes an event. It returns the action that the key has, unless that is about the text and done. Width is the room
// for rows. The contexts come before those of a text.
func (f *Field) Press(ev keys.Event, m *keys.Map, width int, contexts ...keys.Context) keys.Action {
	f.resize(width)
	f.at, f.choices = ev.At, nil
	if f.search == nil && f.chord.Pending() == "" && f.vim.on && f.vim.key(f, ev) {
		f.goal, f.kills.grows, f.kills.nth = -1, false, 0
		return ""
	}
	if f.search != nil {
		contexts = append(contexts, keys.HistorySearch)
	}
	action, taken := f.chord.Press(m, ev, append(contexts, keys.Chat, keys.Global)...)
	if taken && action == "" {
		return ""
	}
	if f.search != nil && f.searchKey(ev, action) {
		return ""
	}
	if action == keys.SearchEnter {
		action = keys.Submit
	}
	return f.do(ev, action)
}

// do carries out an action, or types what the key types if it has none.
func (f *Field) do(ev keys.Event, action keys.Action) keys.Action {
	grows, nth := f.kills.grows, f.kills.nth
	f.kills.grows, f.kills.nth = false, 0
	if action != keys.Previous && action != keys.Next {
		f.goal = -1
	}
	f.vim.noted(ev, action)
	switch {
	case action == "" && ev.Kind == keys.Paste:
		f.change(f.caret, f.caret, f.pasted(lineFeeds(ev.Text)), apart)
	case action == "" && ev.Kind == keys.Press:
		f.change(f.caret, f.caret, []rune(ev.Text), typing)
	case action == keys.Submit:
		return f.enter()
	case action == keys.Exit && !f.empty():
		f.erase(f.caret, f.right(f.caret))
	case f.move(action):
	default:
		f.kills.grows = grows
		done := f.cut(action, nth)
		f.kills.grows = f.kills.grows && isKill(action)
		if !done {
			return f.other(action)
		}
	}
	return ""
}

func isKill(a keys.Action) bool {
	return a == keys.KillLineStart || a == keys.KillLineEnd || a == keys.KillWordLeft || a == keys.KillWordRight
}

// enter returns the action of Enter, unless it breaks the line or opens a fold.
func (f *Field) enter() keys.Action {
	if before := f.lines[f.caret.line].runes[:f.caret.col]; f.caret == f.end() && len(before) > 0 && before[len(before)-1] == '\\' {
		f.change(pos{f.caret.line, f.caret.col - 1}, f.caret, []rune{'\n'}, apart)
		return ""
	}
	if f.unfold() {
		return ""
	}
	return keys.Submit
}

// move moves the caret, and reports whether the action is a move.
func (f *Field) move(action keys.Action) bool {
	switch action {
	case keys.Left:
		f.caret = f.left(f.caret)
	case keys.Right:
		f.caret = f.right(f.caret)
	case keys.WordLeft:
		f.caret = f.wordLeft(f.caret, inWord)
	case keys.WordRight:
		f.caret = f.wordRight(f.caret)
	case keys.LineStart:
		f.caret.col = 0
	case keys.LineEnd:
		f.caret.col = len(f.lines[f.caret.line].runes)
	case keys.TextStart:
		f.caret = pos{}
	case keys.TextEnd:
		f.caret = f.end()
	case keys.Previous:
		if !f.vertical(f.up) {
			f.earlier(1)
		}
	case keys.Next:
		if !f.vertical(f.down) {
			f.earlier(-1)
		}
	default:
		return false
	}
	return true
}

// cut removes something or brings it back, and reports whether the action is about that. Nth is which text the last key
// inserted of those that were cut.
func (f *Field) cut(action keys.Action, nth int) bool {
	at := f.caret
	switch action {
	case keys.Backspace:
		f.erase(f.left(at), at)
	case keys.Delete:
		f.erase(at, f.right(at))
	case keys.KillLineStart:
		from := pos{at.line, 0}
		if at.col == 0 {
			from = f.left(at)
		}
		f.kills.kill(&f.buffer, from, at)
	case keys.KillLineEnd:
		to := pos{at.line, len(f.lines[at.line].runes)}
		if to == at {
			to = f.right(at)
		}
		f.kills.kill(&f.buffer, at, to)
	case keys.KillWordLeft:
		f.kills.kill(&f.buffer, f.wordLeft(at, notBlank), at)
	case keys.KillWordRight:
		f.kills.kill(&f.buffer, at, f.wordRight(at))
	case keys.Yank:
		f.kills.yank(&f.buffer)
	case keys.YankPop:
		f.kills.pop(&f.buffer, nth)
	default:
		return false
	}
	return true
}

// other carries out the other actions of a text. It returns those that are none.
func (f *Field) other(action keys.Action) keys.Action {
	switch action {
	case keys.NewLine:
		f.change(f.caret, f.caret, []rune{'\n'}, apart)
	case keys.Undo:
		f.undo()
	case keys.Redo:
		f.redo()
	case keys.Complete:
		if f.Complete == nil {
			return action
		}
		f.complete()
	case keys.Search:
		f.search = &search{before: f.slice(pos{}, f.end()), caret: f.caret, at: len(f.History)}
	case keys.Stash:
		f.swapStash()
		return action // for the user to be told
	default:
		return action
	}
	return ""
}

// complete completes what stands before the caret.
func (f *Field) complete() {
	before := f.expand(f.slice(pos{}, f.caret))
	completed, choices := f.Complete(before)
	f.choices = choices
	same := sharedStart(before, completed)
	from := f.rewind(f.caret, utf8.RuneCountInString(before[same:]))
	if completed == before || slices.ContainsFunc(f.slice(from, f.caret), isFold) {
		return
	}
	f.change(from, f.caret, []rune(completed[same:]), apart)
}

// sharedStart returns how many bytes two texts have in common at their start, in whole characters.
func sharedStart(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}
