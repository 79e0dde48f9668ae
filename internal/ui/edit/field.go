// Package edit implements a multi-line input field: editing, undo, history search and row
// layout. Package keys maps keys to actions.
package edit

import (
	"slices"
	"unicode/utf8"

	"adze/internal/ui/keys"
)

// A Field is a multi-line input field. Create it with [New]. It is not safe for concurrent use.
type Field struct {
	sheet
	// Complete completes the text before the caret when Tab is pressed. If there are several
	// possibilities, it returns them as choices. If nil, Tab is an action for the caller.
	Complete func(before string) (completed string, choices []string)
	// History lists earlier entries, oldest first.
	History []string

	chord   keys.Chord
	kills   ring
	stash   *Draft   // stashed input; may be nil
	choices []string // completions found by Tab
	recall  recall
	vim     vim
	album   imageHistory
}

// New returns an empty field.
func New(prompt, more string) *Field {
	return &Field{sheet: sheet{Prompt: prompt, More: more, buffer: buffer{text: newText()}, goal: -1, width: 80}}
}

// Text returns the field's content, including the text of folds and the labels of images.
func (f *Field) Text() string { return f.expand(f.slice(pos{}, f.end())) }

// Empty reports whether nothing was typed.
func (f *Field) Empty() bool { return f.empty() && f.search == nil }

// Clear discards the text. Killed and stashed text is kept.
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

// Set replaces the field's content with text. It can be undone.
func (f *Field) Set(text string) { f.set(f.brought(text)) }

// Choices returns the possible completions after Tab, until the next key.
func (f *Field) Choices() []string { return f.choices }

// Pending returns the keys of an incomplete chord or vim command, or "".
func (f *Field) Pending() string {
	if p := f.chord.Pending(); p != "" {
		return p
	}
	return f.vim.pending()
}

// Press handles an event. It returns the key's action unless the action edits the text and has
// been handled. Width is the row width. The given contexts take precedence over the text
// contexts.
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

// do performs an action, or inserts the key's text if the action is empty.
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

// move moves the caret and reports whether the action is a move.
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

// cut handles the kill and yank actions and reports whether the action is one. Nth is the index
// of the killed text that the last key inserted.
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

// other handles the remaining text actions. It returns any other action unchanged.
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
		return action // the caller reports this to the user
	default:
		return action
	}
	return ""
}

// complete completes the text before the caret.
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

// sharedStart returns the length in bytes of the longest common prefix of two texts, in whole
// characters.
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
