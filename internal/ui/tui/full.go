package tui

import (
	"context"

	"adze/internal/desk"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
	"adze/internal/ui/tui/pager"
	"adze/internal/ui/tui/picker"
)

// A full page takes the whole terminal for a while: one of the two is set.
type full struct {
	pager  *pager.Pager
	picker *picker.Picker
	below  *full           // the list that led to it, to which Esc goes back; may be nil
	ctx    context.Context // of what runs beside for it
	cancel context.CancelFunc
}

// rows draws the page.
func (p *full) rows(w, h int) ([]draw.Row, *screen.Point) {
	if p.pager != nil {
		return p.pager.Rows(w, h)
	}
	return p.picker.Rows(w, h)
}

// Pages open, draw and close what takes the whole terminal.
type pages struct{ *Front }

// open shows a page in place of the one that is shown. If a choice has led to it, its list stays below.
func (f pages) open(ctx context.Context, p *full) {
	f.close()
	if f.Chosen() && p.below == nil {
		p.below = f.chose
	}
	f.chose = nil
	p.ctx, p.cancel = context.WithCancel(ctx)
	f.full = p
}

// back goes back to the list that led to the page that is shown, and reports whether there is one.
func (f pages) back(ctx context.Context) bool {
	list := f.full.below
	if list == nil {
		return false
	}
	f.Reoffer(list.picker.List())
	f.open(ctx, &full{picker: list.picker, below: list.below})
	f.step(ctx, list.picker.Resume())
	return true
}

// close closes the page that is shown, if there is one.
func (f pages) close() {
	if f.full != nil {
		f.full.cancel()
		f.full = nil
	}
}

// read shows a long text.
func (f pages) read(ctx context.Context, t pager.Text) {
	f.open(ctx, &full{pager: pager.New(t, f.cfg.Glyphs)})
}

// kept is how many rows of a page that is opened to be read stay in the scrollback.
const kept = 8

// long reports whether a page does not fit on the screen, with what is below it.
func (f pages) long(p desk.Page) bool {
	const below = 4 // rows of what is typed, the status and the like
	rows := draw.Page(p, draw.Options{Width: max(20, f.cfg.Width()-1), Dir: f.cfg.Dir, Glyphs: f.cfg.Glyphs})
	return f.full == nil && !f.Asking() && len(rows) > max(kept, f.cfg.Height()-below)
}

// pick shows a list.
func (f pages) pick(ctx context.Context, l desk.List) {
	p, step := picker.New(l, f.cfg.Glyphs, draw.Options{Dir: f.cfg.Dir, Glyphs: f.cfg.Glyphs})
	f.open(ctx, &full{picker: p})
	p.Nested = f.full.below != nil
	f.step(ctx, step)
}

// press takes an event for the page that is shown.
func (f pages) press(ctx context.Context, ev keys.Event) {
	m := f.keyboard.typing.Bindings()
	if p := f.full.pager; p != nil {
		f.act(ctx, p.Press(ev, m))
		return
	}
	f.step(ctx, f.full.picker.Press(ev, m))
}

// act carries out an action that is not about what the page shows.
func (f pages) act(ctx context.Context, action keys.Action) {
	switch action {
	case keys.ClosePage:
		if !f.back(ctx) {
			f.close()
		}
	case keys.Suspend:
		presses(f).suspend()
	case keys.Redraw:
		f.screen.Forget()
	}
}

// step carries out what the picker asks for.
func (f pages) step(ctx context.Context, s picker.Step) {
	page := f.full
	for _, work := range s.Beside {
		go func() {
			done := work(page.ctx)
			f.Post(page.ctx, func(ctx context.Context) {
				if f.full == page {
					f.step(ctx, done())
				}
			})
		}()
	}
	f.act(ctx, s.Action)
	if s.Read != nil {
		text := pager.Text{Lines: pager.Page(*s.Read, draw.Options{Dir: f.cfg.Dir, Glyphs: f.cfg.Glyphs})}
		f.open(ctx, &full{pager: pager.New(text, f.cfg.Glyphs), below: page})
		return
	}
	if !s.Close || s.Back && f.back(ctx) {
		return
	}
	f.close()
	switch {
	case s.Choice != nil:
		f.chose = page
		f.Choose(ctx, *s.Choice)
	case s.Answer != nil:
		f.chose = page
		f.Proceed(ctx, s.Answer)
	default:
		f.Decline()
		f.script.Dismiss()
	}
}

// show draws the page. A question that waits is told in its last row.
func (f pages) show() {
	w, h := max(2, f.cfg.Width()), max(2, f.cfg.Height())
	rows, caret := f.full.rows(w-1, h)
	if f.Held() || f.Asking() {
		rows[len(rows)-1] = draw.Line(draw.Warning, "A question waits for you: Esc closes this.").Cut(w-1, f.cfg.Glyphs.More)
	}
	f.screen.Page(f.cfg.Palette.Unlinked().Lines(rows), caret)
}
