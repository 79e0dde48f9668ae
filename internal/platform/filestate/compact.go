package filestate

// Recent returns what is known of the files, the one touched last first.
func (s *Store) Recent() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Entry
	for el := s.order.Front(); el != nil; el = el.Next() {
		all = append(all, *el.Value.(*Entry))
	}
	return all
}

// Clear forgets every file: what the conversation knew of them is gone from it.
func (s *Store) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for el := s.order.Front(); el != nil; el = s.order.Front() {
		s.remove(el)
	}
}
