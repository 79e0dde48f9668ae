// Package picker shows a list on a screen of its own: the user moves through it, types to find something, looks at previews
// and chooses, or does something else with a choice. It knows no commands. What runs beside, and what is to be done in the
// end, is returned to the caller.
package picker

import (
	"context"
	"errors"
	"strings"

	"adze/internal/desk"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
)

// A Work is to be run beside, and what it returns in the goroutine that the picker belongs to.
type Work func(ctx context.Context) (done func() Step)

// A Step is what the caller is to do after an event.
type Step struct {
	// Beside are to be started, each in a goroutine of its own. The context is done when the picker is closed.
	Beside []Work
	// Close says that the picker is done. If Choice is not nil, the user has taken it; if Answer is not nil, it is to be
	// carried out. Back says that the user goes back to the list that led to this one, if there is one.
	Close  bool
	Back   bool
	Choice *desk.Choice
	Answer desk.Answer
	// Read is a page to be opened, for which the list has no room; the user goes back to the list from it. It may be nil.
	Read *desk.Page
	// Action is one that is not about the list.
	Action keys.Action
}

// A Picker shows a list. It belongs to one goroutine.
type Picker struct {
	// Nested says that another list led to this one.
	Nested bool

	list    desk.List
	glyphs  draw.Glyphs
	options draw.Options

	views []*view
	view  int
	field *edit.Field // what is looked for
	peek  keys.Chord  // knows what a key would do in a field
	found []int       // the choices of the view that fit, the best first
	at    int         // the place in found
	top   int         // the first place that is shown
	page  int         // how many choices are shown
	above scroll      // what is shown of the page before the choices
	size  struct{ w, h int }

	preview  preview
	contents contents
	asking   *asking // something that the user has to enter first; may be nil
	busy     bool    // an action runs
	said     []draw.Row
}

// New returns a picker, and what is to be run beside.
func New(list desk.List, g draw.Glyphs, o draw.Options) (*Picker, Step) {
	p := &Picker{list: list, glyphs: g, options: o, field: edit.New("", ""), page: 1}
	p.preview.pages = map[string]desk.Page{}
	for _, v := range list.Views {
		p.views = append(p.views, newView(v))
	}
	if len(p.views) == 0 {
		p.views = []*view{newView(desk.View{Choices: list.Choices})}
	}
	p.filter()
	return p, p.next()
}

// List returns what the picker shows.
func (p *Picker) List() desk.List { return p.list }

// Resume shows the list again after it was closed, and returns what is to be run beside: what it shows may have changed.
func (p *Picker) Resume() Step {
	p.busy, p.said, p.asking = false, nil, nil
	p.preview = preview{pages: map[string]desk.Page{}}
	for _, v := range p.views {
		v.loading = false
	}
	return p.with(p.load())
}

// Press takes an event.
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

// press has a field take an event. What a field for a message could do besides is left out.
func (p *Picker) press(f *edit.Field, ev keys.Event, m *keys.Map, contexts ...keys.Context) keys.Action {
	switch action, _ := p.peek.Press(m, ev, append(contexts, keys.Chat)...); action {
	case keys.Search, keys.Stash, keys.OpenEditor, keys.PickModel, keys.CycleMode:
		return ""
	}
	return f.Press(ev, m, 1000, contexts...)
}

// act carries out what a key is bound to.
func (p *Picker) act(action keys.Action) Step {
	switch action {
	case keys.SelectNext:
		p.move(1)
	case keys.SelectPrevious:
		p.move(-1)
	case keys.SelectPageDown:
		sheet{p}.turn(1)
	case keys.SelectPageUp:
		sheet{p}.turn(-1)
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

// close ends what runs beside.
func (p *Picker) close() Step {
	p.contents.stop()
	return Step{Close: true}
}

// choice returns the one that the user is at, or nil.
func (p *Picker) choice() *desk.Choice {
	if p.at >= len(p.found) {
		return nil
	}
	return &p.views[p.view].choices[p.found[p.at]]
}

func (p *Picker) move(by int) { p.at = max(0, min(p.at+by, len(p.found)-1)) }

// take takes the choice that the user is at.
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

// show shows another view.
func (p *Picker) show(i int) Step {
	n := len(p.views)
	p.view = (i + n) % n
	p.filter()
	return p.next()
}

// change gives the choice another value.
func (p *Picker) change(by int) Step {
	c := p.choice()
	if c == nil || p.busy {
		return Step{}
	}
	n := len(c.Values)
	if c.Value < 0 && by < 0 { // it has a value that is none of these
		c.Value = 0
	}
	c.Value = ((c.Value+by)%n + n) % n
	if p.list.Set == nil {
		return Step{}
	}
	changed := *c
	return p.run(func(ctx context.Context) (desk.Answer, error) {
		text, err := p.list.Set(ctx, changed)
		return desk.Say(text), err
	})
}

// run does something beside that may change the list, and then shows what came of it.
func (p *Picker) run(do func(ctx context.Context) (desk.Answer, error)) Step {
	p.busy, p.said = true, nil
	return p.with(func(ctx context.Context) func() Step {
		answer, err := do(ctx)
		return func() Step {
			p.busy = false
			page, stays := answer.(desk.Page)
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
				if p.said = draw.Page(page, draw.Options{Glyphs: p.glyphs}); !(sheet{p}).fits(p.said) {
					p.said = nil
					return Step{Read: &page}
				}
			}
			p.preview.forget()
			return p.with(p.load())
		}
	})
}

// sentence returns an error as it is shown.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// with returns a step with something to do beside, which may be nil, and what else is to be loaded.
func (p *Picker) with(w Work) Step {
	step := p.next()
	if w != nil {
		step.Beside = append(step.Beside, w)
	}
	return step
}

// next returns what has to be loaded to show what is shown.
func (p *Picker) next() Step {
	var step Step
	if v := p.views[p.view]; v.choices == nil && !v.loading && v.Load != nil {
		step.Beside = append(step.Beside, p.load())
	}
	if w := p.preview.load(p.list.Preview, p.choice(), p.next); w != nil {
		step.Beside = append(step.Beside, w)
	}
	return step
}
