package osproc

import "sync"

// Part returns a runner for a subset of r's programs, such as one agent's, that can be ended
// separately. They end with r at the latest. A part costs nothing until it starts a program,
// and shares r's reaper.
func (r *Runner) Part() *Runner {
	r.mu.Lock()
	defer r.mu.Unlock()
	part := &Runner{Grace: r.Grace, Reaper: r.Reaper, lead: r, common: r.shared(), closed: r.closed}
	if !r.closed {
		if r.parts == nil {
			r.parts = make(map[*Runner]bool)
		}
		r.parts[part] = true
	}
	return part
}

// forget removes a closed part.
func (r *Runner) forget(part *Runner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parts, part)
}

// prepare sets up the mark and the reaper before the first program. The caller must hold r.mu.
func (r *Runner) prepare(reaped bool) error {
	program := ""
	if reaped {
		program = r.Reaper
	}
	return r.shared().prepare(r, program)
}

// shared returns the state that r shares with its parts. The caller must hold r.mu.
func (r *Runner) shared() *sharedState {
	if r.common == nil {
		r.common = new(sharedState)
	}
	return r.common
}

// A sharedState is the state that a runner shares with all its parts: the reaper, the numbering of
// marks and the broom.
type sharedState struct {
	broom sweeper

	mu     sync.Mutex
	mark   mark // the root runner's mark; zero before the first program
	parts  int  // number of parts with a mark
	reaper *reaper
}

// prepare assigns a runner its mark, and starts the reaper unless it is running or reaper is
// empty.
func (c *sharedState) prepare(r *Runner, reaper string) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mark.name == "" {
		c.mark = newMark()
	}
	if reaper != "" && c.reaper == nil {
		if c.reaper, err = newReaper(reaper, c.mark); err != nil {
			return err
		}
	}
	switch {
	case r.mark.name != "":
	case r.lead == nil:
		r.mark = c.mark
	default:
		r.mark = c.mark.part(c.parts)
		c.parts++
	}
	return nil
}

// tell notifies the reaper that a group has started or ended.
func (c *sharedState) tell(sign string, pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaper.tell(sign, pid)
}

// close stops the reaper.
func (c *sharedState) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaper.close()
	c.reaper = nil
}

// A sweeper kills programs that left their group. Scanning all processes takes milliseconds, so
// requests that arrive during a scan share the next one.
type sweeper struct {
	mu   sync.Mutex
	next *sweepBatch // nil if no request is waiting

	turn sync.Mutex // held by the active round
}

// marks holds the marks of several runners.
type marks []mark

// A sweepBatch is a sweep for several runners.
type sweepBatch struct {
	marks marks
	over  chan struct{} // closed at its end
}

// sweep kills all programs that have the mark.
func (b *sweeper) sweep(m mark) {
	b.mu.Lock()
	mine, first := b.next, b.next == nil
	if first {
		mine = &sweepBatch{over: make(chan struct{})}
		b.next = mine
	}
	mine.marks = append(mine.marks, m)
	b.mu.Unlock()
	if !first {
		<-mine.over
		return
	}
	b.turn.Lock()
	defer b.turn.Unlock()
	b.mu.Lock()
	b.next = nil
	b.mu.Unlock()
	defer close(mine.over)
	sweep(mine.marks, sweeping)
}
