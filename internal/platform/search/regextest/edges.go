package regextest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// Edges generates patterns with conditions in any position: as an alternative, before and after
// nothing, in nested groups and in counted repeats. Its texts have few different characters, so
// that such patterns match in many ways.
//
// All of them mean the same to package regexp, as long as only matching lines or the start of a
// match are compared.
type Edges struct {
	Maker
	Plain   []string // literal text in pattern syntax
	Classes []string // character classes
	Looks   []string // conditions
	Flags   []string // text that may follow the parenthesis of a group
	chars   []string // characters in texts
}

// NewEdges returns a generator that takes its choices from r.
//
// For package regexp, words are ASCII: a generator has either conditions on words or characters
// that only Rust's regex crate considers word characters. For package regexp, invalid UTF-8
// bytes are U+FFFD: that character is in no class of a generator whose texts will be spoiled.
func NewEdges(r *rand.Rand, spoiled bool) Edges {
	e := Edges{
		Maker:   Maker{Rand: r},
		Plain:   []string{"a", "b", "ab", "_", ",", "id", "k", "s", `\.`, "«", "x"},
		Classes: []string{"[ab]", "[^a\n\\x{fffd}]", "[^\n\\x{fffd}]", "[,_]", "[0-9]", "[a-z_]", "[[:upper:]]", "[k-s]"},
		Looks:   []string{"^", "^", "$", `\A`, `\z`, "(?-m:^)", "(?-m:$)"},
		Flags:   []string{"", "", "?:", "?:", "?i:", "?-i:", "?m:", "?-m:"},
		chars:   []string{"a", "a", "b", "_", ",", "i", "d", "id", "k", "s", ".", "«", "x", "0", "A", "B", "K", "S", "ID", " ", "\r", "\t", "😀"},
	}
	if r.IntN(2) == 0 {
		e.Looks = append(e.Looks, `\b`, `\b`, `\b`, `\B`, `\B`)
	} else {
		e.Plain = append(e.Plain, "é", "ſ", "σ")
		e.chars = append(e.chars, "é", "É", "ſ", "\u212a", "σ", "ς", "Σ")
	}
	if !spoiled {
		e.Classes = append(e.Classes, ".", "[^b]", "[[:^alpha:]]", "[[:^upper:]]", "[[:^word:]]", "[^[:^ascii:]]", "[[:^lower:]a]")
	}
	return e
}

// Pattern returns a random pattern.
func (e Edges) Pattern() string { return e.alternation(3) }

func (e Edges) alternation(depth int) string {
	parts := []string{e.sequence(depth)}
	for e.IntN(5) == 0 {
		parts = append(parts, e.sequence(depth))
	}
	if e.IntN(12) == 0 {
		parts = append(parts, "")
		e.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	}
	return strings.Join(parts, "|")
}

func (e Edges) sequence(depth int) string {
	var b strings.Builder
	for range 1 + e.IntN(3) {
		switch n := e.IntN(16); {
		case n < 6:
			b.WriteString(e.pick(e.Plain...))
		case n < 8:
			b.WriteString(e.pick(e.Classes...) + e.times(2))
		case n < 9:
			b.WriteString(e.pick(e.Looks...))
		case n < 14:
			b.WriteString(e.edge() + e.times(5))
		case depth > 0:
			b.WriteString("(" + e.pick(e.Flags...) + e.alternation(depth-1) + ")" + e.times(3))
		}
	}
	return b.String()
}

// edge returns a condition with alternatives.
func (e Edges) edge() string {
	parts := []string{e.pick(e.Looks...), e.pick(e.Plain...)}
	for e.IntN(3) == 0 {
		parts = append(parts, e.pick(e.pick(e.Plain...), e.pick(e.Classes...), e.pick(e.Looks...)+e.pick(e.Plain...), ""))
	}
	e.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return e.pick("(", "(?:") + strings.Join(parts, "|") + ")"
}

// times returns a repetition operator with probability 1/n.
func (e Edges) times(n int) string {
	if e.IntN(n) > 0 {
		return ""
	}
	return e.pick("*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}", "{0}", "*?", "+?", "??")
}

// Text returns lines of about n bytes. Some have other line ends than a line feed, or are long,
// and the last may be unterminated.
func (e Edges) Text(n int) []byte {
	var b bytes.Buffer
	end := e.pick("\n", "\n", "\n", "\r\n")
	length := []int{3, 8, 8, 30, 1 << 30}[e.IntN(5)] // characters per line
	for b.Len() < n {
		if e.IntN(length) == 0 {
			b.WriteString(end)
			continue
		}
		b.WriteString(e.pick(e.chars...))
	}
	if e.IntN(2) == 0 {
		b.WriteString(end)
	}
	return b.Bytes()
}

// Spoil inserts invalid UTF-8 bytes into text. They form no new characters with their
// neighbors.
func (e Edges) Spoil(text []byte) []byte {
	for range len(text)/40 + 1 {
		text = slices.Insert(text, e.IntN(len(text)+1), e.pick("\xff", "\x80")[0])
	}
	for range len(text)/40 + 1 {
		at := e.IntN(len(text) + 1)
		for at < len(text) && !utf8.RuneStart(text[at]) {
			at++
		}
		text = slices.Insert(text, at, e.pick("\xc3", "\xe2", "\xf0", "\xed")[0])
	}
	return text
}

// Script is a random source with recorded choices, one per byte. After the last it continues
// with a deterministic pseudo-random sequence.
type Script struct {
	choices []byte
	rest    *rand.PCG
}

// NewScript returns a source with these choices.
func NewScript(choices []byte) *Script {
	return &Script{choices, rand.NewPCG(uint64(len(choices)), 1)}
}

// Uint64 returns the next choice, in both its high and its low bits.
func (s *Script) Uint64() uint64 {
	if len(s.choices) == 0 {
		return s.rest.Uint64()
	}
	c := s.choices[0]
	s.choices = s.choices[1:]
	return uint64(c) * 0x0101010101010101
}
