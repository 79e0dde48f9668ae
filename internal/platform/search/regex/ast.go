package regex

// A node is a part of a parsed pattern.
type node struct {
	op       op
	set      runes   // of opClass
	subs     []*node // of opConcat and opAlternate; the only one of opRepeat
	min, max int     // of opRepeat; a max of -1 is no limit
	lazy     bool    // of opRepeat: prefers few
	look     look    // of opLook
	offset   int     // in the pattern, of opClass
}

type op uint8

const (
	opEmpty op = iota
	opClass    // one character of a set
	opConcat
	opAlternate // prefers its first
	opRepeat
	opLook // no text, but a condition on what surrounds it
)

// A look is a condition on the characters beside a place.
type look uint8

const (
	lookStartLine look = iota
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

func looking(l look) *node { return &node{op: opLook, look: l} }

// words returns n bounded so that it begins and ends beside no word character.
func words(n *node) *node {
	return concat(looking(lookNoWordLeft), n, looking(lookNoWordRight))
}

// fixed returns the pattern that matches text alone.
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

// stripNewlines takes the line feed out of every set below n, since the text of a line has none. It
// returns a node that would have nothing left: it asks for a line feed.
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
