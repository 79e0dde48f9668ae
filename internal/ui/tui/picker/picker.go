// Package picker shows a list, on its own screen or in a few rows: the user navigates, filters, sees previews and
// chooses, or performs other actions on a choice. Background work and the final result are
// returned to the caller.
package picker

import (
	"context"
	"errors"
	"strings"

	"adze/internal/commands"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
)

// A Work runs in another goroutine. The function it returns is called in the picker's
// goroutine.
type Work func(ctx context.Context) (done func() Step)

// A Step lists the caller's tasks after an event.
type Step struct {
	// Background lists work to start, each in its own goroutine. The context is canceled when the
	// picker is closed.
	Background []Work
	// If Close is true, the picker is done. A non-nil Choice was taken by the user; a non-nil
	// Answer is to be executed. If Back is true, the user returns to the list that led to this
	// one, if there is one.
	Close  bool
	Back   bool
	Choice *commands.Choice
	Answer commands.Answer
	// Read is a page that does not fit the list and is to be opened; the user returns from it
	// to the list. It may be nil.
	Read *commands.Page
	// Action is an action that the picker does not handle.
	Action keys.Action
}

// A Picker shows a list. It is not safe for concurrent use.
type Picker struct {
	// Nested is true if another list led to this one.
	Nested bool

	list    commands.List
	glyphs  draw.Glyphs
	options draw.Options

	views []*view
	view  int
	field *edit.Field // filter input
	peek  keys.Chord  // interprets a key as in a field
	found []int       // matching choices of the view, best first
	at    int         // index in found
	top   int         // first visible index
	page  int         // number of visible choices
	above scroll      // scroll position of the page before the choices
	size  struct{ w, h int }
	tall  int // rows of the tallest drawing for size; a list that is filtered keeps its height

	preview  preview
	contents contents
	asking   *pendingQuestion // pending question; may be nil
	busy     bool             // an action is running
	said     []draw.Row
}

// New returns a picker, and the work to start.
func New(list commands.List, g draw.Glyphs, o draw.Options) (*Picker, Step) {
	p := &Picker{list: list, glyphs: g, options: o, field: edit.New("", ""), page: 1}
	p.preview.pages = map[string]commands.Page{}
	for _, v := range list.Views {
		p.views = append(p.views, newView(v))
	}
	if len(p.views) == 0 {
		p.views = []*view{newView(commands.View{Choices: list.Choices})}
	}
	p.filter()
	return p, p.next()
}

// List returns the list that the picker shows.
func (p *Picker) List() commands.List { return p.list }

// Resume shows the list again after it was closed, and returns the work to start, since its
// content may have changed.
func (p *Picker) Resume() Step {
	p.busy, p.said, p.asking = false, nil, nil
	p.preview = preview{pages: map[string]commands.Page{}}
	for _, v := range p.views {
		v.loading = false
	}
	return p.with(p.load())
}

// Press handles an event.
func (p *Picker) Press(ev keys.Event, m *keys.Map) Step {
	if p.asking != nil {
		return p.answer(ev, m)
	}
	if a := p.actionOf(ev); a != nil {
		return p.begin(a)
	}
	p.said = nil
	contexts := []keys.Context{keys.Select}
	if c := p.choice(); c != nil && len(c.Values) > 0 {
		contexts = append(contexts, keys.Values)
	}
	before := p.field.Text()
	action := p.press(p.field, ev, m, contexts...)
	if p.field.Text() != before {
		p.filter()
		return p.with(p.searchContents())
	}
	return p.act(action)
}

// press passes an event to a field, ignoring actions that only make sense for messages.
func (p *Picker) press(f *edit.Field, ev keys.Event, m *keys.Map, contexts ...keys.Context) keys.Action {
	switch action, _ := p.peek.Press(m, ev, append(contexts, keys.Chat)...); action {
	case keys.Search, keys.Stash, keys.OpenEditor, keys.PickModel, keys.CycleMode:
		return ""
	}
	return f.Press(ev, m, 1000, contexts...)
}

