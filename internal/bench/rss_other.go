//go:build !unix

package main

import (
	"os"
	"time"
)

// started is the start time of this process.
var started = time.Now()

// maxRSS returns 0 because this system does not report it.
func maxRSS(*os.ProcessState) int64 { return 0 }

// cpuTime returns the wall time since the start, because CPU time is unavailable here.
func cpuTime() time.Duration { return time.Since(started) }
