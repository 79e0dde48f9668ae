package regex

import (
	"slices"
	"unicode/utf8"

	"adze/internal/platform/search/find"
)

// wideRate is the frequency above which a class does not help to find matches.
const wideRate = 0.25

// facts describe the bytes that a part of a pattern matches.
type facts struct {
	// exact are windows, some of which match the whole text; nil if unknown. If precise is
	// true, the converse holds as well: any text that fits a window matches.
	exact   clause
	precise bool
	// A match begins with a window of prefix and ends with a window of suffix. Windows may be
	// empty.
	prefix, suffix clause
	clauses        []clause
	// first are the bytes that a non-empty match begins with. If empty is true, a match may be
	// empty.
	first find.Set
	empty bool
}

// nothing returns the facts of a part that may match anything.
func nothing() facts {
	return facts{prefix: clause{nil}, suffix: clause{nil}, first: find.Range(0, 0xff), empty: true}
}

func exactly(c clause, precise bool) facts {
	f := facts{exact: c, precise: precise, prefix: c, suffix: c}
	for _, w := range c {
		if len(w) == 0 {
			f.empty = true
		} else {
			f.first = f.first.Union(w[0])
		}
	}
	return f
}

// analyse returns the facts of n.
func analyse(n *node) facts {
	switch n.op {
	case opEmpty:
		return exactly(clause{nil}, true)
	case opLook:
		return exactly(clause{nil}, false)
	case opClass:
		return analyseClass(n.set)
	case opConcat:
		parts := make([]facts, len(n.subs))
		for i, sub := range n.subs {
			parts[i] = analyse(sub)
		}
		return inSequence(parts)
	case opAlternate:
		parts := make([]facts, len(n.subs))
		for i, sub := range n.subs {
			parts[i] = analyse(sub)
		}
		return eitherOf(parts)
	case opRepeat:
		return analyseRepeat(n)
	}
	return nothing()
}

// analyseClass returns one window for each encoded length of a character in set.
func analyseClass(set runes) facts {
	var c clause
	precise := true
	for n, first := 1, rune(0); n <= utf8.UTFMax; n++ {
		last := [...]rune{utf8.RuneSelf - 1, 0x7ff, 0xffff, maxRune}[n-1]
		if part := set.between(first, last); len(part) > 0 {
			w, size := encodings(part, n)
			c = append(c, w)
			precise = precise && size == part.size()
		}
		first = last + 1
	}
	f := exactly(c, precise)
	if len(c) == 0 || find.Rate(c) >= wideRate {
		return facts{prefix: clause{nil}, suffix: clause{nil}, first: f.first}
	}
	return f
}

func (s runes) size() int {
	n := 0
	for _, r := range s {
		n += int(r[1]-r[0]) + 1
	}
	return n
}

// encodings returns the window for the characters of set that are n bytes long, and the number
// of texts that fit it.
func encodings(set runes, n int) (find.Window, int) {
	w := make(find.Window, n)
	size := 1
	for i := range w {
		shift := 6 * (n - 1 - i)
		lead, mask := byte(utf8.RuneSelf), rune(0x3f)
		if i == 0 {
			lead, mask = [...]byte{0, 0xc0, 0xe0, 0xf0}[n-1], 0xff
		}
		for _, r := range set {
			lo, hi := r[0]>>shift, r[1]>>shift
			if hi-lo > mask {
				lo, hi = 0, mask
			}
			for v := lo; v <= hi; v++ {
				w[i].Add(lead | byte(v&mask))
			}
		}
		size *= w[i].Len()
	}
	return w, size
}

func analyseRepeat(n *node) facts {
	if n.max == 0 {
		return exactly(clause{nil}, true)
	}
	sub := analyse(n.subs[0])
	if n.min == 0 {
		if n.max == 1 && sub.exact != nil {
			return eitherOf([]facts{sub, exactly(clause{nil}, true)})
		}
		return facts{prefix: clause{nil}, suffix: clause{nil}, first: sub.first, empty: true}
	}
	copies := min(n.min, find.MaxLen)
	known := sub.clauses
	sub.clauses = nil // once is enough
	f := inSequence(slices.Repeat([]facts{sub}, copies))
	f.clauses = few(append(f.clauses, known...))
	if n.max != copies {
		f.clauses = append(f.clauses, f.prefix)
		f.exact = nil
	}
	return f
}

// inSequence combines the facts of consecutive parts.
func inSequence(parts []facts) facts {
	var out facts
	run := clause{nil} // text that ends here, since the last unknown part
	whole, precise := true, true
	closeRun := func() {
		if whole {
			out.prefix = run
			whole = false
		}
		out.clauses = append(out.clauses, run)
	}
	out.first, out.empty = firstOf(parts)
	for i, part := range parts {
		precise = precise && part.precise
		out.clauses = append(out.clauses, part.clauses...)
		if part.exact != nil {
			if longer, ok := cross(run, part.exact); ok {
				run = longer
				continue
			}
			closeRun()
			run = part.exact
			continue
		}
		begins := part.prefix
		if !begins.usable() {
			begins = beginning(parts[i:])
		}
		if longer, ok := cross(run, begins); ok {
			run = longer
		}
		closeRun()
		run = part.suffix
	}
	out.suffix = run
	if whole {
		out.prefix, out.exact, out.precise = run, run, precise
	} else {
		out.clauses = append(out.clauses, run)
	}
	out.clauses = few(out.clauses)
	return out
}

// firstOf returns the bytes that consecutive parts begin with, and whether they may be empty.
func firstOf(parts []facts) (first find.Set, empty bool) {
	for _, part := range parts {
		first = first.Union(part.first)
		if !part.empty {
			return first, false
		}
	}
	return first, true
}

// beginning returns the window of the first byte of consecutive parts, or an empty one.
func beginning(parts []facts) clause {
	first, empty := firstOf(parts)
	w := clause{find.Window{first}}
	if empty || find.Rate(w) >= wideRate {
		return clause{nil}
	}
	return w
}

// few returns the useful clauses, but not more than are worth the time.
func few(clauses []clause) []clause {
	const enough = 32
	clauses = slices.DeleteFunc(slices.Clone(clauses), func(c clause) bool { return !c.usable() })
	return clauses[:min(len(clauses), enough)]
}

// eitherOf combines the facts of alternatives.
func eitherOf(parts []facts) facts {
	var exact, prefix, suffix, needed clause
	allExact, allNeeded, precise := true, true, true
	for _, part := range parts {
		allExact = allExact && part.exact != nil
		precise = precise && part.precise
		exact = append(exact, part.exact...)
		prefix = append(prefix, part.prefix...)
		suffix = append(suffix, part.suffix...)
		best, ok := part.best()
		allNeeded = allNeeded && ok
		needed = append(needed, best...)
	}
	if allExact {
		if exact = mergeSingles(exact); len(exact) <= find.MaxWindows {
			return exactly(exact, precise)
		}
	}
	out := facts{prefix: squeeze(prefix, false), suffix: squeeze(suffix, true)}
	for _, part := range parts {
		out.first, out.empty = out.first.Union(part.first), out.empty || part.empty
	}
	if allNeeded {
		out.clauses = []clause{squeeze(needed, false)}
	}
	return out
}

// best returns the rarest clause that holds for f.
func (f *facts) best() (clause, bool) {
	var best clause
	for _, c := range f.all() {
		if c.usable() && (best == nil || find.Rate(c) < find.Rate(best)) {
			best = c
		}
	}
	return best, best != nil
}

// all returns every clause that holds for f.
func (f *facts) all() []clause {
	return append(slices.Clone(f.clauses), f.prefix, f.suffix)
}
