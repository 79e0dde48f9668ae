package tui

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/commands"
	"adze/internal/session"
	"adze/internal/ui/controller"
	"adze/internal/ui/keys"
	"adze/internal/ui/tui/compose"
	"adze/internal/ui/tui/dialog"
)

// take handles keys. Keys that remain after the user leaves the conversation go to the next
// one.
func (f *Front) take(ctx context.Context, events []keys.Event) {
	f.signs(events)
	alone := dialog.Pressed(events)
	for i, ev := range events {
		if !f.Open(ctx) {
			f.Defer(func(ctx context.Context) { f.take(ctx, events[i:]) })
			return
		}
		f.press(ctx, ev, alone)
	}
}

// press passes a key to the component it is meant for. Alone is true if it was pressed, not
// pasted with others. A key that answers a question does not count as typing, so it does not
// delay the next question.
func (f *Front) press(ctx context.Context, ev keys.Event, alone bool) {
	if ev.Key.Name != "escape" {
		f.escaped = time.Time{}
	}
	asks := f.asked.dialog != nil && f.pages.current == nil && !f.popup.Open() // Tab accepts a suggestion first
	if !asks {
		f.asked.typed(ev)
	}
	switch {
	case f.pages.current != nil:
		f.pages.press(ctx, ev)
		return
	case f.remarks.press(ev):
		return
	case asks && f.asked.press(ctx, ev, alone):
		return
	case alone && f.explains(ctx, ev):
		return
	case f.popup.Press(ev, f.keyboard.typing.Bindings()):
		return
	}
	action := f.keyboard.press(ev, f.cfg.Width(), f.contexts()...)
	f.outbox.edited()
	switch ev.Kind {
	case keys.Paste:
		f.attachDropped(ev.Text)
	case keys.FocusOut:
		f.outbox.save()
	}
	f.act(ctx, action)
	f.suggest()
}

// contexts returns the contexts that override the text bindings.
func (f *Front) contexts() (all []keys.Context) {
	if !f.keyboard.Empty() {
		return nil
	}
	if !f.outbox.Empty() {
		all = append(all, keys.Queue)
	}
	if f.Running() {
		all = append(all, keys.Task)
	}
	return all
}

// act performs an action that does not edit the text.
func (f *Front) act(ctx context.Context, action keys.Action) {
	if name, ok := strings.CutPrefix(string(action), keys.CommandPrefix); ok {
		f.Command(ctx, "/"+name)
		return
	}
	switch action {
	case keys.Submit:
		f.enter(ctx)
	case keys.Complete:
		f.tab(ctx)
	case keys.TakeBack:
		f.outbox.takeBack(ctx)
	case keys.PasteImage:
		f.pasteClipboard()
	case keys.Interrupt:
		typing := f.keyboard.forget()
		f.outbox.stop(ctx, f.Working() && !f.Calling(), func() bool { f.Interrupt(ctx, typing); return true })
	case keys.Cancel:
		f.escape(ctx)
	case keys.Exit:
		f.Exit()
	case keys.Suspend:
		f.suspend()
	case keys.Redraw:
		f.screen.Clear()
	case keys.CycleMode:
		f.Submit(ctx, session.SetMode{Mode: f.Conversation().NextMode()})
	case keys.Background:
		f.Submit(ctx, session.Detach{})
	case keys.ShowOutput:
		f.pages.read(ctx, f.whole())
	case keys.ShowTasks:
		f.Command(ctx, commands.ShowTasks)
	case keys.PickModel:
		f.Command(ctx, commands.PickModel)
	case keys.ShowThinking:
		f.flipThinking()
	case keys.OpenEditor:
		f.openEditor()
	}
}

// enter accepts the selected suggestion, or sends the message.
func (f *Front) enter(ctx context.Context) {
	before, _ := f.keyboard.Before()
	c, ok := f.popup.Enter(before)
	if ok {
		f.keyboard.Replace(utf8.RuneCountInString(c.Typed), c.With)
	}
	if !ok || c.Runs {
		f.send(ctx, false)
	}
}

// tab accepts the selected suggestion. While the model works, it sends the message for a turn
// of its own.
func (f *Front) tab(ctx context.Context) {
	before, _ := f.keyboard.Before()
	if c, ok := f.popup.Take(before); ok {
		f.keyboard.Replace(utf8.RuneCountInString(c.Typed), c.With)
		return
	}
	if f.Working() && controller.IsMessage(f.keyboard.Text()) {
		f.send(ctx, true)
	}
}

// suggest updates the suggestions for the typed text.
func (f *Front) suggest() {
	before, whole := f.keyboard.Before()
	if _, _, searching := f.keyboard.Searching(); searching || f.keyboard.Kind() != compose.Message {
		before, whole = "", false
	}
	f.popup.Typed(before, whole)
}

// suspend stops the program until the user resumes it.
func (f *Front) suspend() {
	if f.cfg.Suspend == nil {
		return
	}
	f.outbox.save()
	f.Yield()
	f.cfg.Suspend()
	f.resumed = time.Now()
	f.asked.disturb()
}

// explains handles the key that shows the keys and commands, and reports whether it was that
// key. While the user types, it is a character.
func (f *Front) explains(ctx context.Context, ev keys.Event) bool {
	if ev.Kind != keys.Press || ev.Text != "?" || !f.keyboard.Empty() {
		return false
	}
	f.Command(ctx, commands.ExplainKeys)
	return true
}

// again is the interval in which a second press counts as a double press.
const again = time.Second

// escape interrupts the current work. Pressed twice, it drops the typed text or goes back in
// the conversation.
func (f *Front) escape(ctx context.Context) {
	twice := time.Since(f.escaped) < again
	f.escaped = time.Now()
	switch {
	case f.outbox.stop(ctx, f.StopsTurn(), func() bool { return f.Stop(ctx) }):
	case !twice:
		return
	case !f.keyboard.Empty():
		f.keyboard.forget()
	default:
		f.keyboard.keep(commands.GoBack, true)
		f.Enter(ctx, controller.Input{Text: commands.GoBack})
	}
	f.escaped = time.Time{}
}

// openEditor opens the message in an editor. Text written before the editor failed is kept in
// the history.
func (f *Front) openEditor() {
	text := f.keyboard.Text()
	edited, err := f.outbox.editText(text)
	edited = strings.TrimSuffix(strings.ReplaceAll(edited, "\r\n", "\n"), "\n")
	switch {
	case err != nil:
		if edited != text {
			f.keyboard.keep(edited, false)
		}
		f.Fail(err)
	case edited != text:
		f.keyboard.Revise(edited)
		f.outbox.edited()
	}
}
