package glob

import (
	"math/bits"
	"unicode/utf8"
)

// A token is a step of a pattern: one character, or a loop over characters.
type token struct {
	kind kind
	char rune     // the only character it matches, if set is nil
	set  *charSet // the characters it matches; must not be modified
}

type kind uint8

const (
	single       kind = iota
	loopElement       // *: any number of characters without a slash
	loopAny           // **: any number of characters
	loopElements      // **/: like loopAny, and optional together with the following slash
)

func (t *token) takes(c rune) bool {
	if t.set == nil {
		return c == t.char
	}
	return t.set.has(c)
}

// An nfa runs tokens over text by keeping the set of possible next tokens, so that each
// character is read once for every pattern. State i waits for token i; the last one accepts.
type nfa struct {
	tokens []token
	bytes  bool // characters are bytes, as in git
}

// match reports whether the tokens match the whole text.
func (n *nfa) match(text string) bool {
	var buf [2 * smallWidth]uint64
	cur, spare := n.states(buf[:])
	cur, _ = n.run(text, cur, spare)
	last := len(n.tokens)
	return cur != nil && cur[last/64]&(1<<(last%64)) != 0
}

// reaches reports whether a longer text that begins with the given parts could match.
func (n *nfa) reaches(parts ...string) bool {
	var buf [2 * smallWidth]uint64
	cur, spare := n.states(buf[:])
	for _, part := range parts {
		if cur, spare = n.run(part, cur, spare); cur == nil {
			return false
		}
	}
	last := len(n.tokens)
	cur[last/64] &^= 1 << (last % 64)
	for _, word := range cur {
		if word != 0 {
			return true
		}
	}
	return false
}

// smallWidth is the number of words up to which state sets fit on the stack.
const smallWidth = 4

// states returns the initial state set and another one as scratch space, taken from buf if they
// fit.
func (n *nfa) states(buf []uint64) (cur, spare []uint64) {
	width := len(n.tokens)/64 + 1
	if width > smallWidth {
		buf = make([]uint64, 2*width)
	}
	cur, spare = buf[:width], buf[width:2*width]
	n.enter(cur, 0)
	return cur, spare
}

// enter adds state i to set, and the states reachable from it without a character.
func (n *nfa) enter(set []uint64, i int) {
	for {
		set[i/64] |= 1 << (i % 64)
		if i == len(n.tokens) || n.tokens[i].kind == single {
			return
		}
		if n.tokens[i].kind == loopElements {
			n.enter(set, i+2)
		}
		i++
	}
}

// run feeds text to the states cur. It returns nil if none is left.
func (n *nfa) run(text string, cur, spare []uint64) (states, free []uint64) {
	for len(text) > 0 {
		c, size := rune(text[0]), 1
		if c >= utf8.RuneSelf && !n.bytes {
			c, size = decodeRune(text)
		}
		text = text[size:]
		clear(spare)
		alive := false
		for w, word := range cur {
			for ; word != 0; word &= word - 1 {
				i := w*64 + bits.TrailingZeros64(word)
				if i == len(n.tokens) || !n.tokens[i].takes(c) {
					continue
				}
				alive = true
				if n.tokens[i].kind != single {
					spare[i/64] |= 1 << (i % 64)
				}
				n.enter(spare, i+1)
			}
		}
		if !alive {
			return nil, nil
		}
		cur, spare = spare, cur
	}
	return cur, spare
}
