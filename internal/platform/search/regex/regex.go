// Package regex compiles patterns in the syntax of Rust's regex crate, as ripgrep takes it, and tells
// which lines of a buffer match. Its time is linear in the text whatever the pattern. It reads no files
// and knows nothing of context lines or limits; those are left to package scan.
//
// A pattern is parsed to a tree, and the tree is asked which few bytes every match must contain. Where a
// finder sees these, or everywhere if there are none, a lazily built automaton over bytes decides. Where
// a match begins and ends in a line is found by running the automaton's threads side by side.
package regex

import "errors"

// Options say how a pattern is read.
type Options struct {
	IgnoreCase bool // letters match their other case
	Multiline  bool // a match may span lines, and . matches a line end
	Fixed      bool // the pattern is a text to find, without special characters
	Word       bool // a match stands beside no word character

	eager bool // places are looked for however common they are; only tests want that
}

// A Query is a compiled pattern. It does not change, so any number of goroutines may use it.
type Query struct {
	program   *program
	prefilter *prefilter // nil if all of the text has to be read
	needs     []Need
	spanning  bool // a match may span lines
	always    bool // every line matches
}

// Compile returns the query of a pattern. Its error is an [*Error] if the pattern is to blame.
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

// spans reports whether n can match a line end or tells the text's ends from those of lines.
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

// Needs returns conditions on the grams of a text that all texts with a match meet; none if nothing
// is known.
func (q *Query) Needs() []Need { return q.needs }
