package tui

import (
	"context"

	"adze/internal/commands"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
	"adze/internal/ui/tui/pager"
	"adze/internal/ui/tui/picker"
	"adze/internal/ui/tui/transcript"
)

// A page is a text on its own screen, or a list. Either pager or picker is set. A list is in
// place of the input unless it takes the whole screen.
type page struct {
	pager  *pager.Pager
	picker *picker.Picker
	below  *page           // the list that led to it, to which Esc returns; may be nil
	ctx    context.Context // context of its background work
	cancel context.CancelFunc
}

// rows draws the page.
func (p *page) rows(w, h int) ([]draw.Row, *screen.Point) {
	if p.pager != nil {
		return p.pager.Rows(w, h)
	}
	return p.picker.Rows(w, h)
}

// covers reports whether the current page takes the whole screen.
func (v *pageView) covers() bool {
	p := v.current
	return p != nil && (p.pager != nil || p.picker.List().Full)
}

// A pageView opens, draws and closes pages.
type pageView struct {
	driver   *controller.Driver
	cfg      *Config
	screen   *screen.Screen
	keyboard *keyboard
	script   *transcript.Transcript
	suspend  func()

	current *page // may be nil
	chose   *page // the list the user has chosen from, until a page is opened; may be nil
}

// open shows a page in place of the current one. If a choice led to it, its list is kept below.
func (v *pageView) open(ctx context.Context, p *page) {
	v.close()
	if v.driver.Chosen() && p.below == nil {
		p.below = v.chose
	}
	v.chose = nil
	p.ctx, p.cancel = context.WithCancel(ctx)
	v.current = p
}

// back returns to the list that led to the current page, and reports whether there is one.
func (v *pageView) back(ctx context.Context) bool {
	list := v.current.below
	if list == nil {
		return false
	}
	v.driver.Reoffer(list.picker.List())
	v.open(ctx, &page{picker: list.picker, below: list.below})
	v.step(ctx, list.picker.Resume())
	return true
}

// close closes the current page, if any.
func (v *pageView) close() {
	if v.current != nil {
		v.current.cancel()
		v.current = nil
	}
}

// read shows a long text.
func (v *pageView) read(ctx context.Context, t pager.Text) {
	v.open(ctx, &page{pager: pager.New(t, v.cfg.Glyphs)})
}

// kept is the number of rows kept in the scrollback of a page that is opened in the pager.
const kept = 8

// long reports whether a page does not fit on the screen together with the rows below it.
func (v *pageView) long(p commands.Page) bool {
	const below = 4 // rows of the composer, the status and so on
	rows := draw.Page(p, draw.Options{Width: max(20, v.cfg.Width()-1), Dir: v.cfg.Dir, Glyphs: v.cfg.Glyphs})
	return v.current == nil && !v.driver.Asking() && len(rows) > max(kept, v.cfg.Height()-below)
}

// pick shows a list.
func (v *pageView) pick(ctx context.Context, l commands.List) {
	p, step := picker.New(l, v.cfg.Glyphs, draw.Options{Dir: v.cfg.Dir, Glyphs: v.cfg.Glyphs})
	v.open(ctx, &page{picker: p})
	p.Nested = v.current.below != nil
	v.step(ctx, step)
}

// press handles an event for the current page.
func (v *pageView) press(ctx context.Context, ev keys.Event) {
	m := v.keyboard.typing.Bindings()
	if p := v.current.pager; p != nil {
		v.act(ctx, p.Press(ev, m))
		return
	}
	v.step(ctx, v.current.picker.Press(ev, m))
}

// act performs an action that the page does not handle itself.
func (v *pageView) act(ctx context.Context, action keys.Action) {
	switch action {
	case keys.ClosePage:
		if !v.back(ctx) {
			v.close()
		}
	case keys.Suspend:
		v.suspend()
	case keys.Redraw:
		if v.covers() {
			v.screen.Forget()
		} else {
			v.screen.Clear()
		}
	}
}

// step performs the picker's request.
func (v *pageView) step(ctx context.Context, s picker.Step) {
	now := v.current
	for _, work := range s.Background {
		go func() {
			done := work(now.ctx)
			v.driver.Post(now.ctx, func(ctx context.Context) {
				if v.current == now {
					v.step(ctx, done())
				}
			})
		}()
	}
	v.act(ctx, s.Action)
	if s.Read != nil {
		text := pager.Text{Lines: pager.Page(*s.Read, draw.Options{Dir: v.cfg.Dir, Glyphs: v.cfg.Glyphs})}
		v.open(ctx, &page{pager: pager.New(text, v.cfg.Glyphs), below: now})
		return
	}
	if !s.Close || s.Back && v.back(ctx) {
		return
	}
	v.close()
	switch {
	case s.Choice != nil:
		v.chose = now
		v.driver.Choose(ctx, *s.Choice)
	case s.Answer != nil:
		v.chose = now
		v.driver.Proceed(ctx, s.Answer)
	default:
		v.driver.Decline()
		v.script.Dismiss()
	}
}

// rows draws the page. A waiting question is mentioned in the last row.
func (v *pageView) rows(w, h int) ([]draw.Row, *screen.Point) {
	rows, caret := v.current.rows(w, h)
	if v.driver.Held() || v.driver.Asking() {
		rows[len(rows)-1] = draw.Line(draw.Warning, "A question waits for you: Esc closes this.").Cut(w, v.cfg.Glyphs.More)
	}
	return rows, caret
}

// show draws the page on its own screen.
func (v *pageView) show() {
	rows, caret := v.rows(max(1, v.cfg.Width()-1), max(2, v.cfg.Height()))
	v.screen.Page(v.cfg.Palette.Unlinked().Lines(rows), caret)
}
