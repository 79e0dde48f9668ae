package osproc

import (
	"io"
	"time"
)

const (
	// pipeSize is the desired pipe capacity, so that a program with much output rarely blocks.
	pipeSize = 1 << 20
	// A program is fast if it prints burst bytes in less than fastTime. Its output is then only
	// read every pause, because reading each small write separately costs more than processing
	// it.
	burst    = 1 << 20
	fastTime = 20 * time.Millisecond
	pause    = 200 * time.Microsecond

	// readSize is the read buffer size. quietSize is used for interactive programs while they
	// print little, because there may be many of them.
	readSize, quietSize = 32 << 10, 2 << 10
)

// copyOutput copies r to w until EOF. w must accept everything. spoken means that r is the output of
// an interactive program.
func copyOutput(w io.Writer, r io.Reader, spoken bool) {
	size := readSize
	if spoken {
		size = quietSize
	}
	quiet := make([]byte, size)
	buf := quiet
	printed, began, fast := 0, time.Now(), false
	for {
		n, err := r.Read(buf)
		w.Write(buf[:n]) // ok: the outlet records its errors
		if err != nil {
			return
		}
		switch {
		case spoken && n == len(buf) && len(buf) < readSize:
			buf = make([]byte, readSize)
		case spoken && n < quietSize:
			buf = quiet
		}
		if printed += n; printed >= burst {
			now := time.Now()
			fast = now.Sub(began) < fastTime
			printed, began = 0, now
			if fast && len(buf) < pipeSize/4 {
				buf = make([]byte, pipeSize/4)
			}
		}
		if fast && n < len(buf)/2 {
			time.Sleep(pause)
		}
	}
}
