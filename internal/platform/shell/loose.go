package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// pieces splits w at its unquoted expansions, as if they were blanks.
func (w Word) pieces() []Word {
	if len(w.gaps) == 0 {
		return []Word{w}
	}
	var words []Word
	from := 0
	for _, gap := range append(w.gaps[:len(w.gaps):len(w.gaps)], len(w.Value)) {
		if gap > from {
			words = append(words, plainWord(w.Value[from:gap]))
		}
		from = gap
	}
	return words
}

// braces returns the brace expansion of w. A word with too many expansions is split at its
// braces instead.
func (f *suspects) braces(w *syntax.Word) []Word {
	word := readWord(w, f.vars)
	if !word.brace || word.Static {
		return []Word{word}
	}
	split := &syntax.Word{Parts: slices.Clone(w.Parts)}
	if !syntax.SplitBraces(split) {
		return []Word{word}
	}
	if combinations(split) > 512 {
		words := []Word{}
		for _, field := range strings.FieldsFunc(word.Value, func(r rune) bool { return strings.ContainsRune("{},", r) }) {
			words = append(words, plainWord(field))
		}
		return words
	}
	var words []Word
	for each, err := range expand.BracesSeq(nil, split) {
		if err != nil {
			return []Word{word}
		}
		words = append(words, readWord(each, f.vars))
	}
	return words
}

// combinations returns the number of words that w expands to, or some large number.
func combinations(w *syntax.Word) int {
	const large = 1 << 20
	product := 1
	for _, part := range w.Parts {
		brace, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		if brace.Sequence {
			product = min(large, product*steps(brace))
			continue
		}
		sum := 0
		for _, elem := range brace.Elems {
			sum = min(large, sum+combinations(elem))
		}
		product = min(large, product*sum)
	}
	return product
}

// steps returns an upper bound for the number of words that a sequence such as {a..f} expands
// to, or some large number.
func steps(brace *syntax.BraceExp) int {
	const large = 1 << 20
	from, to := brace.Elems[0].Lit(), brace.Elems[1].Lit()
	if len(from) == 1 && len(to) == 1 {
		return 256
	}
	a, err1 := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || max(a, b)-min(a, b) >= 256 || max(a, b)-min(a, b) < 0 {
		return large
	}
	return max(a, b) - min(a, b) + 1
}

// loose adds the word sequences of text that is not understood, read in two ways: with quotes
// and invisible characters removed, and with each of them ending a command.
func (f *suspects) loose(text string) {
	f.active = true
	for _, ends := range []bool{false, true} {
		var words []string
		var word strings.Builder
		endWord := func() {
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
		}
		endCommand := func() {
			endWord()
			if len(words) > 0 {
				f.sequence(words, false)
				words = nil
			}
		}
		for _, r := range text {
			switch {
			case r == ' ' || r == '\t':
				endWord()
			case strings.ContainsRune("\n;&|()`{}<>,", r):
				endCommand()
			case strings.ContainsRune(`'"\`, r) || hidden(r):
				if ends {
					endCommand()
				}
			case r == '$':
			default:
				word.WriteRune(r)
			}
		}
		endCommand()
	}
}
