package store

import "slices"

// chain returns the messages of the conversation in order: from the newest one back along the parents,
// as far as the last compaction, with what that one kept.
//
// A parent that is not there was on a line that is damaged; the message before it in the log takes its
// place. Times are not looked at: a clock may have been set back.
func (x *index) chain(cut bool) (places []int32, mark *Boundary) {
	if x.last < 0 {
		return nil, nil
	}
	b := len(x.boundaries) - 1
	seen := make(map[int32]bool)
	at := x.last
	for ; at >= 0 && !seen[at]; at = x.before(at, cut) {
		// A message that continues one from before the compaction, and none that it kept, is on a branch
		// that the compaction is no part of.
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
		front = front[:i+1] // the conversation went back to it
	}
	places = slices.DeleteFunc(places, func(at int32) bool { return kept[at] })
	return append(front, places...), x.marks[b]
}

// discardTorn forgets the compactions that were not written whole, with what there is of them: the conversation
// is then what it was before. It reports whether the last one was such. Partial says that reading stopped
// before the end of the log.
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
				l.message, l.named, l.root = false, false, false // what continues it continues the message before it
			}
		}
	}
	x.boundaries, x.marks = boundaries, marks
	return last
}

// isWhole reports whether all that the compaction at a place is to be followed by is there, or at least one
// message if it names none. Of what was recast the last counts: a damaged line before it costs that line alone.
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

// before returns the record that the one at a place continues, or -1.
func (x *index) before(at int32, cut bool) int32 {
	l := &x.links[at]
	if l.named {
		if parent, ok := x.byID[l.parent]; ok {
			return parent
		}
		if cut {
			return -1 // it is further up than was read
		}
	}
	if l.root {
		return -1
	}
	return l.prev
}

// ends reports whether a chain that comes to a place before boundary b has passed the compaction.
func (x *index) ends(b int, at int32) bool {
	mark := x.marks[b]
	if mark.Summary == "" {
		return true // nothing tells a branch apart
	}
	return slices.ContainsFunc(mark.Kept, func(kept string) bool { return x.links[at].id == makeID([]byte(kept)) })
}

func (x *index) isSummary(b int, at int32) bool {
	return x.marks[b].Summary != "" && x.links[at].id == makeID([]byte(x.marks[b].Summary))
}

// preserved returns the summary and the messages that a compaction kept, as far as they are there.
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

// all returns every message, in the order of the log.
func (x *index) all() (places []int32) {
	for at := range x.links {
		if x.links[at].message {
			places = append(places, int32(at))
		}
	}
	return places
}
