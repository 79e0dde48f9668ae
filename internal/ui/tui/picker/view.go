package picker

import (
	"context"
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/platform/term/cells"
	"adze/internal/platform/text/rank"
	"adze/internal/ui/draw"
)

// A view is a part of the list, as far as it is loaded.
type view struct {
	commands.View
	choices []commands.Choice
	loading bool
	failed  string   // error if it could not be loaded
	lower   []string // searchable text of each choice, in lowercase
	titles  int      // width of the titles
	widths  []int    // column widths
}

func newView(v commands.View) *view {
	w := &view{View: v}
	w.set(v.Choices)
	return w
}

// set sets the view's choices and measures them.
func (v *view) set(choices []commands.Choice) {
	v.choices = slices.Clone(choices)
	v.lower, v.titles, v.widths = make([]string, len(choices)), 0, nil
	for i := range v.choices {
		c := &v.choices[i]
		c.Title, c.About = draw.Clean(c.Title), draw.Clean(c.About)
		c.Cells = slices.Clone(c.Cells)
		if len(c.Values) > 0 && len(c.Cells) == 0 {
			c.Cells = []string{""}
		}
		v.titles = max(v.titles, cells.Width(c.Title))
		for j := range c.Cells {
			c.Cells[j] = draw.Clean(c.Cells[j])
			if j == len(v.widths) {
				v.widths = append(v.widths, 0)
			}
			v.widths[j] = max(v.widths[j], cellWidth(c, j))
		}
		v.lower[i] = strings.ToLower(strings.Join(append([]string{c.Title, c.About}, c.Cells...), "\n"))
	}
}

// cellWidth returns the width of a cell. The first one shows the value, if the choice has
// values.
func cellWidth(c *commands.Choice, j int) int {
	if j > 0 || len(c.Values) == 0 {
		return cells.Width(c.Cells[j])
	}
	w := 0
	for i := range c.Values {
		w = max(w, cells.Width(value(&commands.Choice{Values: c.Values, Value: i}, true)))
	}
	return w
}

// load returns the work that loads the choices of the current view, or nil if the view is
// static.
func (p *Picker) load() Work {
	v := p.views[p.view]
	if v.Load == nil {
		return nil
	}
	v.loading = true
	return func(ctx context.Context) func() Step {
		choices, err := v.Load(ctx)
		return func() Step {
			v.loading, v.failed = false, ""
			if err != nil {
				v.failed = sentence(err.Error())
				choices = nil
			}
			if choices == nil {
				choices = []commands.Choice{}
			}
			at := p.choice()
			v.set(choices)
			if v == p.views[p.view] {
				p.refilter(at)
			}
			return p.next()
		}
	}
}

// refilter applies the filter again, and stays at a choice if it is still there.
func (p *Picker) refilter(at *commands.Choice) {
	was, id := p.at, ""
	if at != nil {
		id = at.ID
	}
	p.filter()
	p.at = max(0, min(was, len(p.found)-1))
	for i, f := range p.found {
		if p.views[p.view].choices[f].ID == id {
			p.at = i
		}
	}
}

// filter finds the choices that match the typed text, best first. Choices with merely scattered
// letters count only if nothing else matches.
func (p *Picker) filter() {
	v := p.views[p.view]
	p.found, p.at, p.top = p.found[:0], 0, 0
	typed := strings.ToLower(strings.TrimSpace(p.field.Text()))
	if typed == "" {
		for i := range v.choices {
			p.found = append(p.found, i)
		}
		return
	}
	words := strings.Fields(typed)
	var byRank [rank.Exact + 1][]int
	for i := range v.choices {
		r := rank.Match(v.choices[i].Title, typed)
		if r <= rank.Within {
			if containsAll(v.lower[i], words) {
				r = rank.Within
			} else if r == 0 && p.contents.has(v.choices[i].ID) {
				r = rank.Within
			}
		}
		byRank[r] = append(byRank[r], i)
	}
	for r := rank.Exact; r > rank.Scattered; r-- {
		p.found = append(p.found, byRank[r]...)
	}
	if len(p.found) == 0 {
		p.found = append(p.found, byRank[rank.Scattered]...)
	}
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
