package skills

import (
	"sync/atomic"

	"adze/internal/app/headstart"
)

// A Start is what an earlier session told of skills. It counts until they are looked up. Nil never counts; it is safe for
// concurrent use.
type Start struct {
	known atomic.Pointer[headstart.Skills]
}

// NewStart returns a start with what is known, which may be nil.
func NewStart(known *headstart.Skills) *Start {
	s := &Start{}
	s.known.Store(known)
	return s
}

// get returns what is known, or nil if that does not count any more.
func (s *Start) get() *headstart.Skills {
	if s == nil {
		return nil
	}
	return s.known.Load()
}

// End says that skills were looked up.
func (s *Start) End() {
	if s != nil {
		s.known.Store(nil)
	}
}
