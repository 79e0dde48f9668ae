package tui

import (
	"context"

	"adze/internal/commands"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
	"adze/internal/ui/tui/pager"
	"adze/internal/ui/tui/picker"
)

// A fullPage is a full-screen page. Either pager or picker is set.
type fullPage struct {
	pager  *pager.Pager
	picker *picker.Picker
	below  *fullPage       // the list that led to it, to which Esc returns; may be nil
	ctx    context.Context // context of its background work
	cancel context.CancelFunc
}

// rows draws the page.
func (p *fullPage) rows(w, h int) ([]draw.Row, *screen.Point) {
	if p.pager != nil {
		return p.pager.Rows(w, h)
	}
	return p.picker.Rows(w, h)
}

// pageView opens, draws and closes full-screen pages.
type pageView struct{ *Front }

// open shows a page in place of the current one. If a choice led to it, its list is kept below.
func (f pageView) open(ctx context.Context, p *fullPage) {
	f.close()
	if f.Chosen() && p.below == nil {
		p.below = f.chose
	}
	f.chose = nil
	p.ctx, p.cancel = context.WithCancel(ctx)
	f.full = p
}

// back returns to the list that led to the current page, and reports whether there is one.
func (f pageView) back(ctx context.Context) bool {
	list := f.full.below
	if list == nil {
		return false
	}
	f.Reoffer(list.picker.List())
	f.open(ctx, &fullPage{picker: list.picker, below: list.below})
	f.step(ctx, list.picker.Resume())
	return true
}

// close closes the current page, if any.
func (f pageView) close() {
	if f.full != nil {
		f.full.cancel()
		f.full = nil
	}
}

// read shows a long text.
func (f pageView) read(ctx context.Context, t pager.Text) {
	f.open(ctx, &fullPage{pager: pager.New(t, f.cfg.Glyphs)})
}

// kept is the number of rows kept in the scrollback of a page that is opened in the pager.
const kept = 8

// long reports whether a page does not fit on the screen together with the rows below it.
func (f pageView) long(p commands.Page) bool {
	const below = 4 // rows of the composer, the status and so on
	rows := draw.Page(p, draw.Options{Width: max(20, f.cfg.Width()-1), Dir: f.cfg.Dir, Glyphs: f.cfg.Glyphs})
	return f.full == nil && !f.Asking() && len(rows) > max(kept, f.cfg.Height()-below)
}

// pick shows a list.
func (f pageView) pick(ctx context.Context, l commands.List) {
	p, step := picker.New(l, f.cfg.Glyphs, draw.Options{Dir: f.cfg.Dir, Glyphs: f.cfg.Glyphs})
	f.open(ctx, &fullPage{picker: p})
	p.Nested = f.full.below != nil
	f.step(ctx, step)
}

// press handles an event for the current page.
func (f pageView) press(ctx context.Context, ev keys.Event) {
	m := f.keyboard.typing.Bindings()
	if p := f.full.pager; p != nil {
		f.act(ctx, p.Press(ev, m))
		return
	}
	f.step(ctx, f.full.picker.Press(ev, m))
}

// act performs an action that the page does not handle itself.
func (f pageView) act(ctx context.Context, action keys.Action) {
	switch action {
	case keys.ClosePage:
		if !f.back(ctx) {
			f.close()
		}
	case keys.Suspend:
		keyHandler(f).suspend()
	case keys.Redraw:
		f.screen.Forget()
	}
}

// step performs the picker's request.
func (f pageView) step(ctx context.Context, s picker.Step) {
	page := f.full
	for _, work := range s.Background {
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
		f.open(ctx, &fullPage{pager: pager.New(text, f.cfg.Glyphs), below: page})
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

// show draws the page. A waiting question is mentioned in the last row.
func (f pageView) show() {
	w, h := max(2, f.cfg.Width()), max(2, f.cfg.Height())
	rows, caret := f.full.rows(w-1, h)
	if f.Held() || f.Asking() {
		rows[len(rows)-1] = draw.Line(draw.Warning, "A question waits for you: Esc closes this.").Cut(w-1, f.cfg.Glyphs.More)
	}
	f.screen.Page(f.cfg.Palette.Unlinked().Lines(rows), caret)
}
