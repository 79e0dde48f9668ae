package regex

// A sparse is a set of numbers below its capacity, in insertion order.
type sparse struct {
	dense  []uint32
	places []uint32 // index of each number in dense, if present
}

func newSparse(n int) sparse {
	return sparse{dense: make([]uint32, 0, n), places: make([]uint32, n)}
}

func (s *sparse) clear() { s.dense = s.dense[:0] }

// add adds n and reports whether it was new.
func (s *sparse) add(n uint32) bool {
	if at := s.places[n]; int(at) < len(s.dense) && s.dense[at] == n {
		return false
	}
	s.places[n] = uint32(len(s.dense))
	s.dense = append(s.dense, n)
	return true
}
