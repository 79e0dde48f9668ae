// Package regextest generates random patterns, and texts in which they occasionally match, for
// the search engine's tests.
package regextest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Maker generates random patterns in the syntax of Rust's regex crate.
type Maker struct {
	*rand.Rand
	GoSyntax bool     // only patterns with the same meaning in package regexp
	Newlines bool     // include line ends
	Looks    []string // permitted conditions
}

// New returns a deterministic generator.
func New(seed uint64) Maker {
	return Maker{Rand: rand.New(rand.NewPCG(seed, 1)), Looks: []string{"^", "$", `\b`, `\b`, `\B`}}
}

func (m Maker) pick(list ...string) string { return list[m.IntN(len(list))] }

// Pattern returns a random pattern.
func (m Maker) Pattern() string { return m.alternation(2) }

func (m Maker) alternation(depth int) string {
	n := 1
	if m.IntN(4) == 0 {
		n += 1 + m.IntN(3)
	}
	var parts []string
	for range n {
		parts = append(parts, m.sequence(depth))
	}
	return strings.Join(parts, "|")
}

func (m Maker) sequence(depth int) string {
	var b strings.Builder
	for range 1 + m.IntN(4) {
		b.WriteString(m.repeated(depth))
	}
	return b.String()
}

func (m Maker) repeated(depth int) string {
	atom, repeats := m.atom(depth)
	if !repeats || m.IntN(3) > 0 {
		return atom
	}
	op := m.pick("*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}")
	// In a loop, package regexp treats an empty match of a lazy part as the end of the loop;
	// Rust does not.
	if m.IntN(4) == 0 && !m.GoSyntax {
		op += "?"
	}
	return atom + op
}

func (m Maker) atom(depth int) (text string, repeats bool) {
	if m.GoSyntax {
		switch m.IntN(12) {
		case 0:
			return m.pick("^", "$"), false
		case 1:
			return m.pick(".", "[^a]", "[a-c]", `[[:alpha:]]`, `[^\x{80}-\x{10ffff}]`), true
		}
	} else {
		switch m.IntN(12) {
		case 0:
			return m.pick(m.Looks...), false
		case 1, 2:
			return m.pick(
				".", `\w`, `\W`, `\d`, `\D`, `\s`, `\S`, "[^a]", `[a-c\s]`, `[[:alpha:]_]`, `[^\w]`, `\pL`, `\p{Lu}`,
				`[\w&&[^a-f]]`, `[a-f--c]`, `[é-ü]`, `(?i:k)`, `(?i:ß)`, `(?-s:.)`, `\p{Greek}`, `[^\x00-\x7F]`), true
		}
	}
	if m.Newlines && m.IntN(6) == 0 {
		return m.pick(`\n`, `\n`, `\s`, `[^a]`, `\r?\n`), true
	}
	if depth > 0 && m.IntN(5) == 0 {
		return fmt.Sprintf("(%s%s)", m.pick("", "?:", "?i:"), m.alternation(depth-1)), true
	}
	return m.literal()
}

func (m Maker) literal() (text string, repeats bool) {
	switch m.IntN(6) {
	case 0:
		return m.pick("foo", "bar", "func", "return", "if", "err", "éa", "Σ", "straße", "kelvin", "abc", "aab"), false
	case 1:
		return m.pick("é", "ü", "中", "😀", "σ", "Σ", "ſ", "K", "ß"), true
	case 2:
		return m.pick(`\.`, `\(`, `\{`, " ", "-", "_", "=", ":", `\t`, "0", "7"), true
	}
	return m.pick("a", "b", "c", "d", "e", "f", "k", "s", "K", "S", "A", "B"), true
}

// Text returns random lines in which such patterns occasionally match.
func (m Maker) Text(n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch m.IntN(14) {
		case 0:
			b.WriteString(m.pick("\n", "\n", "\n\n", "\r\n", "\n \n"))
		case 1:
			b.WriteString(m.pick("foo", "bar", "func", "return", "err", "éa", "Σας", "straße", "KELVIN", "abc", "aab", "ſ", "K"))
		case 2:
			b.WriteString(m.pick("é", "ü", "中", "😀", "σ", "Σ", "\u00a0", "٣", "ß", "\u0301"))
		case 3:
			b.WriteString(m.pick(".", "(", "{", " ", " ", "-", "_", "=", ":", "\t", "0", "7"))
		default:
			b.WriteString(m.pick("a", "b", "c", "d", "e", "f", "k", "s", "K", "S", "A", "B"))
		}
	}
	return b.String()
}

// Spoiled returns text with invalid UTF-8 bytes.
func (m Maker) Spoiled(n int) string {
	b := []byte(m.Text(n))
	for range 1 + n/60 {
		b[m.IntN(len(b))] = m.pick("\xff", "\x80", "\xc3", "\xe2", "\xf0", "\xed")[0]
	}
	return string(b)
}
