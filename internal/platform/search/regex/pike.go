package regex

import "adze/internal/platform/search/find"

// A pike runs a program's threads in parallel, in order of preference, so its time is linear in
// the text. It is slow compared with a [dfa], but it knows where a match begins and decodes
// whole characters where a condition needs them.
type pike struct {
	p      *program
	budget *budget
	finder *find.Finder // finds possible match starts; may be nil

	now, next threads
	stack     []uint32
}

// threads are the active program positions at one text position.
type threads struct {
	sparseSet
	from []int // indexed by instruction: start of the thread's match
}

func newPike(p *program, b *budget, finder *find.Finder) *pike {
	n := len(p.insts)
	fresh := func() threads { return threads{newSparse(n), make([]int, n)} }
	return &pike{p: p, budget: b, finder: finder, now: fresh(), next: fresh()}
}

// find returns the first match in text that begins at or after from; among several that begin
// there, the preferred one. If earliest is true, it returns as soon as it finds any match, and
// end is that match's end.
func (k *pike) find(text []byte, from int, earliest bool) (start, end int, ok bool) {
	k.now.clear()
	for at := from; ; at++ {
		if len(k.now.dense) == 0 {
			if ok || at > len(text) {
				return start, end, ok
			}
			if k.finder != nil {
				if at = k.finder.Next(text, at); at < 0 {
					return 0, 0, false
				}
			}
		}
		if !ok {
			k.add(&k.now, k.p.start, text, at, at)
		}
		if !k.budget.spend(len(k.now.dense) + 1) {
			return 0, 0, false
		}
		k.next.clear()
		if from, matches := k.step(text, at); matches {
			if start, end, ok = from, at, true; earliest {
				return start, end, true
			}
		}
		if at == len(text) {
			return start, end, ok
		}
		k.now, k.next = k.next, k.now
	}
}

// step moves the threads over the byte at a position. A matching thread ends the threads of
// lower preference; step then returns the start of its match.
func (k *pike) step(text []byte, at int) (from int, matches bool) {
	for _, pc := range k.now.dense {
		i := &k.p.insts[pc]
		switch i.kind {
		case instMatch:
			return k.now.from[pc], true
		case instBytes:
			if at == len(text) {
				continue
			}
			c := text[at]
			for _, e := range k.p.edges[i.first:i.last] {
				if c < e.lo {
					break
				}
				if c <= e.hi {
					k.add(&k.next, e.to, text, at+1, k.now.from[pc])
					break
				}
			}
		}
	}
	return 0, false
}

// add activates pc and everything reachable from it without a byte.
func (k *pike) add(t *threads, pc uint32, text []byte, at, from int) {
	k.stack = append(k.stack[:0], pc)
	for len(k.stack) > 0 {
		pc := k.stack[len(k.stack)-1]
		k.stack = k.stack[:len(k.stack)-1]
		if !t.sparseSet.add(pc) {
			continue
		}
		t.from[pc] = from
		switch i := &k.p.insts[pc]; i.kind {
		case instSplit:
			k.stack = append(k.stack, i.alt, i.out)
		case instLook:
			if i.look.holds(leftOf(text, at), rightOf(text, at)) {
				k.stack = append(k.stack, i.out)
			}
		}
	}
}
