package filestate

import "slices"

// Clone returns a copy of the store for a sub-agent. No text is marked as shown: the
// sub-agent's model has not seen it and must read it again.
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

// Merge merges the entries of a finished sub-agent's store. Of two versions of a file the newer
// wins; for equal versions, the seen lines are combined. A file whose older version is shown to
// this conversation's model keeps that entry, so the model must read it again before changing
// it.
func (s *Store) Merge(child *Store) {
	known := child.Recent()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(known) { // so that the most recently used ends up first
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
