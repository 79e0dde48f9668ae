//go:build unix && !linux && !darwin

package gitrepo

import "time"

// born returns when a file was made.
func born(path string) (time.Time, bool) { return time.Time{}, false }
