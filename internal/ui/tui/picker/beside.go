package picker

import (
	"context"
	"strings"

	"adze/internal/commands"
)

// A preview caches the previews of choices.
type preview struct {
	pages   map[string]commands.Page
	loading bool
}

// forget drops the loaded previews after a change.
func (v *preview) forget() { clear(v.pages) }

// maxPreviews is the maximum number of cached previews.
const maxPreviews = 200

// load returns the work that loads the preview of a choice, or nil if there is nothing to load
// or a load is in progress. Next is called after it.
func (v *preview) load(from func(context.Context, commands.Choice) (commands.Page, error), c *commands.Choice, next func() Step) Work {
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
			page = commands.Say(sentence(err.Error()))
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

// contents holds the results of searching the choices' contents.
type contents struct {
	texts  map[string]string // keyed by choice ID; text around the match
	cancel func()            // cancels the running search; may be nil
	serial int
}

// has reports whether a choice's content matches.
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

// leastSearched is the minimum number of typed characters for a content search.
const leastSearched = 3

// searchContents returns the work that searches the choices' contents for the typed text, or
// nil if there is nothing to search. It cancels an earlier search.
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
