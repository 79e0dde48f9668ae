package regex

import (
	"bytes"
	"unsafe"
)

// laneCount is the number of buffer parts read concurrently: the processor works on one while
// it waits for another's table entry.
const laneCount = 4

// A lane is a part of a buffer that consists of whole lines.
type lane struct {
	start, end int
	pos        int
	hits       []int // a position in each matching line
}

// A lineMatcher decides whether single lines match.
type lineMatcher interface {
	matchesLine(line []byte) bool
}

// A laneReader finds matching lines without a prefilter.
type laneReader struct {
	d     *dfa
	lines lineMatcher // decides lines that d quits
	buf   []byte
	lanes [laneCount]lane
	state [laneCount]uint32
	next  struct{ lane, hit int } // next hit to return
	dense bool                    // the last block had so many matches that lines are read one by one
}

// bytesPerHit is the minimum distance between matches for lanes to pay off: each match stops
// all of them.
const bytesPerHit = 64

// read finds the matching lines of buf[start:end], which consists of whole lines.
func (r *laneReader) read(buf []byte, start, end int, single bool) {
	r.buf = buf
	r.next.lane, r.next.hit = 0, 0
	for i := range r.lanes {
		l := &r.lanes[i]
		l.hits = l.hits[:0]
		l.start = start
		l.pos = start
		l.end = end
		if i < laneCount-1 {
			l.end = lineAfter(buf, start+(end-start)/(laneCount-i), start, end)
		}
		if single {
			l.end = end
		}
		start = l.end
	}
	first := r.d.start(sideEdge)
	r.state = [laneCount]uint32{first, first, first, first}
	switch {
	case single:
	case r.dense:
		for i := range r.lanes {
			r.byLine(i)
		}
	default:
		r.together()
	}
	for i := range r.lanes {
		r.alone(i)
	}
	r.d.read += end - r.lanes[0].start
	r.dense = r.found()*bytesPerHit > end-r.lanes[0].start
}

// found returns the number of matching lines in the last read.
func (r *laneReader) found() (n int) {
	for i := range r.lanes {
		n += len(r.lanes[i].hits)
	}
	return n
}

// byLine advances one lane over lines that match early or not at all. It stops at the first
// line that needs a state that does not exist yet.
func (r *laneReader) byLine(k int) {
	l := &r.lanes[k]
	classOf, trans := &r.d.p.classOf, r.d.trans
	first := r.state[k]
	if first&special != 0 {
		return
	}
	text := r.buf[:l.start+bytes.LastIndexByte(r.buf[l.start:l.end], '\n')+1] // the last line may be unterminated
	for l.pos < len(text) {
		state := first
		for at := l.pos; ; at++ {
			c := text[at]
			t := trans[state+uint32(classOf[c])]
			if t&special == 0 {
				state = t
				if c != '\n' {
					continue
				}
				l.pos = at + 1
				break // no match in this line
			}
			if t != matched {
				return
			}
			l.hits = append(l.hits, at)
			l.pos = at + bytes.IndexByte(text[at:], '\n') + 1
			break
		}
	}
}

// lineAfter returns the start of the first line at or after near, at most end.
func lineAfter(buf []byte, near, start, end int) int {
	if near <= start {
		return start
	}
	if i := bytes.IndexByte(buf[near-1:end], '\n'); i >= 0 {
		return near + i
	}
	return end
}

// together advances all lanes until the shortest ends.
func (r *laneReader) together() {
	n := len(r.buf)
	for _, l := range r.lanes {
		n = min(n, l.end-l.pos)
	}
	for i := 0; i < n; i++ {
		i += r.d.run4(&r.state, [laneCount][]byte{
			r.buf[r.lanes[0].pos+i:][:n-i], r.buf[r.lanes[1].pos+i:][:n-i],
			r.buf[r.lanes[2].pos+i:][:n-i], r.buf[r.lanes[3].pos+i:][:n-i],
		})
		if i == n {
			break
		}
		r.settle(i)
		if r.d.gaveUp || r.d.budget.err != nil {
			n = i + 1
		}
	}
	for k := range r.lanes {
		r.lanes[k].pos += n
	}
}

