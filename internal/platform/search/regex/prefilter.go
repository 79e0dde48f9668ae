package regex

import (
	"slices"

	"adze/internal/platform/search/find"
)

// Rates are how common what is looked for may be: beyond that it is faster to read everything.
type rates struct {
	line float64 // if the whole line is read each time
	skim float64 // if a few bytes are
}

const (
	lineRate = 0.003
	skimRate = 0.012
)

// A prefilter says where in a text to look for matches.
type prefilter struct {
	finder *find.Finder
	prefix bool     // what is found is where a match begins, if there is one
	tail   *program // what is found is where a match of it begins; each match ends with one; nil if not known
	exact  bool     // what is found is a match
	length int      // of all matches, if exact and they are of one length; else 0
}

// choosePrefilter returns nil if no place is less likely than the others. f are the facts of n.
func choosePrefilter(n *node, f facts, most rates) *prefilter {
	if f.exact.usable() && f.precise && len(f.exact) <= find.MaxWindows {
		p := &prefilter{finder: find.New(f.exact), prefix: true, exact: true, length: len(f.exact[0])}
		if slices.ContainsFunc(f.exact, func(w find.Window) bool { return len(w) != p.length }) {
			p.length = 0
		}
		return p
	}
	best, ok := f.best()
	if !ok {
		return nil
	}
	rate := find.Rate(best)
	tail, windows := chooseTail(n, f)
	common := find.Rate(windows)
	switch {
	case windows != nil && common <= most.skim && common <= rate*skimRate/lineRate:
		p := &prefilter{finder: find.New(windows), prefix: tail == n}
		if tail != n {
			p.tail, _ = compile(tail) // ok: without it lines are read from their beginning
		}
		return p
	case rate <= most.line:
		return &prefilter{finder: find.New(best)}
	}
	return nil
}

// maxTails bounds the time that a long pattern takes.
const maxTails = 64

// chooseTail returns the end of n, or all of it, that begins with what is rarest. f are the facts of n.
func chooseTail(n *node, f facts) (tail *node, windows clause) {
	lowest := 0.0
	consider := func(end *node, begins clause, handicap float64) {
		if !begins.usable() {
			return
		}
		if rate := handicap * find.Rate(begins); windows == nil || rate < lowest {
			tail, windows, lowest = end, begins, rate
		}
	}
	// Where a match begins is worth more than where the end of one does, after which its line is read.
	consider(n, f.prefix, 1)
	if n.op == opConcat {
		for i, sub := range n.subs[1:min(len(n.subs), maxTails)] {
			if before := n.subs[i]; sub.op == opClass && before.op != opClass && before.op != opLook {
				end := concat(n.subs[i+1:]...)
				consider(end, analyse(end).prefix, 2)
			}
		}
	}
	return tail, windows
}
