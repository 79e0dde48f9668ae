package regex

import (
	"context"

	"adze/internal/platform/search/find"
)

// A Matcher finds the matches of a query in buffers. It keeps what it learns about the pattern from one
// buffer to the next, and belongs to one goroutine.
//
// For a query of lines, [Matcher.Start] gives it a buffer and [Matcher.Next] returns the matching lines.
// For one whose matches span lines, use [Matcher.Find] instead.
type Matcher struct {
	q      *Query
	budget budget
	dfa    *dfa
	pike   *pike
	lanes  laneReader

	buf   []byte
	pos   int // the beginning of the first line not yet looked at
	read  int // the end of what the lanes have read
	block int // how much they read next

	finder     *find.Finder // nil while everything is read
	candidates int          // lines looked at since pos was from
	from       int
	backOff    int // buffers to read without the finder after the next dense one
	resting    int // buffers left to read without it

	// Tests turn these off to see that nothing changes.
	noFinder, noLanes bool
}

const (
	firstBlock = 16 << 10
	lastBlock  = 256 << 10
	// denseGap is how many bytes the lanes read in the time that one candidate takes.
	denseGap   = 160
	maxBackOff = 31
)

// NewMatcher returns a matcher of q.
func (q *Query) NewMatcher() *Matcher {
	m := &Matcher{q: q}
	m.dfa = newDFA(q.program, !q.spanning, &m.budget)
	m.lanes.d, m.lanes.lines = m.dfa, m
	return m
}

// threads returns the matcher's pike, which is large and seldom needed.
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

// Start begins with a buffer of whole lines, of which the last may lack its end.
func (m *Matcher) Start(ctx context.Context, buf []byte) {
	m.budget.begin(ctx)
	m.buf = buf
	m.pos, m.read, m.from, m.candidates = 0, 0, 0, 0
	m.block = firstBlock
	m.lanes.next.lane = laneCount
	m.finder = nil
	if m.resting > 0 {
		m.resting--
	} else if m.q.prefilter != nil && !m.noFinder {
		m.finder = m.q.prefilter.finder
	}
}

// Err returns the error of the context if that ended the last search, which then found too little.
func (m *Matcher) Err() error { return m.budget.err }

// Next returns the next matching line, without its end.
func (m *Matcher) Next() (start, end int, ok bool) {
	switch {
	case m.q.always:
		return m.nextLine()
	case m.finder != nil:
		return m.nextCandidate()
	}
	return m.nextRead()
}

// nextLine returns any line.
func (m *Matcher) nextLine() (start, end int, ok bool) {
	if m.pos >= len(m.buf) {
		return 0, 0, false
	}
	start, end = lineAround(m.buf, m.pos, m.pos)
	m.pos = end + 1
	return start, end, true
}

// nextCandidate looks at the lines that the finder points to.
func (m *Matcher) nextCandidate() (start, end int, ok bool) {
	for m.pos < len(m.buf) {
		at := m.finder.Next(m.buf, m.pos)
		if at < 0 {
			m.pos = len(m.buf)
			break
		}
		start, end = lineAround(m.buf, at, m.pos)
		if m.q.prefilter.exact {
			m.pos = end + 1
			return start, end, true
		}
		if m.dense(at) {
			return m.nextRead()
		}
		m.pos = end + 1
		if m.lineMatches(start, at, end) {
			return start, end, true
		}
		if m.budget.err != nil {
			break
		}
	}
	return 0, 0, false
}

// dense counts a candidate. It reports whether there are so many that everything is to be read.
func (m *Matcher) dense(at int) bool {
	m.candidates++
	if m.candidates < 32 {
		return false
	}
	if m.candidates*denseGap > at-m.from {
		m.finder = nil
		m.read = m.pos
		m.backOff = min(2*m.backOff+1, maxBackOff)
		m.resting = m.backOff
		return true
	}
	m.candidates, m.from = 0, at
	return false
}

// lineMatches reports whether the line matches. No match begins before at if the finder knows beginnings.
func (m *Matcher) lineMatches(start, at, end int) bool {
	from := start
	if m.q.prefilter.prefix {
		from = at
	}
	switch m.dfa.lineMatches(m.buf[start:end], from-start) {
	case matched:
		return true
	case quit:
		return m.matchesLine(m.buf[start:end])
	}
	return false
}

// nextRead hands out what the lanes found, and lets them read on.
func (m *Matcher) nextRead() (start, end int, ok bool) {
	for {
		if start, end, ok = m.lanes.take(); ok {
			m.pos = end + 1
			return start, end, true
		}
		if m.read >= len(m.buf) || m.budget.err != nil {
			return 0, 0, false
		}
		stop := lineAfter(m.buf, min(m.read+m.block, len(m.buf)), m.read, len(m.buf))
		m.lanes.read(m.buf, m.read, stop, m.noLanes)
		m.read = stop
		m.block = min(4*m.block, lastBlock)
		m.budget.spend(pollEvery)
	}
}

// matchesLine decides about a line that the dfa cannot.
func (m *Matcher) matchesLine(line []byte) bool {
	_, _, ok := m.threads().find(line, 0, true)
	return ok
}

// Find returns the first match in text that begins at or after from: of several that begin there, the
// one the pattern prefers. What stands before from counts for the pattern's conditions. For a query of
// lines, text is one line without its end.
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
