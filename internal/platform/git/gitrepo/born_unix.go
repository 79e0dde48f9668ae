//go:build unix && !linux && !darwin

package gitrepo

import "time"

// creationTime is not available on this system.
func born(path string) (time.Time, bool) { return time.Time{}, false }
