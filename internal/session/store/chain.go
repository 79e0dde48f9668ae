package store

import "slices"

// chain returns the messages of the conversation in order: from the newest one back along the
// parents to the last compaction, including the messages it kept.
//
// A missing parent was on a damaged line; the preceding message in the log replaces it.
// Timestamps are ignored because a clock may have been set back.
func (x *index) chain(cut bool) (places []int32, mark *Boundary) {
	if x.last < 0 {
		return nil, nil
	}
	b := len(x.boundaries) - 1
	seen := make(map[int32]bool)
	at := x.last
	for ; at >= 0 && !seen[at]; at = x.before(at, cut) {
		// A message whose parent is older than the compaction, and was not kept by it, is on a
		// branch without the compaction.
		for b >= 0 && at < x.boundaries[b] && !x.ends(b, at) {
			b--
		}
		if b >= 0 && at <= x.boundaries[b] {
			break
		}
		seen[at] = true
		if x.links[at].message {
			places = append(places, at)
		}
		if b >= 0 && x.isSummary(b, at) {
			break
		}
	}
	slices.Reverse(places)
	if b < 0 {
		return places, nil
	}
	front, kept := x.preserved(b)
	if i := slices.Index(front, at); i >= 0 && x.rewound[at] {
		front = front[:i+1] // the conversation was rewound to it
	}
	places = slices.DeleteFunc(places, func(at int32) bool { return kept[at] })
	return append(front, places...), x.marks[b]
}

// older returns the end of the conversation before a compaction, in order. It is empty if the
// conversation was rewound to before it.
func (x *index) older(mark *Boundary, cut bool) (places []int32) {
	b := slices.Index(x.marks, mark)
	if b < 0 || x.last <= x.boundaries[b] {
		return nil
	}
	seen := map[int32]bool{}
	for at := x.lastBefore(b); at >= 0 && len(places) < x.opt.Older && !seen[at]; {
		seen[at] = true
		copied := b > 0 && x.recast(b-1, at)
		if x.links[at].message && !copied {
			places = append(places, at)
		}
		if copied || b > 0 && x.isSummary(b-1, at) {
			b--
			at = x.lastBefore(b)
		} else {
			at = x.before(at, cut)
		}
	}
	slices.Reverse(places)
	return places
}

// lastBefore returns the last message before boundary b, or -1.
func (x *index) lastBefore(b int) int32 {
	if at, ok := x.byID[makeID([]byte(x.marks[b].Last))]; ok && at < x.boundaries[b] {
		return at
	}
	return x.links[x.boundaries[b]].prev
}

// recast reports whether the message at a place is the copy of an earlier one that the
// compaction of boundary b wrote.
func (x *index) recast(b int, at int32) bool {
	return slices.ContainsFunc(x.marks[b].Recast, func(id string) bool { return x.links[at].id == makeID([]byte(id)) })
}

// discardTorn drops incompletely written compactions and their messages, which restores the
// conversation before them. It reports whether the last compaction was dropped. Partial means
// that reading stopped before the end of the log.
func (x *index) discardTorn(partial bool) (last bool) {
	boundaries, marks := x.boundaries[:0], x.marks[:0]
	for i, at := range x.boundaries {
		mark := x.marks[i]
		if last = !x.isWhole(at, mark, partial); !last {
			boundaries, marks = append(boundaries, at), append(marks, mark)
			continue
		}
		for _, uuid := range append([]string{mark.Summary}, mark.Recast...) {
			if part, ok := x.byID[makeID([]byte(uuid))]; ok && part > at {
				l := &x.links[part]
				l.message, l.named, l.root = false, false, false // its children continue the preceding message
			}
		}
	}
	x.boundaries, x.marks = boundaries, marks
	return last
}

// isWhole reports whether all messages named by the compaction at a place are present, or at
// least one message if it names none. Of the recast messages only the last counts: a damaged
// line before it loses only that line.
func (x *index) isWhole(at int32, mark *Boundary, partial bool) bool {
	if mark.Summary == "" {
		return x.last > at
	}
	there := func(uuid string) bool {
		part, ok := x.byID[makeID([]byte(uuid))]
		return ok && x.links[part].message
	}
	n := len(mark.Recast)
	return there(mark.Summary) && (n == 0 || partial || there(mark.Recast[n-1]))
}

// before returns the parent of the record at a place, or -1.
func (x *index) before(at int32, cut bool) int32 {
	l := &x.links[at]
	if l.named {
		if parent, ok := x.byID[l.parent]; ok {
			return parent
		}
		if cut {
			return -1 // before the part that was read
		}
	}
	if l.root {
		return -1
	}
	return l.prev
}

// ends reports whether a chain that reaches a place before boundary b has passed the
// compaction.
func (x *index) ends(b int, at int32) bool {
	mark := x.marks[b]
	if mark.Summary == "" {
		return true // branches cannot be distinguished
	}
	return slices.ContainsFunc(mark.Kept, func(kept string) bool { return x.links[at].id == makeID([]byte(kept)) })
}

func (x *index) isSummary(b int, at int32) bool {
	return x.marks[b].Summary != "" && x.links[at].id == makeID([]byte(x.marks[b].Summary))
}

// preserved returns the summary and the kept messages of a compaction, if present.
func (x *index) preserved(b int) (places []int32, kept map[int32]bool) {
	mark := x.marks[b]
	kept = map[int32]bool{}
	add := func(uuid string) {
		at, ok := x.byID[makeID([]byte(uuid))]
		if ok && x.links[at].message && !kept[at] {
			kept[at] = true
			places = append(places, at)
		}
	}
	if mark.Summary != "" {
		add(mark.Summary)
	}
	for _, uuid := range mark.Kept {
		add(uuid)
	}
	if mark.Behind && mark.Summary != "" {
		places = append(places[1:], places[0])
	}
	return places, kept
}

// all returns every message in log order.
func (x *index) all() (places []int32) {
	for at := range x.links {
		if x.links[at].message {
			places = append(places, int32(at))
		}
	}
	return places
}
