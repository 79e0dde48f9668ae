//go:build !unix

package main

import (
	"os"
	"time"
)

// started is when this process began.
var started = time.Now()

// maxRSS returns 0: it is not measured here.
func maxRSS(*os.ProcessState) int64 { return 0 }

// cpuTime returns the time since the start: what others use is not told apart here.
func cpuTime() time.Duration { return time.Since(started) }
