package tui

import (
	"context"
	"time"

	"adze/internal/session"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
	"adze/internal/ui/talk"
	"adze/internal/ui/tui/dialog"
)

// maxDialog is how many live rows a question has.
const maxDialog = 10

// An inquiry is the question that is shown, and what it needs to know of the keys.
type inquiry struct {
	dialog *dialog.Dialog // nil if no question is shown
	simple dialog.Simple  // the question, if it is a suggestion
	look   *talk.Timer    // when it may become active
	last   time.Time      // when a key was read that was not meant for a question
	final  []draw.Row     // what questions are about, to be written for good
}

// take returns what is to be written for good, once.
func (q *inquiry) take() []draw.Row {
	rows := q.final
	q.final = nil
	return rows
}

// typed notes a key that was not meant for a question.
func (q *inquiry) typed(ev keys.Event) {
	if ev.Kind == keys.Press || ev.Kind == keys.Paste {
		q.last = ev.At
	}
}

// write has rows written for good.
func (q *inquiry) write(rows ...draw.Row) { q.final = append(q.final, rows...) }

// Askers show questions and hand them keys.
type askers struct{ *Front }

// open shows a question. What it is about is written for good.
func (f askers) open(q talk.Question) {
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

// close shows no question any more.
func (f askers) close() {
	f.asked.look.Stop()
	f.asked.dialog = nil
}

// room returns how many rows a question has. What it is about stands above it, and should be seen.
func (f askers) room() int { return min(maxDialog, max(3, f.cfg.Height()*3/5)) }

// rows draws the question, if there is one, in rows of w cells.
func (f askers) rows(w int) ([]draw.Row, *screen.Point) {
	d := f.asked.dialog
	if d == nil {
		return nil, nil
	}
	f.asked.look.Stop()
	d.Typed(f.asked.last)
	if wait := d.Look(time.Now(), !f.keyboard.Empty()); wait > 0 {
		f.asked.look = f.After(wait, func(context.Context) {}) // the frame that follows looks again
	}
	return d.Rows(w, f.room())
}

// written is after which time to look whether a frame has been written.
const written = 10 * time.Millisecond

// seen notes when the frame with the question has been written.
func (f askers) seen() {
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

// disturb notes that the user looked at something else.
func (f askers) disturb() {
	if d := f.asked.dialog; d != nil {
		d.Disturb()
	}
}

// press hands an event to the question, and reports whether it was meant for it.
func (f askers) press(ctx context.Context, ev keys.Event, alone bool) bool {
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

// answer answers the question that is shown.
func (f askers) answer(ctx context.Context, r dialog.Result) {
	f.close()
	if f.Suggested() != nil {
		f.Respond(ctx, f.asked.simple.Chosen(r.Reply))
		return
	}
	d, ok := r.Reply.(session.Decision)
	if !r.Stop { // a no to what a message mentions stops nothing, and the model answers the message all the same
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
func (f askers) edit(text string) {
	edited, err := presses(f).editText(text)
	if err != nil {
		f.disturb()
		view(f).Fail(err)
		return
	}
	f.asked.write(f.asked.dialog.Edited(edited).Final...)
}
