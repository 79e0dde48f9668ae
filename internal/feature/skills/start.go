package skills

import (
	"sync/atomic"

	"adze/internal/feature/startcache"
)

// A Start is an earlier session's skill listing, valid until the skills are loaded. Nil is
// never valid. It is safe for concurrent use.
type Start struct {
	known atomic.Pointer[startcache.Skills]
}

// NewStart returns a Start for known, which may be nil.
func NewStart(known *startcache.Skills) *Start {
	s := &Start{}
	s.known.Store(known)
	return s
}

// get returns the listing, or nil after it has been invalidated.
func (s *Start) get() *startcache.Skills {
	if s == nil {
		return nil
	}
	return s.known.Load()
}

// End invalidates the listing after the skills have been loaded.
func (s *Start) End() {
	if s != nil {
		s.known.Store(nil)
	}
}
