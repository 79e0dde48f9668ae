package osproc

import (
	"io"
	"time"
)

const (
	// pipeSize is what a pipe should hold, so that a program that prints much need not wait for us each time.
	pipeSize = 1 << 20
	// A program is fast if it prints a burst in less than fastTime. It is then read every pause: reading
	// each of its small writes by itself costs it and us more than the work on them.
	burst    = 1 << 20
	fastTime = 20 * time.Millisecond
	pause    = 200 * time.Microsecond

	// What is read at once, and for a program that is spoken to while it says little: there may be many of them.
	readSize, quietSize = 32 << 10, 2 << 10
)

// pour copies what r yields to w, which takes everything, until there is no more. Spoken says that r is a program that
// is spoken to.
func pour(w io.Writer, r io.Reader, spoken bool) {
	size := readSize
	if spoken {
		size = quietSize
	}
	quiet := make([]byte, size)
	buf := quiet
	printed, began, fast := 0, time.Now(), false
	for {
		n, err := r.Read(buf)
		w.Write(buf[:n]) // ok: an outlet keeps its own errors
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
