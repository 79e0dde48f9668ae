package osproc

import "sync"

// Part returns a runner for some of the programs of r, such as those of one agent: they can be ended alone. What is
// left of them ends with r at the latest. A part costs nothing before it starts a program, and has no reaper of its own.
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

// forget drops a part that has been closed.
func (r *Runner) forget(part *Runner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parts, part)
}

// prepare makes ready what the first program needs. The caller holds the lock.
func (r *Runner) prepare(reaped bool) error {
	program := ""
	if reaped {
		program = r.Reaper
	}
	return r.shared().prepare(r, program)
}

// shared returns what r has in common with its parts. The caller holds the lock.
func (r *Runner) shared() *common {
	if r.common == nil {
		r.common = new(common)
	}
	return r.common
}

// A common is what a runner has in common with all its parts: one reaper, marks that tell the parts from each other, and
// one broom.
type common struct {
	broom broom

	mu     sync.Mutex
	mark   mark // of the whole; zero before the first program
	parts  int  // that have a mark
	reaper *reaper
}

// prepare gives a runner its mark, and starts the reaper unless that is done or no program is named for it.
func (c *common) prepare(r *Runner, reaper string) (err error) {
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

// tell lets the reaper know that a group has begun or ended.
func (c *common) tell(sign string, pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaper.tell(sign, pid)
}

// close ends the reaper.
func (c *common) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaper.close()
	c.reaper = nil
}

// A broom kills programs that left their group. A look at all processes of the system takes milliseconds, so that those
// who ask while it is at work share the next round.
type broom struct {
	mu   sync.Mutex
	next *round // nil if no one waits

	turn sync.Mutex // held by the round at work
}

// marks are those of several runners.
type marks []mark

// A round is a sweep for several runners.
type round struct {
	marks marks
	over  chan struct{} // closed at its end
}

// sweep kills every program that has the mark.
func (b *broom) sweep(m mark) {
	b.mu.Lock()
	mine, first := b.next, b.next == nil
	if first {
		mine = &round{over: make(chan struct{})}
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
