// Package screen writes to a terminal: finished lines once and for good, and below them a few live rows that change.
// What has scrolled away stays as it was written. It asks the terminal nothing, and needs no more of it than moves of the
// cursor and erasing. A terminal that is slow holds up nothing else: it gets every finished line, and of the live rows the
// last. What text may hold is left to package draw; no control sequence but styles and links gets through in any case.
package screen

import (
	"io"
	"sync"
	"time"
)

// A Point is a place in the live rows: a row and a cell in it, from 0.
type Point struct{ Row, Col int }

// Widest is how many cells a live row should have at most, however wide the terminal is: the terminal breaks wider rows when
// the window is divided, which costs rows until the next frame.
const Widest = 160

// A Screen is a terminal. Its methods may be called by one goroutine at a time. None but [Screen.Leave] waits for the
// terminal.
type Screen struct {
	w    io.Writer
	size func() (width, height int)

	// What belongs to the goroutine that writes.
	region region
	sheet  sheet
	memory []byte

	mu       sync.Mutex
	queue    queue
	settles  time.Time     // when the size counts as settled; see [settling]
	again    *time.Timer   // shows all rows then; nil before the first change
	done     chan struct{} // closed when all is written; nil if nothing waits
	progress int           // pieces that were written
	room     chan struct{}
}

// A queue is what is not written yet.
type queue struct {
	final   []string
	bytes   int // of final
	live    []string
	caret   Point
	changed bool // something is to be shown
	clear   bool // what stands above the live rows is to be scrolled away
	forget  bool // the terminal was used by another program
	page    *page
	sent    string // other sequences
}

// New returns a screen that begins on an empty line. Size returns the size of the terminal and is called by a goroutine of
// the screen. Reflows says that the terminal is known to break lines again when it becomes narrower.
func New(w io.Writer, size func() (width, height int), reflows bool) *Screen {
	return &Screen{w: w, size: size, region: region{reflows: reflows}, room: make(chan struct{}, 1)}
}

// Frame writes the final lines, and below them the live rows with the cursor at caret. If there are more rows than fit,
// those that end with the row of the caret are shown. Final lines that are wider than the terminal are written whole;
// live rows are cut. The rows belong to the screen from now on.
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

// Send writes a sequence that shows nothing, such as one for the clipboard, in its turn.
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

// Full reports that so many final lines wait for the terminal that no more should be made.
func (s *Screen) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.bytes >= maxWaiting
}

// Room returns a channel that gets a value when there is room for more lines, or nil if there is.
func (s *Screen) Room() <-chan struct{} {
	if !s.Full() {
		return nil
	}
	return s.room
}

// maxWaiting is the size of the final lines that may wait, and maxPiece of those that are written at once: between pieces
// the live rows are brought up to date.
const (
	maxWaiting = 1 << 20
	maxPiece   = 32 << 10
)

// Forget leaves the live rows where they are, after another program has written to the terminal. The next ones begin in the
// line of the cursor. A page is written again.
func (s *Screen) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.forget = true
}

// Clear scrolls everything above the live rows out of sight. Nothing is lost: it can be scrolled back to.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.clear = true
	s.start()
}

// Leave removes the live rows and waits until everything is written, for another program or the shell. A terminal that
// takes nothing for a while is not waited for.
func (s *Screen) Leave() {
	s.ClosePage()
	s.Frame(nil, nil, Point{})
	for before := -1; s.busy(&before); {
	}
	s.Forget()
}

// busy waits until everything is written, and reports false then, or if nothing was for a while. Before is how much was
// written when it was called the last time.
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

// patience is how long a terminal may take nothing before it is left.
const patience = 2 * time.Second

// start makes sure that a goroutine writes what waits.
func (s *Screen) start() {
	s.queue.changed = true
	if s.done == nil {
		s.done = make(chan struct{})
		go s.write()
	}
}

// write writes until nothing waits.
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

// take returns what is to be written next, or false after the last.
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
	if s.queue.final != nil { // first all of it
		s.queue.changed, s.queue.clear, next.clear = true, next.clear, false
	}
	if full && s.queue.bytes < maxWaiting {
		select {
		case s.room <- struct{}{}:
		default: // it is known already
		}
	}
	if s.settling(width, height, next.forget) {
		next.live, next.caret = mark(next.live, next.caret)
	}
	return next, true
}

// settling reports whether the size of the terminal is changing. While the user drags the edge of a window, only a mark is
// shown: the terminal would break rows that are wider, each time in a place that cannot be known.
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

// settled is how long after its last change the size of the terminal counts as settled. It is longer than the 250 ms for
// which tmux keeps a further change to itself after it has told of one: lines that are written meanwhile would go where the
// live rows no longer are, over others that are final.
const settled = 300 * time.Millisecond

// settle shows all rows again.
func (s *Screen) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.queue.forget && s.queue.page == nil { // or another program has the terminal
		s.start()
	}
}

// bounds returns the size of the terminal, or what is usual if it does not tell.
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

// send writes to the terminal, in pieces that show whether it takes anything.
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
