package regex

import (
	"bytes"
	"context"

	"adze/internal/platform/search/find"
)

// A Matcher finds the matches of a query in buffers. It keeps its automaton between buffers and
// is not safe for concurrent use.
//
// For a line-based query, [Matcher.Start] sets a buffer and [Matcher.Next] returns the matching
// lines. If matches may span lines, use [Matcher.Find] instead.
type Matcher struct {
	q      *Query
	budget budget
	dfa    *dfa
	tail   *dfa // automaton of the prefilter's tail, or nil
	pike   *pike
	lanes  laneReader

	buf    []byte
	pos    int  // lines before it have been returned
	within bool // the line that contains pos has been returned as well
	read   int  // end of the part that the lanes have read
	block  int  // size of their next read

	finder     *find.Finder // nil while everything is read
	candidates int          // positions checked since the finder was at from
	work       int          // their cost, in bytes the lanes would have read in that time
	from       int
	backOff    int // buffers to read without the finder after the next dense one
	resting    int // buffers left to read without it

	// Tests set these to check that the results do not depend on them.
	noFinder, noLanes bool
}

const (
	firstBlock = 16 << 10
	lastBlock  = 256 << 10
	maxBackOff = 31
	// workPerCandidate and workPerByte are the number of bytes the lanes read in the time
	// needed to go to a candidate, and to read a byte there.
	workPerCandidate, workPerByte = 24, 2
)

// NewMatcher returns a matcher for q.
func (q *Query) NewMatcher() *Matcher {
	m := &Matcher{q: q}
	m.dfa = newDFA(q.program, !q.spanning, &m.budget)
	m.lanes.d, m.lanes.lines = m.dfa, m
	if p := q.prefilter; p != nil && p.tail != nil {
		m.tail = newDFA(p.tail, true, &m.budget)
	}
	return m
}

// threads returns the matcher's pike, which is large and rarely needed.
func (m *Matcher) threads() *pike {
	if m.pike == nil {
		var finder *find.Finder
		if p := m.q.prefilter; p != nil && p.prefix {
			finder = p.finder
		}
		m.pike = newPike(m.q.program, &m.budget, finder)
	}
	return m.pike
}

// Start sets a buffer of whole lines; the last may be unterminated.
func (m *Matcher) Start(ctx context.Context, buf []byte) {
	m.budget.begin(ctx)
	m.buf = buf
	m.pos, m.within, m.read = 0, false, 0
	m.from, m.candidates, m.work = 0, 0, 0
	m.block = firstBlock
	m.lanes.next.lane = laneCount
	m.finder = nil
	if m.resting > 0 {
		m.resting--
	} else if m.q.prefilter != nil && !m.noFinder {
		m.finder = m.q.prefilter.finder
	}
}

// Err returns the context's error if it ended the last search, whose result is then incomplete.
func (m *Matcher) Err() error { return m.budget.err }

// Next returns the next matching line, without its end.
func (m *Matcher) Next() (start, end int, ok bool) {
	at, ok := m.next()
	if !ok {
		return 0, 0, false
	}
	start, end = lineAround(m.buf, at)
	m.pos, m.within = end+1, false
	return start, end, true
}

// Pass skips the next matching line and reports whether there is one. It does not determine the
// line's bounds.
func (m *Matcher) Pass() bool {
	_, ok := m.next()
	return ok
}

// Count skips all remaining matching lines and returns their number.
func (m *Matcher) Count() (n int64) {
	for {
		if !m.within && m.q.always {
			rest := m.buf[min(m.pos, len(m.buf)):]
			n += int64(bytes.Count(rest, []byte{'\n'}))
			if len(rest) > 0 && rest[len(rest)-1] != '\n' {
				n++
			}
			m.pos = len(m.buf)
			return n
		}
		if _, ok := m.next(); !ok {
			return n
		}
		n++
		if m.finder == nil && !m.q.always {
			n += int64(m.lanes.rest())
		}
	}
}

