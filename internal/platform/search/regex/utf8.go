package regex

import (
	"sync"
	"unicode/utf8"
)

// A shape is the automaton of a class over UTF-8 bytes: an acyclic graph in which equal parts
// are shared. Node 0 is the end.
type shape struct {
	nodes [][]edge
	entry uint32
}

// An edge leads to a node over the bytes from lo to hi.
type edge struct {
	lo, hi byte
	to     uint32
}

// shapeBuilder builds a shape from the ends of the encodings to their beginnings.
type shapeBuilder struct {
	shape
	ids  map[string]uint32 // node numbers, keyed by edges
	full [utf8.UTFMax]uint32
	key  []byte
}

// wordShape is the shape of \w, which is large and frequent.
var wordShape = sync.OnceValue(func() shape { return shapeOf(wordRunes()) })

// cachedShape is shapeOf for a non-empty set.
func cachedShape(set runes) shape {
	const large = 300 // do not build the word set to compare it with a small one
	if len(set) > large && &set[0] == &wordRunes()[0] {
		return wordShape()
	}
	return shapeOf(set)
}

// shapeOf returns the automaton that accepts the encodings of the characters in set.
func shapeOf(set runes) shape {
	if n := len(set); n > 0 && set[n-1][1] < utf8.RuneSelf { // common case
		edges := make([]edge, n)
		for i, r := range set {
			edges[i] = edge{lo: byte(r[0]), hi: byte(r[1])}
		}
		return shape{nodes: [][]edge{nil, edges}, entry: 1}
	}
	b := &shapeBuilder{ids: map[string]uint32{}}
	b.nodes = append(b.nodes, nil)
	var edges []edge
	for n, first := 1, rune(0); n <= utf8.UTFMax; n++ {
		last := [...]rune{utf8.RuneSelf - 1, 0x7ff, 0xffff, maxRune}[n-1]
		lead := [...]byte{0, 0xc0, 0xe0, 0xf0}[n-1]
		edges = append(edges, b.edges(set.between(first, last), lead, n-1)...)
		first = last + 1
	}
	b.entry = b.intern(edges)
	return b.shape
}

// between returns the part of s from lo to hi.
func (s runes) between(lo, hi rune) runes {
	var out runes
	for _, r := range s {
		if a, b := max(r[0], lo), min(r[1], hi); a <= b {
			out = append(out, [2]rune{a, b})
		}
	}
	return out
}

// edges returns the edges over a first byte, which consists of lead and the topmost bits, to
// the nodes for the remaining rest bytes of six bits each.
func (b *shapeBuilder) edges(ranges runes, lead byte, rest int) []edge {
	shift := 6 * rest
	low := rune(1)<<shift - 1
	var edges []edge
	var below runes // values below the byte at top
	top := rune(-1)
	flush := func() {
		if below != nil {
			edges = appendEdge(edges, edge{lead | byte(top), lead | byte(top), b.rest(below, rest)})
			below = nil
		}
	}
	for _, r := range ranges {
		for lo := r[0]; lo <= r[1]; {
			if lo>>shift != top {
				flush()
				top = lo >> shift
			}
			if whole := (r[1]+1)>>shift - 1; lo&low == 0 && whole >= top {
				edges = appendEdge(edges, edge{lead | byte(top), lead | byte(whole), b.rest(runes{{0, low}}, rest)})
				lo = (whole + 1) << shift
				continue
			}
			hi := min(r[1], lo|low)
			below = append(below, [2]rune{lo & low, hi & low})
			lo = hi + 1
		}
	}
	flush()
	return edges
}

func appendEdge(edges []edge, e edge) []edge {
	if n := len(edges); n > 0 && edges[n-1].to == e.to && edges[n-1].hi+1 == e.lo {
		edges[n-1].hi = e.hi
		return edges
	}
	return append(edges, e)
}

// rest returns the node that accepts n more bytes with these values.
func (b *shapeBuilder) rest(ranges runes, n int) uint32 {
	if n == 0 {
		return 0
	}
	all := ranges[0] == [2]rune{0, 1<<(6*n) - 1}
	if all && b.full[n] != 0 {
		return b.full[n]
	}
	id := b.intern(b.edges(ranges, utf8.RuneSelf, n-1))
	if all {
		b.full[n] = id
	}
	return id
}

func (b *shapeBuilder) intern(edges []edge) uint32 {
	b.key = b.key[:0]
	for _, e := range edges {
		b.key = append(b.key, e.lo, e.hi, byte(e.to), byte(e.to>>8))
	}
	if id, ok := b.ids[string(b.key)]; ok {
		return id
	}
	id := uint32(len(b.nodes))
	b.nodes = append(b.nodes, edges)
	b.ids[string(b.key)] = id
	return id
}
