//go:build !unix

package shell

import "time"

var started = time.Now()

// cpuTime stands in with the time of the clock.
func cpuTime() time.Duration { return time.Since(started) }
