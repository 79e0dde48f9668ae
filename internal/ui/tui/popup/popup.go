// Package popup shows what may continue the text of the composer: commands, their arguments, files. It finds them after
// each key, lets the user choose, and says what the choice puts into the text. Changing the text is left to the root.
package popup

import (
	"context"
	"slices"
	"strings"

	"adze/internal/desk/suggest"
	"adze/internal/platform/fuzzy"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A Source finds suggestions; see [suggest.Finder].
type Source interface {
	Commands(typed string) []suggest.Item
	Find(ctx context.Context, q suggest.Query) []suggest.Item
}

// A Popup is a list of suggestions. Make it with [New]. It belongs to one goroutine.
type Popup struct {
	source Source
	glyphs draw.Glyphs
	// beside runs a function in another goroutine, and then the function that it returns in this one.
	beside func(work func() (show func()))

	query  suggest.Query // what is being typed
	items  []suggest.Item
	chosen int
	moved  bool          // the user has chosen: the choice stays when better items arrive
	closed suggest.Query // the user does not want suggestions for what begins there
	chord  keys.Chord
	stop   context.CancelFunc // of the search that runs; may be nil
}

// New returns a popup that shows nothing. Beside runs a function in another goroutine, and then the function that it
// returns in the one that the popup belongs to.
func New(source Source, glyphs draw.Glyphs, beside func(work func() (show func()))) *Popup {
	return &Popup{source: source, glyphs: glyphs, beside: beside}
}

// Open reports whether something is suggested.
func (p *Popup) Open() bool { return len(p.items) > 0 }

// Close closes the popup, because the text was sent: what is typed next is another text.
func (p *Popup) Close() {
	p.cancel()
	p.query, p.closed, p.items = suggest.Query{}, suggest.Query{}, nil
}

// Typed finds suggestions for what stands before the caret. Whole says that it begins with the message.
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
	if strings.HasSuffix(q.Typed, "/") { // what was chosen before is not in the directory
		p.moved = false
	}
}

// same reports whether two queries are about the same place in the text.
func same(a, b suggest.Query) bool {
	return a.Kind == b.Kind && a.From == b.From && a.Command == b.Command
}

// keep leaves what still fits until better is known, so that nothing flickers and nothing is shown that does not fit. Goes
// says that the user goes on typing the same.
func (p *Popup) keep(goes bool) {
	if !goes {
		p.items, p.moved = nil, false
		return
	}
	fit := slices.Clone(p.items)
	p.show(slices.DeleteFunc(fit, func(it suggest.Item) bool { return fuzzy.Match(it.Label, p.query.Typed) == 0 }))
}

// search looks for suggestions beside. What comes late is dropped.
func (p *Popup) search(q suggest.Query) {
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.beside(func() func() {
		items := p.source.Find(ctx, q)
		return func() {
			if ctx.Err() == nil && p.query == q {
				p.cancel()
				p.show(items)
			}
		}
	})
}

// cancel ends the search that runs.
func (p *Popup) cancel() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// show shows items. The one that the user has chosen stays chosen if it is among them.
func (p *Popup) show(items []suggest.Item) {
	chosen := 0
	if p.moved && p.chosen < len(p.items) {
		label := p.items[p.chosen].Label
		chosen = max(0, slices.IndexFunc(items, func(it suggest.Item) bool { return it.Label == label }))
	}
	p.items, p.chosen = items, chosen
}

// marked reports whether Enter takes the choice. An argument may be anything, such as a word to look for: it is sent as it
// was typed, unless the user has moved to a suggestion. A bare slash chooses nothing.
func (p *Popup) marked() bool { return p.query.Kind != suggest.Arguments && !p.bare() || p.moved }

// bare reports whether nothing was typed of the name of a command.
func (p *Popup) bare() bool { return p.query.Kind == suggest.Commands && p.query.Typed == "" }

// Press handles a key while the popup is open, and reports whether it is for the popup.
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

// A Change is what a choice does to the text: the last characters before the caret are replaced.
type Change struct {
	// Typed is what is replaced, as it was typed.
	Typed string
	With  string
	// Runs says that the text is then entered: nothing more is needed.
	Runs bool
}

// Take returns what the choice does to the text before the caret, as Tab does. It reports false if nothing is open.
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

// Enter is like Take for Enter, which also runs a command that takes no arguments, if its name begins with what was typed
// or the user has moved to it: one that only has the letters in it may be another than was meant. It reports false if what was typed is
// complete already, so that there is nothing to choose; a directory is, unless the user has moved to something in it, and
// so is an argument. After a bare slash it does nothing until the user has moved.
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

// directory reports whether what was typed names a directory, and the user has chosen nothing in it.
func (p *Popup) directory() bool {
	typed := p.query.Typed
	if p.query.Kind != suggest.Files || !strings.HasSuffix(typed, "/") || p.moved {
		return false
	}
	return slices.ContainsFunc(p.items, func(it suggest.Item) bool { return strings.HasPrefix(it.Label, typed) })
}
