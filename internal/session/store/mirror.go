package store

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A Mirror keeps a copy of a log elsewhere.
type Mirror interface {
	// Send delivers whole lines of the log, the first of which begins at offset seq. Offsets are the
	// sequence numbers: each call goes on where the one before ended, or repeats what failed. It gives
	// up when ctx is done.
	Send(ctx context.Context, seq int64, lines []byte) error
}

const (
	// mirrorBatch is how much is sent at once, unless a line is longer.
	mirrorBatch = 1 << 20
	// mirrorGrace is how long the end of a session waits for its mirror.
	mirrorGrace = 2 * time.Second
	// mirrorPause is the time between two tries, at first and at most.
	mirrorPause, mirrorMaxPause = time.Second, time.Minute
)

// A mirror sends what is written to a log on to a [Mirror]. It reads it from the log itself, so a slow
// one costs no memory, and it never makes the log wait. The nil mirror does nothing.
type mirror struct {
	to     Mirror
	warn   func(string)
	path   string
	news   chan struct{} // there is more, or it is time to end
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	size   int64 // of the log
	closed bool
}

func newMirror(to Mirror, warn func(string), path string, size int64) *mirror {
	ctx, cancel := context.WithCancel(context.Background())
	m := &mirror{to: to, warn: warn, path: path, size: size, news: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		m.run(ctx, size)
	}()
	return m
}

// wrote says how long the log is now.
func (m *mirror) wrote(size int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	m.size = size
	m.mu.Unlock()
	m.wake()
}

// close sends what is left, if that does not take long.
func (m *mirror) close() {
	if m == nil {
		return
	}
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.wake()
	select {
	case <-m.done:
	case <-time.After(mirrorGrace):
	}
	m.cancel()
	<-m.done
}

func (m *mirror) wake() {
	select {
	case m.news <- struct{}{}:
	default:
	}
}

func (m *mirror) status() (size int64, closed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.size, m.closed
}

func (m *mirror) run(ctx context.Context, sent int64) {
	warned, pause := false, mirrorPause
	for ctx.Err() == nil {
		size, closed := m.status()
		if sent == size {
			if closed {
				return
			}
			select {
			case <-m.news:
			case <-ctx.Done():
			}
			continue
		}
		n, err := m.send(ctx, sent, size)
		if err == nil {
			sent, pause = sent+n, mirrorPause
			continue
		}
		if !warned && m.warn != nil && ctx.Err() == nil {
			warned = true
			m.warn(fmt.Sprintf("The copy of the transcript is behind: %v. The transcript itself is complete; sending is tried again.", err))
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, mirrorMaxPause)
		case <-ctx.Done():
		}
	}
}

// send sends some of the lines between two offsets, and returns how much.
func (m *mirror) send(ctx context.Context, from, to int64) (int64, error) {
	f, err := os.Open(m.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for length := min(to-from, mirrorBatch); ; length = min(to-from, 2*length) {
		buf := make([]byte, length)
		if _, err := io.ReadFull(io.NewSectionReader(f, from, length), buf); err != nil {
			return 0, err
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		if end == 0 && length < to-from {
			continue
		}
		return int64(end), m.to.Send(ctx, from, buf[:end])
	}
}
