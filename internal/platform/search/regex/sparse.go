package regex

// A sparseSet is a set of numbers below its capacity, in insertion order.
type sparseSet struct {
	dense  []uint32
	places []uint32 // index of each number in dense, if present
}

func newSparse(n int) sparseSet {
	return sparseSet{dense: make([]uint32, 0, n), places: make([]uint32, n)}
}

func (s *sparseSet) clear() { s.dense = s.dense[:0] }

// add adds n and reports whether it was new.
func (s *sparseSet) add(n uint32) bool {
	if at := s.places[n]; int(at) < len(s.dense) && s.dense[at] == n {
		return false
	}
	s.places[n] = uint32(len(s.dense))
	s.dense = append(s.dense, n)
	return true
}