// next returns a position in the next matching line.
func (m *Matcher) next() (at int, ok bool) {
	if m.within {
		m.pos, m.within = lineEnd(m.buf, m.pos)+1, false
	}
	switch {
	case m.q.always:
		m.within = m.pos < len(m.buf)
		return m.pos, m.within
	case m.finder != nil:
		return m.nextCandidate()
	}
	return m.nextRead()
}

// nextCandidate checks the positions that the finder reports.
func (m *Matcher) nextCandidate() (at int, ok bool) {
	p := m.q.prefilter
	for m.pos < len(m.buf) && m.budget.err == nil {
		at := m.finder.Next(m.buf, m.pos)
		if at < 0 {
			m.pos = len(m.buf)
			break
		}
		if p.exact {
			m.pos, m.within = at, true
			return at, true
		}
		if m.dense(at) {
			return m.nextRead()
		}
		if p.prefix || p.tail != nil {
			at, ok = m.skim(at)
		} else {
			at, ok = m.lineMatches(at)
		}
		if ok {
			return at, true
		}
	}
	return 0, false
}

// dense counts a candidate. It reports whether candidates are so frequent that reading
// everything is faster.
func (m *Matcher) dense(at int) bool {
	m.candidates++
	m.work += workPerCandidate
	if m.candidates < 64 {
		return false
	}
	if m.work > at-m.from {
		m.finder = nil
		m.read, _ = lineAround(m.buf, m.pos)
		m.backOff = min(2*m.backOff+1, maxBackOff)
		m.resting = m.backOff
		return true
	}
	m.candidates, m.work, m.from = 0, 0, at
	m.backOff /= 2
	return false
}

// skim reads from a position where a match, or the tail of a match, can begin, as long as a
// match may be in progress. It returns a position in the line if that matches.
func (m *Matcher) skim(from int) (at int, ok bool) {
	d := m.dfa
	if m.tail != nil {
		d = m.tail
	}
	to, state := d.skim(m.buf, from)
	m.work += workPerByte * (to - from)
	switch {
	case state == matched && m.tail == nil:
		m.pos, m.within = to, true
		return to, true
	case state == matched || state == quit:
		return m.lineMatches(to)
	}
	m.pos = to
	return 0, false
}

// lineMatches checks the whole line that contains a position. It returns a position in it if it
// matches.
func (m *Matcher) lineMatches(from int) (at int, ok bool) {
	start, end := lineAround(m.buf, from)
	m.pos = end + 1
	m.work += workPerByte * (end - start)
	switch m.dfa.lineMatches(m.buf[start:end]) {
	case matched:
		return start, true
	case quit:
		return start, m.matchesLine(m.buf[start:end])
	}
	return 0, false
}

// nextRead returns the hits of the lanes, and makes them read on.
func (m *Matcher) nextRead() (at int, ok bool) {
	for {
		if at, ok = m.lanes.take(); ok {
			return at, true
		}
		if m.read >= len(m.buf) || m.budget.err != nil {
			return 0, false
		}
		stop := lineAfter(m.buf, min(m.read+m.block, len(m.buf)), m.read, len(m.buf))
		m.lanes.read(m.buf, m.read, stop, m.noLanes)
		m.read = stop
		m.block = min(4*m.block, lastBlock)
		m.budget.spend(pollEvery)
	}
}

// matchesLine decides a line that the dfa cannot.
func (m *Matcher) matchesLine(line []byte) bool {
	_, _, ok := m.threads().find(line, 0, true)
	return ok
}

// Find returns the first match in text that begins at or after from; among several that begin
// there, the pattern's preferred match. Text before from counts for the pattern's conditions.
// For a line-based query, text is one line without its line end.
func (m *Matcher) Find(ctx context.Context, text []byte, from int) (start, end int, ok bool) {
	m.budget.begin(ctx)
	if p := m.q.prefilter; p != nil && !m.noFinder {
		at := p.finder.Next(text, from)
		if at < 0 {
			return 0, 0, false
		}
		if p.length > 0 {
			return at, at + p.length, true
		}
		if p.prefix {
			from = at
		}
	}
	if m.q.spanning && m.dfa.missing(text, from) {
		return 0, 0, false
	}
	return m.threads().find(text, from, false)
}
