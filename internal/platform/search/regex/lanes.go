package regex

import (
	"bytes"
	"unsafe"
)

// laneCount is how many parts of a buffer are read at once: the processor works on one while it waits
// for the table entry of another.
const laneCount = 4

// A lane is a part of a buffer, of whole lines.
type lane struct {
	start, end int
	pos        int
	hits       []int // a place in each line that matches
}

// A lineMatcher decides about single lines.
type lineMatcher interface {
	matchesLine(line []byte) bool
}

// A laneReader looks for matching lines without knowing where to look.
type laneReader struct {
	d     *dfa
	lines lineMatcher // decides those that d quits
	buf   []byte
	lanes [laneCount]lane
	state [laneCount]uint32
	next  struct{ lane, hit int } // to hand out
	dense bool                    // what was read last has so many matches that lines are read one by one
}

// bytesPerHit is how far apart matches must be for the lanes to be worth their while: each match stops all of them.
const bytesPerHit = 64

// read finds the matching lines of buf[start:end], which is of whole lines.
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

// found returns how many matching lines the last read found.
func (r *laneReader) found() (n int) {
	for i := range r.lanes {
		n += len(r.lanes[i].hits)
	}
	return n
}

// byLine advances one lane over lines that match soon, or have no match. It leaves the rest of the lane at the first
// line that needs a state which is not yet built.
func (r *laneReader) byLine(k int) {
	l := &r.lanes[k]
	classOf, trans := &r.d.p.classOf, r.d.trans
	first := r.state[k]
	if first&special != 0 {
		return
	}
	text := r.buf[:l.start+bytes.LastIndexByte(r.buf[l.start:l.end], '\n')+1] // the last line may lack its end
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

// lineAfter returns the beginning of the first line that begins at or after near, at most end.
func lineAfter(buf []byte, near, start, end int) int {
	if near <= start {
		return start
	}
	if i := bytes.IndexByte(buf[near-1:end], '\n'); i >= 0 {
		return near + i
	}
	return end
}

// together advances all lanes until the shortest is at its end.
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

// run4 moves four states over as many texts of one length. It stops before the first place where one of
// them leads to no state, and returns it.
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

// entryAt returns an entry of the table. A state and a class are always within it; that this is not
// checked makes reading half as fast again.
func entryAt(trans unsafe.Pointer, at uint32) uint32 {
	return *(*uint32)(unsafe.Add(trans, uintptr(at)*unsafe.Sizeof(at)))
}

// settle moves every lane over its byte i, of which one leads to no state.
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
	// The last line may lack its end.
	if l.end > l.start && r.buf[l.end-1] != '\n' {
		r.move(k, l.end, l.end-l.start)
	}
}

// move advances the state of lane k over the byte at a place, or over the end of its last line. A line
// that matches is noted, and the rest of it skipped.
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

// lineMatches asks the pike about the line that holds a place.
func (r *laneReader) lineMatches(at int) bool {
	start, end := lineAround(r.buf, at)
	return r.lines.matchesLine(r.buf[start:end])
}

// byPike reads the rest of lane k line by line.
func (r *laneReader) byPike(k int) {
	l := &r.lanes[k]
	start, end := lineAround(r.buf, l.pos)
	if n := len(l.hits); n > 0 && l.hits[n-1] >= start { // this line is done
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

// lineAround returns the line that holds a place, without its end. A line end belongs to the line that
// it ends.
func lineAround(buf []byte, at int) (start, end int) {
	return bytes.LastIndexByte(buf[:at], '\n') + 1, lineEnd(buf, at)
}

// lineEnd returns the end of the line that holds a place.
func lineEnd(buf []byte, at int) int {
	if i := bytes.IndexByte(buf[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(buf)
}

// rest takes all that read found and was not taken yet, and returns how much it was.
func (r *laneReader) rest() int {
	n := -r.next.hit
	for _, l := range r.lanes[min(r.next.lane, laneCount):] {
		n += len(l.hits)
	}
	r.next.lane, r.next.hit = laneCount, 0
	return n
}

// take returns a place in the next matching line that read found.
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
