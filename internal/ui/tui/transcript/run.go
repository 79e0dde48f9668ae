package transcript

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/proc/shelf"
	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
)

// A run is a sequence of read-only calls: one row for each verb, with the names.
type run struct{ calls []*outcome }

// join adds a call. The text of an older one moves to the shelf, unless it has its own row.
func (r *run) join(o *outcome, s *shelf.Shelf) {
	r.calls = append(r.calls, o)
	i := len(r.calls) - 1 - recent
	if i >= 0 && slices.ContainsFunc(r.calls[i+1:], func(later *outcome) bool { return later.Verb == r.calls[i].Verb }) {
		r.calls[i].stow(s)
	}
}

func (r *run) group() group { return callGroup }

func (r *run) take(v view, closed bool) []draw.Row {
	if !closed {
		return nil
	}
	return r.rows(v)
}

func (r *run) live(v view, closed bool) []draw.Row { return r.rows(v) }

func (r *run) rows(v view) []draw.Row {
	var verbs []string
	groups := map[string][]*outcome{}
	for _, o := range r.calls {
		if groups[o.Verb] == nil {
			verbs = append(verbs, o.Verb)
		}
		groups[o.Verb] = append(groups[o.Verb], o)
	}
	rows := make([]draw.Row, len(verbs))
	for i, verb := range verbs {
		if rows[i] = groups[verb][0].head(v); len(groups[verb]) > 1 {
			rows[i] = folded(v, verb, groups[verb])
		}
	}
	return rows
}

// folded returns one row for several calls with the same verb. Each name appears once.
func folded(v view, verb string, calls []*outcome) draw.Row {
	var names []string
	seen := map[string]bool{}
	for _, o := range calls {
		if name := draw.Clean(o.Object); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if verb != "" {
		verb += " "
	}
	return draw.Row{{Role: draw.Good, Text: v.Glyphs.Done + " "}, {Text: verb + v.names(names, v.w-2-cells.Width(verb))}}
}

// names returns names in a list that fits into n cells. The rest is counted.
func (v view) names(names []string, n int) string {
	all := strings.Join(names, ", ")
	if cells.Width(all) <= n || len(names) == 1 {
		return all
	}
	text := names[0]
	for i, name := range names[1:] {
		longer := text + ", " + name
		if cells.Width(longer+more(len(names)-i-2)) > n {
			return text + more(len(names)-i-1)
		}
		text = longer
	}
	return text
}

// more returns the number of names that do not fit.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", +%d", n)
}

func (r *run) stow(s *shelf.Shelf) {
	for _, o := range r.calls {
		o.stow(s)
	}
}

func (r *run) whole(v view) []section {
	var all []section
	for _, o := range r.calls {
		all = append(all, o.whole(v)...)
	}
	return all
}
