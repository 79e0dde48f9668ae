package picker

import (
	"context"
	"strings"

	"adze/internal/desk"
)

// A preview holds what is shown of choices.
type preview struct {
	pages   map[string]desk.Page
	loading bool
}

// forget drops what was loaded, after something has changed.
func (v *preview) forget() { clear(v.pages) }

// maxPreviews is how many are kept.
const maxPreviews = 200

// load returns what loads the preview of a choice, or nil if there is nothing to load, or one is being loaded. Next is
// called after it.
func (v *preview) load(from func(context.Context, desk.Choice) (desk.Page, error), c *desk.Choice, next func() Step) Work {
	if from == nil || c == nil || v.loading {
		return nil
	}
	if _, ok := v.pages[c.ID]; ok {
		return nil
	}
	v.loading = true
	choice := *c
	return func(ctx context.Context) func() Step {
		page, err := from(ctx, choice)
		if err != nil {
			page = desk.Say(sentence(err.Error()))
		}
		return func() Step {
			v.loading = false
			if len(v.pages) >= maxPreviews {
				clear(v.pages)
			}
			v.pages[choice.ID] = page
			return next()
		}
	}
}

// Contents are what was found in what the choices stand for.
type contents struct {
	texts  map[string]string // by id, around the place
	cancel func()            // ends the search that runs; may be nil
	serial int
}

// has reports whether something was found in a choice.
func (c *contents) has(id string) bool {
	_, ok := c.texts[id]
	return ok
}

func (c *contents) stop() {
	if c.cancel != nil {
		c.cancel()
		c.cancel = nil
	}
	c.serial++
}

// leastSearched is how many characters have to be typed before contents are searched.
const leastSearched = 3

// searchContents returns what looks for what was typed in what the choices stand for, or nil if there is nothing to look
// for. A search for something else ends.
func (p *Picker) searchContents() Work {
	c := &p.contents
	c.stop()
	c.texts = nil
	text := strings.TrimSpace(p.field.Text())
	if p.list.Search == nil || len([]rune(text)) < leastSearched {
		return nil
	}
	serial := c.serial
	stopped, stop := context.WithCancel(context.Background())
	c.cancel = stop
	return func(ctx context.Context) func() Step {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stopped, cancel)()
		found, err := p.list.Search(ctx, text)
		return func() Step {
			if serial != c.serial || err != nil {
				return Step{}
			}
			c.cancel = nil
			c.texts = map[string]string{}
			for _, f := range found {
				c.texts[f.ID] = f.Text
			}
			p.refilter(p.choice())
			return p.next()
		}
	}
}
