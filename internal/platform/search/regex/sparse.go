package regex

// A sparse set holds numbers below its capacity, in the order in which they came.
type sparse struct {
	dense  []uint32
	places []uint32 // of each number in dense, if it is there
}

func newSparse(n int) sparse {
	return sparse{dense: make([]uint32, 0, n), places: make([]uint32, n)}
}

func (s *sparse) clear() { s.dense = s.dense[:0] }

// add puts n into the set and reports whether it was not there.
func (s *sparse) add(n uint32) bool {
	if at := s.places[n]; int(at) < len(s.dense) && s.dense[at] == n {
		return false
	}
	s.places[n] = uint32(len(s.dense))
	s.dense = append(s.dense, n)
	return true
}
