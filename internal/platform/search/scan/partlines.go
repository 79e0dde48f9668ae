package scan

import (
	"context"
	"io"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// searchPartLines searches a large file for lines. Scouts determine which parts match, and
// count the lines of the others, which are then skipped.
func (s *Searcher) searchPartLines(ctx context.Context, src Large) error {
	from := s.in.total - int64(len(s.in.data)) // byte order mark
	starts, err := s.starts(src, from)
	if err != nil {
		return err
	}
	r := &partReader{src: src, starts: starts, scouts: s.scout(ctx, src, starts), context: s.o.Before + s.o.After}
	defer r.scouts.stop()
	total, lines := from, int64(0)
	for r.next < len(starts) {
		part, err := r.scouts.wait(r.next)
		switch {
		case err != nil:
			return err
		case part.Binary:
			s.stats.Binary = true
			return nil
		}
		s.stats.Cut = s.stats.Cut || part.Cut
		if s.done || s.out.after == 0 && !r.needed(r.next) {
			total, lines = total+part.Bytes, lines+part.newlines
			r.pass()
			continue
		}
		r.at, r.begun = starts[r.next], true
		s.in.reset(r)
		s.in.sniffed, s.in.base = true, r.at-from
		s.out.counted, s.out.number = s.in.base, lines+1
		if err := s.searchPieces(ctx); err != nil || s.stats.Binary {
			return err
		}
		total += s.in.total
		if !s.done {
			s.out.count(s.in.base + int64(len(s.in.data)))
			lines = s.out.number - 1
		}
	}
	s.in.total = total
	return nil
}

// A partReader reads the needed parts of a file in order.
type partReader struct {
	src     Large
	starts  []int64
	scouts  *partSearchers
	context int // total lines of context around a match

	next    int   // next part to read
	at      int64 // current read position
	begun   bool  // a part is being read
	matched int   // number of leading parts that matched
	all     bool  // nearly all parts match, so scouts are useless
}

// dense is the number of leading parts that must all match for the scouts to be stopped.
const dense = 3

// needed reports whether a part must be searched: it has a match, or context lines of one.
func (r *partReader) needed(i int) bool {
	if r.all || r.scouts.matches(i) {
		return true
	}
	return r.context > 0 && (r.scouts.matches(i-1) || r.scouts.matches(i+1))
}

// pass moves to the next part.
func (r *partReader) pass() {
	if !r.all {
		if r.matched == r.next && r.scouts.matches(r.next) {
			r.matched++
		}
		if r.all = r.matched >= dense; r.all {
			r.scouts.stop()
		}
		r.scouts.release()
	}
	r.next++
}

func (r *partReader) end(i int) int64 {
	if i+1 < len(r.starts) {
		return r.starts[i+1]
	}
	return math.MaxInt64
}

// Read implements [io.Reader].
func (r *partReader) Read(p []byte) (int, error) {
	for {
		if !r.begun {
			if r.next == len(r.starts) || !r.needed(r.next) {
				return 0, io.EOF
			}
			r.begun = true
		}
		end := r.end(r.next)
		n, err := r.src.ReadAt(p[:min(int64(len(p)), end-r.at)], r.at)
		r.at += int64(n)
		if r.at == end || err == io.EOF {
			r.begun = false
			r.pass()
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// A partResult is a scout's result for a part. A part without a match has no lines to show.
type partResult struct {
	Stats
	newlines int64
	err      error
	done     chan struct{}
}

// partSearchers search parts ahead of the reporter.
type partSearchers struct {
	parts  []partResult
	room   chan struct{} // limits the parts ahead
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// scout starts the scouts.
func (s *Searcher) scout(ctx context.Context, src Large, starts []int64) *partSearchers {
	workers := min(runtime.GOMAXPROCS(0), len(starts))
	c := &partSearchers{parts: make([]partResult, len(starts)), room: make(chan struct{}, 4*workers+2)}
	for i := range c.parts {
		c.parts[i].done = make(chan struct{})
	}
	ctx, c.cancel = context.WithCancel(ctx)
	var next atomic.Int64
	for range workers {
		c.work.Go(func() {
			p := &Searcher{query: s.query, matcher: s.query.NewMatcher(), o: Options{Mode: Exists}, size: s.size, part: true, counts: true}
			for {
				select {
				case c.room <- struct{}{}:
				case <-ctx.Done():
				}
				i := int(next.Add(1)) - 1
				if i >= len(starts) {
					return
				}
				part := &c.parts[i]
				end := int64(math.MaxInt64)
				if i+1 < len(starts) {
					end = starts[i+1]
				}
				if part.err = ctx.Err(); part.err == nil {
					part.Stats, part.err = p.Search(ctx, io.NewSectionReader(src, starts[i], end-starts[i]), nil)
					part.newlines = p.out.number - 1
				}
				close(part.done)
			}
		})
	}
	return c
}

// wait returns the result for a part.
func (c *partSearchers) wait(i int) (*partResult, error) {
	<-c.parts[i].done
	return &c.parts[i], c.parts[i].err
}

// matches reports whether part i exists and matches, or may.
func (c *partSearchers) matches(i int) bool {
	if i < 0 || i >= len(c.parts) {
		return false
	}
	part, err := c.wait(i)
	return err != nil || part.Binary || part.Matched()
}

// release makes room for another part ahead.
func (c *partSearchers) release() { <-c.room }

// stop stops the scouts.
func (c *partSearchers) stop() {
	c.cancel()
	c.work.Wait()
}
