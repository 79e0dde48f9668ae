package filestate

import "slices"

// Clone returns a store that begins as this one, for a sub-agent. The texts of the files are not before the model of
// that agent: what it reads is sent to it.
func (s *Store) Clone() *Store {
	clone := New()
	s.mu.Lock()
	defer s.mu.Unlock()
	for el := s.order.Back(); el != nil; el = el.Prev() {
		e := *el.Value.(*Entry)
		e.Shown = false
		clone.put(e)
	}
	return clone
}

// Merge takes over what a sub-agent that has ended knows of files: of two versions the one that was modified last, and
// of the same version what both have seen. A file that is before the model of this conversation in an older version
// stays known as that, so that it is read again before it is changed.
func (s *Store) Merge(child *Store) {
	known := child.Recent()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(known) { // the one touched last comes first then
		e.Shown = false
		el, ok := s.entries[e.Path]
		if !ok {
			s.put(e)
			continue
		}
		old := *el.Value.(*Entry)
		switch {
		case old.sameVersion(e):
			merged := joined(old, e)
			merged.Complete = merged.Complete || Covers(merged.Seen, 1, merged.Total)
			s.put(merged)
		case e.Stamp.MTime > old.Stamp.MTime && !old.Shown:
			s.put(e)
		}
	}
}
