package tui

import (
	"context"
	"time"

	"adze/internal/session"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
	"adze/internal/ui/tui/dialog"
)

// maxDialog is the maximum number of live rows of a question.
const maxDialog = 10

// A questionState holds the current question and the key timing it depends on.
type questionState struct {
	dialog *dialog.Dialog    // nil without a question
	simple dialog.Simple     // the question, if it is a suggestion
	look   *controller.Timer // fires when it may become active
	last   time.Time         // time of the last key not meant for a question
	final  []draw.Row        // subjects of questions, pending for the scrollback
}

// take returns the pending scrollback rows and clears them.
func (q *questionState) take() []draw.Row {
	rows := q.final
	q.final = nil
	return rows
}

// typed records a key that was not meant for a question.
func (q *questionState) typed(ev keys.Event) {
	if ev.Kind == keys.Press || ev.Kind == keys.Paste {
		q.last = ev.At
	}
}

// write queues rows for the scrollback.
func (q *questionState) write(rows ...draw.Row) { q.final = append(q.final, rows...) }

// questionView shows questions and passes keys to them.
type questionView struct{ *Front }

// open shows a question. Its subject is written to the scrollback.
func (f questionView) open(q controller.Question) {
	guard := dialog.NewGuard(time.Now(), f.asked.last, !f.keyboard.Empty())
	o := dialog.Options{
		Dir: f.cfg.Dir, Home: f.cfg.Home, Glyphs: f.cfg.Glyphs, Bindings: f.keyboard.typing.Bindings,
		Marks: !f.cfg.Palette.Coloured(), Links: f.cfg.Palette.Links(),
	}
	var d *dialog.Dialog
	if s := q.Suggestion; s != nil {
		f.asked.simple = dialog.Simple{Text: s.Text, Answers: s.Answers, Marked: s.Later, Leaving: "not now"}
		d = dialog.NewSimple(f.asked.simple, guard, o)
	} else {
		d = dialog.New(q.Question, guard, o)
	}
	f.asked.dialog = d
	f.script.Shown(d.Use(), d.Subject(f.width()))
	f.script.Settle()
	if rows := d.Open(f.width(), f.room()); len(rows) > 0 {
		f.asked.write(append([]draw.Row{nil}, rows...)...)
	}
}

// close hides the question.
func (f questionView) close() {
	f.asked.look.Stop()
	f.asked.dialog = nil
}

// room returns the number of rows for a question. Its subject is above it and should stay
// visible.
func (f questionView) room() int { return min(maxDialog, max(3, f.cfg.Height()*3/5)) }

// rows draws the current question, if any, in rows of w cells.
func (f questionView) rows(w int) ([]draw.Row, *screen.Point) {
	d := f.asked.dialog
	if d == nil {
		return nil, nil
	}
	f.asked.look.Stop()
	d.Typed(f.asked.last)
	if wait := d.Look(time.Now(), !f.keyboard.Empty()); wait > 0 {
		f.asked.look = f.After(wait, func(context.Context) {}) // the next frame checks again
	}
	return d.Rows(w, f.room())
}

// written is the interval for checking whether a frame has been written.
const written = 10 * time.Millisecond

// seen records when the frame with the question has been written.
func (f questionView) seen() {
	d := f.asked.dialog
	if d == nil || !d.Unseen() {
		return
	}
	f.asked.look = f.After(written, func(context.Context) {
		if f.asked.dialog == d && f.screen.Written() {
			d.Shown(time.Now())
		}
	})
}

// disturb records that the user looked at something else.
func (f questionView) disturb() {
	if d := f.asked.dialog; d != nil {
		d.Disturb()
	}
}

// press passes an event to the question, and reports whether it was meant for it.
func (f questionView) press(ctx context.Context, ev keys.Event, alone bool) bool {
	d := f.asked.dialog
	r := d.Press(ev, alone)
	if !r.Used {
		f.asked.typed(ev)
	}
	f.asked.write(r.Final...)
	switch {
	case r.Edit != nil:
		f.edit(*r.Edit)
	case r.Reply != nil:
		f.answer(ctx, r)
	}
	return r.Used
}

// answer answers the current question.
func (f questionView) answer(ctx context.Context, r dialog.Result) {
	f.close()
	if f.Suggested() != nil {
		f.Respond(ctx, f.asked.simple.Chosen(r.Reply))
		return
	}
	d, ok := r.Reply.(session.Decision)
	if !r.Stop { // denying an attachment stops nothing; the model still answers the message
		f.outbox.last = nil
	}
	sender(f).stop(ctx, (r.Stop || ok && d.Interrupt) && f.StopsTurn(), func() bool {
		f.Answer(ctx, r.Reply)
		return r.Stop && f.Stop(ctx)
	})
	for _, op := range r.Then {
		f.Submit(ctx, op)
	}
}

// edit lets the user edit a text of the question.
func (f questionView) edit(text string) {
	edited, err := keyHandler(f).editText(text)
	if err != nil {
		f.disturb()
		view(f).Fail(err)
		return
	}
	f.asked.write(f.asked.dialog.Edited(edited).Final...)
}
