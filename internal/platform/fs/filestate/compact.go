package filestate

// Recent returns all entries, most recently used first.
func (s *Store) Recent() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Entry
	for el := s.order.Front(); el != nil; el = el.Next() {
		all = append(all, *el.Value.(*Entry))
	}
	return all
}

// Clear removes all entries, after the conversation has lost their content.
func (s *Store) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for el := s.order.Front(); el != nil; el = s.order.Front() {
		s.remove(el)
	}
}
