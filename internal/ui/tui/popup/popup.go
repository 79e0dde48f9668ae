// Package popup suggests completions for the composer: commands, their arguments, files. It
// searches after each key, lets the user choose, and returns the resulting text change.
package popup

import (
	"context"
	"slices"
	"strings"

	"adze/internal/commands/suggest"
	"adze/internal/platform/text/rank"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A Source finds suggestions; see [suggest.Finder].
type Source interface {
	Commands(typed string) []suggest.Item
	Find(ctx context.Context, q suggest.Query) []suggest.Item
}

// A Popup is a list of suggestions. Create it with [New]. It is not safe for concurrent use.
type Popup struct {
	source Source
	glyphs draw.Glyphs
	// background runs work in another goroutine, and then the function it returns in the popup's
	// goroutine.
	background func(work func() (show func()))

	query  suggest.Query // text being completed
	items  []suggest.Item
	chosen int
	moved  bool          // the user has moved: the selection stays when better items arrive
	closed suggest.Query // query for which the user has dismissed suggestions
	chord  keys.Chord
	stop   context.CancelFunc // cancels the running search; may be nil
}

// New returns an empty popup. Beside runs work in another goroutine, and then the function it
// returns in the goroutine that owns the popup.
func New(source Source, glyphs draw.Glyphs, beside func(work func() (show func()))) *Popup {
	return &Popup{source: source, glyphs: glyphs, background: beside}
}

// Open reports whether there are suggestions.
func (p *Popup) Open() bool { return len(p.items) > 0 }

// Close closes the popup because the text was sent, so that a new text begins.
func (p *Popup) Close() {
	p.cancel()
	p.query, p.closed, p.items = suggest.Query{}, suggest.Query{}, nil
}

// Typed finds suggestions for the text before the caret. If whole is true, before is the
// message from its beginning.
func (p *Popup) Typed(before string, whole bool) {
	q := suggest.Read(before, whole)
	if q == p.query {
		return
	}
	if q.Kind == 0 || !same(q, p.closed) {
		p.closed = suggest.Query{}
	}
	p.cancel()
	was := p.query
	p.query = q
	switch {
	case q.Kind == 0 || p.closed.Kind != 0:
		p.items = nil
	case q.Kind == suggest.Commands:
		p.moved = p.moved && same(q, was)
		p.show(p.source.Commands(q.Typed))
	default:
		p.keep(same(q, was))
		p.search(q)
	}
	if strings.HasSuffix(q.Typed, "/") { // the earlier selection is not in the directory
		p.moved = false
	}
}

// same reports whether two queries are about the same place in the text.
func same(a, b suggest.Query) bool {
	return a.Kind == b.Kind && a.From == b.From && a.Command == b.Command
}

// keep keeps the items that still match until new ones are found, to avoid flicker and stale
// suggestions. Goes is true if the user continues the same query.
func (p *Popup) keep(goes bool) {
	if !goes {
		p.items, p.moved = nil, false
		return
	}
	fit := slices.Clone(p.items)
	p.show(slices.DeleteFunc(fit, func(it suggest.Item) bool { return rank.Match(it.Label, p.query.Typed) == 0 }))
}

// search searches for suggestions in the background. Late results are dropped.
func (p *Popup) search(q suggest.Query) {
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.background(func() func() {
		items := p.source.Find(ctx, q)
		return func() {
			if ctx.Err() == nil && p.query == q {
				p.cancel()
				p.show(items)
			}
		}
	})
}

// cancel cancels the running search.
func (p *Popup) cancel() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// show shows items. The user's selection is kept if it is among them.
func (p *Popup) show(items []suggest.Item) {
	chosen := 0
	if p.moved && p.chosen < len(p.items) {
		label := p.items[p.chosen].Label
		chosen = max(0, slices.IndexFunc(items, func(it suggest.Item) bool { return it.Label == label }))
	}
	p.items, p.chosen = items, chosen
}

// marked reports whether Enter accepts the selection. An argument may be anything, such as a
// search word: it is sent as typed, unless the user has moved to a suggestion. A bare slash
// selects nothing.
func (p *Popup) marked() bool { return p.query.Kind != suggest.Arguments && !p.bare() || p.moved }

// bare reports whether the command name is still empty.
func (p *Popup) bare() bool { return p.query.Kind == suggest.Commands && p.query.Typed == "" }

// Press handles a key while the popup is open, and reports whether it was for the popup.
func (p *Popup) Press(ev keys.Event, m *keys.Map) bool {
	if !p.Open() {
		return false
	}
	action, taken := p.chord.Press(m, ev, keys.Autocomplete)
	switch n := len(p.items); action {
	case keys.PopupNext:
		if p.marked() {
			p.chosen = (p.chosen + 1) % n
		}
		p.moved = true
	case keys.PopupPrevious:
		p.chosen, p.moved = (p.chosen+n-1)%n, true
	case keys.PopupDismiss:
		p.closed = p.query
		p.cancel()
		p.items = nil
	}
	return taken
}

// A Change is the effect of a choice: it replaces the last characters before the caret.
type Change struct {
	// Typed is the text to replace, as it was typed.
	Typed string
	With  string
	// If Runs is true, the text is complete and is entered.
	Runs bool
}

// Take returns the effect of accepting the selection with Tab on the text before the caret. It
// reports false if the popup is not open.
func (p *Popup) Take(before string) (Change, bool) {
	if !p.Open() || p.query.From > len(before) {
		return Change{}, false
	}
	it := p.items[p.chosen]
	c := Change{Typed: before[p.query.From:], With: it.Text}
	if !it.Continues {
		c.With += " "
	}
	return c, true
}

// Enter is like Take for the Enter key, which also runs a command that takes no arguments. It
// does so only if the command's name begins with the typed text or the user has moved to it,
// because a fuzzy match may not be the intended command. It reports false if the typed text is
// already complete; this includes an argument, and a directory unless the user has moved to an
// item in it. After a bare slash it does nothing until the user has moved.
func (p *Popup) Enter(before string) (Change, bool) {
	c, ok := p.Take(before)
	if ok && p.bare() && !p.moved {
		return Change{Typed: c.Typed, With: c.Typed}, true
	}
	if !ok || !p.marked() || p.items[p.chosen].Text == c.Typed {
		return Change{}, false
	}
	if p.directory() {
		if strings.HasPrefix(c.Typed, `@"`) {
			return Change{Typed: c.Typed, With: c.Typed + `"`, Runs: true}, true
		}
		return Change{}, false
	}
	it := p.items[p.chosen]
	meant := p.moved || len(it.Text) >= len(c.Typed) && strings.EqualFold(it.Text[:len(c.Typed)], c.Typed)
	if p.query.Kind == suggest.Commands && it.Args == "" && meant {
		c.With, c.Runs = it.Text, true
	}
	return c, true
}

// directory reports whether the typed text names a directory and the user has not moved to an
// item in it.
func (p *Popup) directory() bool {
	typed := p.query.Typed
	if p.query.Kind != suggest.Files || !strings.HasSuffix(typed, "/") || p.moved {
		return false
	}
	return slices.ContainsFunc(p.items, func(it suggest.Item) bool { return strings.HasPrefix(it.Label, typed) })
}
