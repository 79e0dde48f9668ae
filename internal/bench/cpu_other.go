//go:build !unix

package main

import (
	"os"
	"time"
)

// cpuTime returns 0: it is not measured here.
func cpuTime() time.Duration { return 0 }

// maxRSS returns 0: it is not measured here.
func maxRSS(*os.ProcessState) int64 { return 0 }
