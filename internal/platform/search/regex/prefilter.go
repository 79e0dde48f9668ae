package regex

import (
	"slices"

	"adze/internal/platform/search/find"
)

// rates are the maximum frequencies of the searched text: above them, reading everything is
// faster.
type rates struct {
	line float64 // maximum if each hit reads the whole line
	skim float64 // maximum if each hit reads a few bytes
}

const (
	lineRate = 0.003
	skimRate = 0.012
)

// A prefilter finds positions in a text to search for matches.
type prefilter struct {
	finder *find.Finder
	prefix bool     // a hit is a possible match start
	tail   *program // each match ends with a match of tail, which begins at a hit; nil if unknown
	exact  bool     // a hit is a match
	length int      // length of all matches if exact and constant, otherwise 0
}

// choosePrefilter returns nil if no position is less likely than the others. f are the facts of
// n.
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
			p.tail, _ = compile(tail) // ok: without it lines are read from their start
		}
		return p
	case rate <= most.line:
		return &prefilter{finder: find.New(best)}
	}
	return nil
}

// maxTails bounds the time spent on a long pattern.
const maxTails = 64

// chooseTail returns the tail of n, or all of it, that begins with the rarest text. f are the
// facts of n.
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
	// A match start is worth more than the start of a tail, after which its line must be read.
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
