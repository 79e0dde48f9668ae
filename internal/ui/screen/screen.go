// Package screen renders to a terminal: finished lines, which are written once, and below them
// a few live rows that are updated in place. Scrolled-off lines never change. It sends no
// queries and requires only cursor movement, erasing and
// inserting lines. A slow terminal does not block
// callers: it receives every finished line, but only the latest live rows. Apart from styles
// and links, control sequences are never written.
package screen

import (
	"io"
	"sync"
	"time"

	"adze/internal/platform/term"
)

// A Point is a position in the live rows: a row and a cell in it, from 0.
type Point struct{ Row, Col int }

// A Screen is a terminal. Its methods must not be called concurrently. Only [Screen.Leave]
// waits for the terminal.
type Screen struct {
	w    io.Writer
	size func() (width, height int)

	// Owned by the writing goroutine.
	region region
	sheet  sheet
	memory []byte

	mu       sync.Mutex
	queue    queue
	settles  time.Time     // time at which the size counts as settled; see [settling]
	again    *time.Timer   // then shows all rows; nil before the first change
	done     chan struct{} // closed when everything is written; nil if nothing is queued
	progress int           // number of pieces written
	room     chan struct{}
}

// A queue holds the output that is not yet written.
type queue struct {
	final   []string
	bytes   int // size of final
	live    []string
	caret   Point
	changed bool // there is something to show
	clear   bool // scroll away everything above the live rows
	forget  bool // another program has used the terminal
	page    *page
	sent    string // other sequences
}

// New returns a screen that begins on an empty line. Size returns the terminal size and is
// called from a goroutine of the screen.
func New(w io.Writer, size func() (width, height int), reflow term.Reflow) *Screen {
	return &Screen{w: w, size: size, region: region{reflow: reflow}, room: make(chan struct{}, 1)}
}

// Frame writes the final lines, and below them the live rows with the cursor at caret. If not
// all rows fit, the rows ending with the caret's row are shown. Final lines wider than the
// terminal are written whole; live rows are cut. The screen takes ownership of the rows.
func (s *Screen) Frame(final, live []string, caret Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.final = append(s.queue.final, final...)
	for _, line := range final {
		s.queue.bytes += len(line) + 1
	}
	s.queue.live, s.queue.caret = live, caret
	if s.queue.page == nil {
		s.start()
	}
}

// Send writes a sequence without visible output, such as one for the clipboard, in order.
func (s *Screen) Send(sequence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.sent += sequence
	s.start()
}

// Written reports whether everything has been written.
func (s *Screen) Written() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done == nil
}

// Full reports whether so many final lines are queued that no more should be produced.
func (s *Screen) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.bytes >= maxWaiting
}

// Room returns a channel that receives a value when there is room for more lines, or nil if
// there already is.
func (s *Screen) Room() <-chan struct{} {
	if !s.Full() {
		return nil
	}
	return s.room
}

// maxWaiting is the maximum size of queued final lines. maxPiece is the maximum size written at
// a time: live rows are updated between pieces.
const (
	maxWaiting = 1 << 20
	maxPiece   = 32 << 10
)

// Forget abandons the live rows in place after another program has written to the terminal. The
// next ones begin in the line of the cursor. A page is written again.
func (s *Screen) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.forget = true
}

// Clear scrolls everything above the live rows out of sight. It remains in the scrollback.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.clear = true
	s.start()
}

// Leave removes the live rows and waits until everything is written, for another program or the
// shell. It gives up on a terminal that accepts nothing for a while.
func (s *Screen) Leave() {
	s.ClosePage()
	s.Frame(nil, nil, Point{})
	for before := -1; s.busy(&before); {
	}
	s.Forget()
}

// busy waits until everything is written. It reports false then, or if nothing was written for
// a while. Before is the progress at the previous call.
func (s *Screen) busy(before *int) bool {
	s.mu.Lock()
	done, progress := s.done, s.progress
	s.mu.Unlock()
	if done == nil || progress == *before {
		return false
	}
	*before = progress
	select {
	case <-done:
		return false
	case <-time.After(patience):
		return true
	}
}

// patience is how long a terminal may accept nothing before it is abandoned.
const patience = 2 * time.Second

// start makes sure that a goroutine is writing the queue.
func (s *Screen) start() {
	s.queue.changed = true
	if s.done == nil {
		s.done = make(chan struct{})
		go s.write()
	}
}

// write writes until the queue is empty.
func (s *Screen) write() {
	for {
		width, height := s.bounds()
		next, ok := s.take(width, height)
		if !ok {
			return
		}
		b := newFrame(s.memory)
		b.text(next.sent)
		if next.page != nil {
			s.sheet.show(b, next, width, height)
		} else {
			s.sheet.close(b)
			s.region.take(b, next, width, height)
		}
		s.send(b.finish())
		if s.memory = b.out; cap(b.out) > 4*maxPiece {
			s.memory = nil
		}
	}
}

// take returns the output to write next. It reports false after the last.
func (s *Screen) take(width, height int) (queue, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.queue.changed {
		close(s.done)
		s.done = nil
		return queue{}, false
	}
	next := s.queue
	s.queue.changed, s.queue.forget, s.queue.clear, s.queue.sent = false, false, false, ""
	if next.page != nil {
		return next, true
	}
	full := next.bytes >= maxWaiting
	n, size := 0, 0
	for n < len(next.final) && size < maxPiece {
		size += len(next.final[n]) + 1
		n++
	}
	s.queue.final, s.queue.bytes = next.final[n:], next.bytes-size
	if n == len(next.final) {
		s.queue.final = nil
	}
	next.final = next.final[:n]
	if s.queue.final != nil { // all final lines come first
		s.queue.changed, s.queue.clear, next.clear = true, next.clear, false
	}
	if full && s.queue.bytes < maxWaiting {
		select {
		case s.room <- struct{}{}:
		default: // already signaled
		}
	}
	if s.settling(width, height, next.forget) {
		next.live, next.caret = mark(next.live, next.caret)
	}
	return next, true
}

// settling reports whether the terminal is being resized. While the user drags the edge of a
// window, only a mark is shown: the terminal would reflow wider rows unpredictably.
func (s *Screen) settling(width, height int, forgotten bool) bool {
	now := time.Now()
	if s.region.resized(width, height) && !forgotten {
		s.settles = now.Add(settled)
		if s.again == nil {
			s.again = time.AfterFunc(settled, s.settle)
		} else {
			s.again.Reset(settled)
		}
	}
	return now.Before(s.settles)
}

// settled is how long after its last change the terminal size counts as settled. It is longer
// than the 250 ms for which tmux delays a second resize notification: lines written in that
// time would overwrite final lines, because the live rows have moved.
const settled = 300 * time.Millisecond

// settle shows all rows again.
func (s *Screen) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.queue.forget && s.queue.page == nil { // otherwise another program has the terminal
		s.start()
	}
}

// bounds returns the size of the terminal, or a default if it is unknown.
func (s *Screen) bounds() (width, height int) {
	width, height = s.size()
	if width < 2 {
		width = 80
	}
	if height < 2 {
		height = 24
	}
	return width, height
}

// send writes to the terminal in pieces, which reveal whether it accepts anything.
func (s *Screen) send(text []byte) {
	for len(text) > 0 {
		n := min(len(text), 4<<10)
		s.w.Write(text[:n]) // ok: a terminal that is gone ends the input, too
		text = text[n:]
		s.mu.Lock()
		s.progress++
		s.mu.Unlock()
	}
}