// act performs an action.
func (p *Picker) act(action keys.Action) Step {
	switch action {
	case keys.SelectNext:
		p.move(1)
	case keys.SelectPrevious:
		p.move(-1)
	case keys.SelectPageDown:
		p.turn(1)
	case keys.SelectPageUp:
		p.turn(-1)
	case keys.SelectFirst:
		p.at = 0
	case keys.SelectLast:
		p.at = max(0, len(p.found)-1)
	case keys.NextView:
		return p.show(p.view + 1)
	case keys.PreviousView:
		return p.show(p.view - 1)
	case keys.NextValue:
		return p.change(1)
	case keys.PreviousValue:
		return p.change(-1)
	case keys.SelectAccept:
		return p.take()
	case keys.SelectCancel:
		if p.field.Text() != "" {
			p.field.Clear()
			p.filter()
			return p.next()
		}
		step := p.close()
		step.Back = true
		return step
	case keys.Interrupt, keys.Exit:
		return p.close()
	default:
		return Step{Action: action}
	}
	return p.next()
}

// close cancels background work.
func (p *Picker) close() Step {
	p.contents.stop()
	return Step{Close: true}
}

// choice returns the current choice, or nil.
func (p *Picker) choice() *commands.Choice {
	if p.at >= len(p.found) {
		return nil
	}
	return &p.views[p.view].choices[p.found[p.at]]
}

func (p *Picker) move(by int) { p.at = max(0, min(p.at+by, len(p.found)-1)) }

// take takes the current choice.
func (p *Picker) take() Step {
	c := p.choice()
	if c == nil || p.busy || p.list.Choose == nil {
		return p.next()
	}
	taken := *c
	step := p.close()
	step.Choice = &taken
	return step
}

// show switches to another view.
func (p *Picker) show(i int) Step {
	n := len(p.views)
	p.view = (i + n) % n
	p.filter()
	return p.next()
}

// change changes the value of the choice.
func (p *Picker) change(by int) Step {
	c := p.choice()
	if c == nil || p.busy {
		return Step{}
	}
	n := len(c.Values)
	if c.Value < 0 && by < 0 { // the current value is not in the list
		c.Value = 0
	}
	c.Value = ((c.Value+by)%n + n) % n
	if p.list.Set == nil {
		return Step{}
	}
	changed := *c
	return p.run(func(ctx context.Context) (commands.Answer, error) {
		text, err := p.list.Set(ctx, changed)
		return commands.Say(text), err
	})
}

// run runs an action that may change the list in the background, and shows its result.
func (p *Picker) run(do func(ctx context.Context) (commands.Answer, error)) Step {
	p.busy, p.said = true, nil
	return p.with(func(ctx context.Context) func() Step {
		answer, err := do(ctx)
		return func() Step {
			p.busy = false
			page, stays := answer.(commands.Page)
			switch {
			case errors.Is(err, context.Canceled):
				return Step{}
			case err != nil:
				p.said = []draw.Row{draw.Line(draw.Bad, sentence(err.Error()))}
			case !stays && answer != nil:
				step := p.close()
				step.Answer = answer
				return step
			default:
				if p.said = draw.Page(page, draw.Options{Glyphs: p.glyphs}); !p.fits(p.said) {
					p.said = nil
					return Step{Read: &page}
				}
			}
			p.preview.forget()
			return p.with(p.load())
		}
	})
}

// sentence formats an error for display.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// with returns a step with w, which may be nil, and any pending loads.
func (p *Picker) with(w Work) Step {
	step := p.next()
	if w != nil {
		step.Background = append(step.Background, w)
	}
	return step
}

// next returns a step with the loads needed for the current display.
func (p *Picker) next() Step {
	var step Step
	if v := p.views[p.view]; v.choices == nil && !v.loading && v.Load != nil {
		step.Background = append(step.Background, p.load())
	}
	if w := p.preview.load(p.list.Preview, p.choice(), p.next); w != nil {
		step.Background = append(step.Background, w)
	}
	return step
}
