package regex

// A node is part of a parsed pattern.
type node struct {
	op       op
	set      runes      // opClass only
	subs     []*node    // opConcat, opAlternate; a single one for opRepeat
	min, max int        // opRepeat only; a max of -1 means no limit
	lazy     bool       // opRepeat only: prefers fewer
	look     lookaround // opLook only
	offset   int        // opClass only: position in the pattern
}

type op uint8

const (
	opEmpty op = iota
	opClass    // a character of a set
	opConcat
	opAlternate // prefers its first
	opRepeat
	opLook // an empty match with a condition on its surroundings
)

// A lookaround is a condition on the characters adjacent to a position.
type lookaround uint8

const (
	lookStartLine lookaround = iota
	lookEndLine
	lookStartText
	lookEndText
	lookBoundary    // \b
	lookNoBoundary  // \B
	lookWordStart   // \b{start}
	lookWordEnd     // \b{end}
	lookNoWordLeft  // \b{start-half}
	lookNoWordRight // \b{end-half}
)

func concat(subs ...*node) *node {
	if len(subs) == 1 {
		return subs[0]
	}
	if len(subs) == 0 {
		return &node{op: opEmpty}
	}
	return &node{op: opConcat, subs: subs}
}

func alternate(subs ...*node) *node {
	if len(subs) == 1 {
		return subs[0]
	}
	return &node{op: opAlternate, subs: subs}
}

func looking(l lookaround) *node { return &node{op: opLook, look: l} }

// words returns n restricted so that it is not adjacent to word characters.
func words(n *node) *node {
	return concat(looking(lookNoWordLeft), n, looking(lookNoWordRight))
}

// fixed returns the pattern that matches only text.
func fixed(text string, fold bool) *node {
	var subs []*node
	for i, r := range text {
		set := single(r)
		if fold {
			set = set.fold()
		}
		subs = append(subs, &node{op: opClass, set: set, offset: i})
	}
	return concat(subs...)
}

// stripNewlines removes the line feed from every set below n, since the text of a line has
// none. It returns a node that would become empty: it requires a line feed.
func stripNewlines(n *node) *node {
	if n.op == opClass && n.set.has('\n') {
		n.set = n.set.minus(single('\n'))
		if len(n.set) == 0 {
			return n
		}
	}
	for _, sub := range n.subs {
		if asking := stripNewlines(sub); asking != nil {
			return asking
		}
	}
	return nil
}
