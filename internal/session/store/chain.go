package store

import "slices"

// chain returns the messages of the conversation in order: from the newest one back along the parents,
// as far as the last compaction, with what that one kept.
//
// A parent that is not there was on a line that is damaged; the message before it in the log takes its
// place. Times are not looked at: a clock may have been set back.
func (x *index) chain(cut bool) (places []int32, mark *Boundary, lost bool) {
	if x.last < 0 {
		return nil, nil, false
	}
	b := len(x.boundaries) - 1
	seen := make(map[int32]bool)
	for at := x.last; at >= 0 && !seen[at]; at = x.before(at, cut) {
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
		return places, nil, false
	}
	front, kept, lost := x.preserved(b)
	places = slices.DeleteFunc(places, func(at int32) bool { return kept[at] })
	return append(front, places...), x.marks[b], lost
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
	if _, ok := x.byID[makeID([]byte(mark.Summary))]; mark.Summary == "" || !ok {
		return true // nothing tells a branch apart
	}
	return slices.ContainsFunc(mark.Kept, func(kept string) bool { return x.links[at].id == makeID([]byte(kept)) })
}

func (x *index) isSummary(b int, at int32) bool {
	return x.marks[b].Summary != "" && x.links[at].id == makeID([]byte(x.marks[b].Summary))
}

// preserved returns the summary and the messages that a compaction kept, as far as they are there, and
// whether the summary is not.
func (x *index) preserved(b int) (places []int32, kept map[int32]bool, lost bool) {
	mark := x.marks[b]
	kept = map[int32]bool{}
	add := func(uuid string) bool {
		at, ok := x.byID[makeID([]byte(uuid))]
		if ok = ok && x.links[at].message && !kept[at]; ok {
			kept[at] = true
			places = append(places, at)
		}
		return ok
	}
	if mark.Summary != "" && !add(mark.Summary) {
		return nil, nil, true
	}
	for _, uuid := range mark.Kept {
		add(uuid) // ok: what is not there is left out
	}
	if mark.Behind && mark.Summary != "" {
		places = append(places[1:], places[0])
	}
	return places, kept, false
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