// run4 advances four states over four texts of equal length. It stops before the first position
// where any of them has no successor state, and returns it.
func (d *dfa) run4(state *[laneCount]uint32, text [laneCount][]byte) int {
	trans, classOf := unsafe.Pointer(unsafe.SliceData(d.trans)), &d.p.classOf
	s0, s1, s2, s3 := state[0], state[1], state[2], state[3]
	b0 := text[0]
	b1, b2, b3 := text[1][:len(b0)], text[2][:len(b0)], text[3][:len(b0)]
	i := 0
	for ; i < len(b0); i++ {
		t0 := entryAt(trans, s0+uint32(classOf[b0[i]]))
		t1 := entryAt(trans, s1+uint32(classOf[b1[i]]))
		t2 := entryAt(trans, s2+uint32(classOf[b2[i]]))
		t3 := entryAt(trans, s3+uint32(classOf[b3[i]]))
		if (t0|t1|t2|t3)&special != 0 {
			break
		}
		s0, s1, s2, s3 = t0, t1, t2, t3
	}
	*state = [laneCount]uint32{s0, s1, s2, s3}
	return i
}

// entryAt returns a table entry. A state and a class are always in range; skipping the bounds
// check makes reading 50 % faster.
func entryAt(trans unsafe.Pointer, at uint32) uint32 {
	return *(*uint32)(unsafe.Add(trans, uintptr(at)*unsafe.Sizeof(at)))
}

// settle moves every lane over its byte i, where at least one has no successor state.
func (r *laneReader) settle(i int) {
	for k := range r.lanes {
		r.move(k, r.lanes[k].pos+i, i*laneCount)
	}
}

// alone advances one lane to its end.
func (r *laneReader) alone(k int) {
	l := &r.lanes[k]
	for ; l.pos < l.end; l.pos++ {
		if r.d.gaveUp {
			r.byPike(k)
			return
		}
		if r.d.budget.err != nil {
			return
		}
		classOf := &r.d.p.classOf
		trans := r.d.trans
		s := r.state[k]
		for l.pos < l.end {
			t := trans[s+uint32(classOf[r.buf[l.pos]])]
			if t&special != 0 {
				break
			}
			s = t
			l.pos++
		}
		r.state[k] = s
		if l.pos == l.end {
			break
		}
		r.move(k, l.pos, l.pos-l.start)
	}
	// The last line may be unterminated.
	if l.end > l.start && r.buf[l.end-1] != '\n' {
		r.move(k, l.end, l.end-l.start)
	}
}

// move advances the state of lane k over the byte at a position, or over the end of its last
// line. It records a matching line and skips the rest of it.
func (r *laneReader) move(k, at, read int) {
	c := byte('\n')
	if at < r.lanes[k].end {
		c = r.buf[at]
	}
	to := r.d.step(r.state[:], k, c, read)
	if to&special == 0 {
		r.state[k] = to
		return
	}
	if to == matched || r.lineMatches(at) {
		r.lanes[k].hits = append(r.lanes[k].hits, at)
	}
	if c == '\n' {
		r.state[k] = r.d.start(sideEdge)
	} else {
		r.state[k] = r.d.skip
	}
}

// lineMatches runs the pike on the line that contains a position.
func (r *laneReader) lineMatches(at int) bool {
	start, end := lineAround(r.buf, at)
	return r.lines.matchesLine(r.buf[start:end])
}

// byPike reads the rest of lane k line by line.
func (r *laneReader) byPike(k int) {
	l := &r.lanes[k]
	start, end := lineAround(r.buf, l.pos)
	if n := len(l.hits); n > 0 && l.hits[n-1] >= start { // line already reported
		start = end + 1
	}
	for start < l.end && r.d.budget.err == nil {
		end := lineEnd(r.buf, start)
		if r.lines.matchesLine(r.buf[start:end]) {
			l.hits = append(l.hits, start)
		}
		start = end + 1
	}
	l.pos = l.end
}

// lineAround returns the line that contains a position, without its line end. A line end
// belongs to the line that it ends.
func lineAround(buf []byte, at int) (start, end int) {
	return bytes.LastIndexByte(buf[:at], '\n') + 1, lineEnd(buf, at)
}

// lineEnd returns the end of the line that contains a position.
func lineEnd(buf []byte, at int) int {
	if i := bytes.IndexByte(buf[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(buf)
}

// rest consumes the remaining hits of the last read and returns their number.
func (r *laneReader) rest() int {
	n := -r.next.hit
	for _, l := range r.lanes[min(r.next.lane, laneCount):] {
		n += len(l.hits)
	}
	r.next.lane, r.next.hit = laneCount, 0
	return n
}

// take returns a position in the next matching line of the last read.
func (r *laneReader) take() (at int, ok bool) {
	for ; r.next.lane < laneCount; r.next.lane++ {
		l := &r.lanes[r.next.lane]
		if r.next.hit < len(l.hits) {
			r.next.hit++
			return l.hits[r.next.hit-1], true
		}
		r.next.hit = 0
	}
	return 0, false
}
