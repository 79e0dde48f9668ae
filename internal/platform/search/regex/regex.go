// Package regex compiles patterns in the syntax of Rust's regex crate, as used by ripgrep, and
// finds the matching lines of a buffer. Its time is linear in the text for every pattern. It
// performs no I/O.
//
// A pattern is parsed to a tree, from which a prefilter is derived: a few bytes that every
// match must contain. Where a finder sees them, or everywhere without a prefilter, a lazily
// built automaton over bytes decides. The bounds of a match in a line are found by running the
// automaton's threads in parallel.
package regex

import "errors"

// Options configure Compile.
type Options struct {
	IgnoreCase bool // case-insensitive
	Multiline  bool // matches may span lines, and . matches a line feed
	Fixed      bool // the pattern is literal text
	Word       bool // matches must not be adjacent to word characters

	eager bool // use the prefilter however common its bytes are; for tests
}

// A Query is a compiled pattern. It is immutable and safe for concurrent use.
type Query struct {
	program   *program
	prefilter *prefilter // nil if the whole text must be read
	needs     []Need
	spanning  bool // matches may span lines
	always    bool // every line matches
}

// Compile compiles a pattern. The error is an [*Error] if the pattern is invalid.
func Compile(pattern string, o Options) (*Query, error) {
	var tree *node
	if o.Fixed {
		tree = fixed(pattern, o.IgnoreCase)
	} else {
		var err error
		tree, err = parse(pattern, flags{fold: o.IgnoreCase, lines: true, dotAll: o.Multiline})
		if err != nil {
			return nil, err
		}
	}
	if o.Word {
		tree = words(tree)
	}
	q := &Query{spanning: o.Multiline && spans(tree)}
	if !q.spanning {
		if asking := stripNewlines(tree); asking != nil {
			return nil, &Error{
				Pattern: pattern, Offset: asking.offset,
				Message: "a line end cannot match, since lines are searched one by one",
				Hint:    "use multiline to match across lines",
			}
		}
	}
	var err error
	if q.program, err = compile(tree); err != nil {
		if errors.Is(err, errTooLarge) {
			return nil, &Error{Pattern: pattern, Message: err.Error()}
		}
		return nil, err
	}
	known := analyse(tree)
	most := rates{lineRate, skimRate}
	if o.eager {
		most = rates{1, 1}
	}
	q.prefilter = choosePrefilter(tree, known, most)
	q.needs = needs(known)
	q.always = !q.spanning && newDFA(q.program, true, &budget{}).start(sideEdge) == matched
	return q, nil
}

// spans reports whether n can match a line feed or distinguishes the ends of the text from line
// ends.
func spans(n *node) bool {
	switch n.op {
	case opClass:
		return n.set.has('\n')
	case opLook:
		return n.look == lookStartText || n.look == lookEndText
	}
	for _, sub := range n.subs {
		if spans(sub) {
			return true
		}
	}
	return false
}

// Spanning reports whether a match may span lines.
func (q *Query) Spanning() bool { return q.spanning }

// Needs returns conditions on a text's grams that all texts with a match satisfy; nil if none
// are known.
func (q *Query) Needs() []Need { return q.needs }
