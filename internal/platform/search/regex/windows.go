package regex

import (
	"slices"
	"unicode/utf8"

	"adze/internal/platform/search/find"
)

// wideRate is how common a class must be to say nothing about where to look.
const wideRate = 0.25

// A clause is a list of windows of which every match contains one.
type clause []find.Window

// facts is what is known of the bytes that a part of a pattern matches.
type facts struct {
	// exact are windows of which one fits the whole text; nil if there are none to tell. With precise
	// also the reverse is true: what fits one of them matches.
	exact   clause
	precise bool
	// A match begins with one of prefix and ends with one of suffix. Windows may be empty.
	prefix, suffix clause
	clauses        []clause
}

// nothing returns the facts of a part that may match anything.
func nothing() facts { return facts{prefix: clause{nil}, suffix: clause{nil}} }

func exactly(c clause, precise bool) facts {
	return facts{exact: c, precise: precise, prefix: c, suffix: c}
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

// analyseClass returns one window for each length that a character of set may have.
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
	if len(c) == 0 || find.Rate(c) >= wideRate {
		return nothing()
	}
	return exactly(c, precise)
}

func (s runes) size() int {
	n := 0
	for _, r := range s {
		n += int(r[1]-r[0]) + 1
	}
	return n
}

// encodings returns the window of what stands in each place of characters that take n bytes, and how
// many texts fit it.
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
		return nothing()
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

// inSequence joins the facts of parts that follow each other.
func inSequence(parts []facts) facts {
	var out facts
	run := clause{nil} // what ends here, from where the last unknown part ended
	whole, precise := true, true
	closeRun := func() {
		if whole {
			out.prefix = run
			whole = false
		}
		out.clauses = append(out.clauses, run)
	}
	for _, part := range parts {
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
		if longer, ok := cross(run, part.prefix); ok {
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

// few returns the clauses that say something, but not more than are worth the time.
func few(clauses []clause) []clause {
	const enough = 32
	clauses = slices.DeleteFunc(slices.Clone(clauses), func(c clause) bool { return !c.usable() })
	return clauses[:min(len(clauses), enough)]
}

// cross returns every window of a followed by every one of b, unless that is too much.
func cross(a, b clause) (clause, bool) {
	if len(a)*len(b) > find.MaxWindows {
		return nil, false
	}
	var out clause
	for _, left := range a {
		for _, right := range b {
			if len(left)+len(right) > find.MaxLen {
				return nil, false
			}
			out = append(out, slices.Concat(left, right))
		}
	}
	return out, true
}

// eitherOf joins the facts of alternatives.
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
	if allNeeded {
		out.clauses = []clause{squeeze(needed, false)}
	}
	return out
}

// mergeSingles makes one window of all those of one place.
func mergeSingles(c clause) clause {
	var out clause
	var at = -1
	for _, w := range c {
		switch {
		case len(w) != 1:
			out = append(out, w)
		case at < 0:
			at = len(out)
			out = append(out, slices.Clone(w))
		default:
			out[at][0] = out[at][0].Union(w[0])
		}
	}
	return out
}

// squeeze merges windows until there are few enough. It cuts them to a common length, at their
// beginning if atEnd is set.
func squeeze(c clause, atEnd bool) clause {
	if len(c) <= find.MaxWindows {
		return c
	}
	c = slices.Clone(c)
	slices.SortStableFunc(c, func(a, b find.Window) int {
		return slices.CompareFunc(a, b, func(x, y find.Set) int { return slices.Compare(x[:], y[:]) })
	})
	var out clause
	size := (len(c) + find.MaxWindows - 1) / find.MaxWindows
	for group := range slices.Chunk(c, size) {
		out = append(out, mergeGroup(group, atEnd))
	}
	return out
}

func mergeGroup(group clause, atEnd bool) find.Window {
	length := find.MaxLen
	for _, w := range group {
		length = min(length, len(w))
	}
	merged := make(find.Window, length)
	for _, w := range group {
		if atEnd {
			w = w[len(w)-length:]
		}
		for i := range merged {
			merged[i] = merged[i].Union(w[i])
		}
	}
	return merged
}

// usable reports whether c says where to look.
func (c clause) usable() bool {
	return len(c) > 0 && !slices.ContainsFunc(c, func(w find.Window) bool { return len(w) == 0 })
}

// best returns the rarest of the clauses that hold for f.
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
