package tui

import (
	"context"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/session"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
	"adze/internal/ui/tui/dialog"
	"adze/internal/ui/tui/transcript"
)

// A questionView shows questions and passes keys to them. When a question becomes active depends
// on the time of the last keys.
type questionView struct {
	driver   *controller.Driver
	cfg      *Config
	screen   *screen.Screen
	keyboard *keyboard
	script   *transcript.Transcript
	outbox   *outbox

	dialog *dialog.Dialog    // nil without a question
	simple dialog.Simple     // the question, if it is a suggestion or a list
	list   *commands.List    // the list that is asked as a question; may be nil
	drawn  *dialog.Dialog    // the question whose frame is being written; may be nil
	look   *controller.Timer // fires when it may become active
	last   time.Time         // time of the last key not meant for a question
	final  []draw.Row        // rows of questions and what is above them, pending for the scrollback
}

// take returns the pending scrollback rows and clears them.
func (v *questionView) take() []draw.Row {
	rows := v.final
	v.final = nil
	return rows
}

// typed records a key that was not meant for a question.
func (v *questionView) typed(ev keys.Event) {
	if ev.Kind == keys.Press || ev.Kind == keys.Paste {
		v.last = ev.At
	}
}

// write queues rows for the scrollback. What the transcript has finished goes above them, unless
// a question holds it back.
func (v *questionView) write(rows ...draw.Row) {
	if len(rows) == 0 {
		return
	}
	if !v.holds() {
		v.final = append(v.final, v.script.Final(v.cfg.Width())...)
	}
	v.final = append(v.final, rows...)
	v.script.Parted()
}

// holds reports whether the transcript must wait, because a question continues rows in the
// scrollback.
func (v *questionView) holds() bool { return v.dialog != nil && v.dialog.Holds() }

// open shows a question.
func (v *questionView) open(q controller.Question) {
	guard := dialog.NewGuard(time.Now(), v.last, !v.keyboard.Empty())
	if s := q.Suggestion; s != nil {
		v.simple = dialog.Simple{Title: s.Title, Body: s.Body, Question: s.Question, Answers: s.Answers, Marked: s.Later, Leaving: "not now"}
		v.dialog = dialog.NewSimple(v.simple, guard, v.options())
	} else {
		v.dialog = dialog.New(q.Question, guard, v.options())
	}
	v.list = nil
	v.script.Shown(v.dialog.Use(), v.dialog.Subject(v.cfg.width()))
	v.script.Settle()
}

// offer asks a list as a question. The user has just entered the command, so it takes keys as
// soon as it was visible for a while.
func (v *questionView) offer(l *commands.List) {
	q := dialog.Simple{Title: l.Title, Question: l.Question, Leaving: "cancel"}
	var notes []string
	for _, row := range draw.Page(l.Page, draw.Options{Glyphs: v.cfg.Glyphs}) {
		notes = append(notes, row.String())
	}
	q.Body = strings.Join(notes, "\n")
	for _, c := range l.Choices {
		q.Answers, q.Remarks = append(q.Answers, c.Title), append(q.Remarks, c.About)
	}
	v.simple, v.list = q, l
	v.dialog = dialog.NewSimple(q, dialog.NewGuard(time.Now(), time.Time{}, !v.keyboard.Empty()), v.options())
	v.script.Settle()
}

// options returns the options of a dialog.
func (v *questionView) options() dialog.Options {
	return dialog.Options{
		Dir: v.cfg.Dir, Home: v.cfg.Home, Glyphs: v.cfg.Glyphs, Bindings: v.keyboard.typing.Bindings,
		Marks: !v.cfg.Palette.Coloured(), Links: v.cfg.Palette.Links(),
	}
}

// close hides the question.
func (v *questionView) close() {
	v.look.Stop()
	v.dialog, v.list = nil, nil
}

// end hides the question. What it was about stays in the scrollback.
func (v *questionView) end() {
	if d := v.dialog; d != nil {
		rows := d.Close()
		if len(rows) > 0 && !d.Holds() {
			rows = append([]draw.Row{nil}, rows...)
		}
		v.write(rows...)
	}
	v.close()
}

// rows draws the current question, if any, in at most h rows of w cells.
func (v *questionView) rows(w, h int) ([]draw.Row, *screen.Point) {
	if v.list != nil && v.driver.Offered() == nil { // the user does something else
		v.close()
	}
	d := v.dialog
	if d == nil {
		return nil, nil
	}
	v.look.Stop()
	d.Typed(v.last)
	if wait := d.Look(time.Now(), !v.keyboard.Empty()); wait > 0 {
		v.look = v.driver.After(wait, func(context.Context) {}) // the next frame checks again
	}
	if rows := d.Overflow(w, h); len(rows) > 0 {
		v.final = append(append(v.final, v.script.Final(v.cfg.Width())...), nil)
		v.final = append(v.final, rows...)
		v.script.Parted()
	}
	return d.Rows(w, h)
}

// written is the interval for checking whether a frame has been written.
const written = 10 * time.Millisecond

// seen records when the frame with the question has been written.
func (v *questionView) seen() {
	d := v.dialog
	if d == nil || !d.Unseen() || v.drawn == d {
		return
	}
	v.drawn = d // further frames do not put the check off
	v.driver.After(written, func(context.Context) {
		if v.drawn = nil; v.dialog == d && v.screen.Written() {
			d.Shown(time.Now())
		}
	})
}

// disturb records that the user looked at something else.
func (v *questionView) disturb() {
	if d := v.dialog; d != nil {
		d.Disturb()
	}
}

// press passes an event to the question, and reports whether it was meant for it.
func (v *questionView) press(ctx context.Context, ev keys.Event, alone bool) bool {
	d := v.dialog
	r := d.Press(ev, alone)
	if !r.Used {
		v.typed(ev)
	}
	v.write(r.Final...)
	switch {
	case r.Edit != nil:
		v.edit(*r.Edit)
	case r.Reply != nil:
		v.answer(ctx, r)
	}
	return r.Used
}

// answer answers the current question.
func (v *questionView) answer(ctx context.Context, r dialog.Result) {
	list := v.list
	v.end()
	if list != nil {
		if i := v.simple.Chosen(r.Reply); i >= 0 {
			v.driver.Choose(ctx, list.Choices[i])
		} else {
			v.driver.Decline()
			v.script.Dismiss()
		}
		return
	}
	if v.driver.Suggested() != nil {
		v.driver.Respond(ctx, v.simple.Chosen(r.Reply))
		return
	}
	d, ok := r.Reply.(session.Decision)
	if !r.Stop { // denying an attachment stops nothing; the model still answers the message
		v.outbox.last = nil
	}
	v.outbox.stop(ctx, (r.Stop || ok && d.Interrupt) && v.driver.StopsTurn(), func() bool {
		v.driver.Answer(ctx, r.Reply)
		return r.Stop && v.driver.Stop(ctx)
	})
	for _, op := range r.Then {
		v.driver.Submit(ctx, op)
	}
}

// edit lets the user edit a text of the question.
func (v *questionView) edit(text string) {
	edited, err := v.outbox.editText(text)
	if err != nil {
		v.disturb()
		v.script.Fail(err)
		return
	}
	v.dialog.Edited(edited)
}
