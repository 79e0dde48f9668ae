package tokens

import (
	"strings"
	"unicode/utf8"
)

// A family is a group of models, identified by name prefixes, with the token weights to use
// before the provider has reported any usage.
type family struct {
	prefixes string // space-separated
	weights
}

// weights are the contributions to a text's token count, in thousandths of a token. They were
// fitted to the families' tokenizers on code, prose, data and logs; testdata/count.mjs repeats
// the counts.
type weights struct {
	word   int32 // start of a word
	hump   int32 // capital after a lower-case letter, where names are split
	letter int32 // each letter
	digit  int32 // each digit
	mixed  int32 // digit after a letter, as in checksums
	sign   int32 // punctuation character
	signs  int32 // punctuation after punctuation
	line   int32 // end of one or more lines
	indent int32 // blank after a blank or at the start of a line
	wide   int32 // character of a script without spaces
}

const (
	// other is the cost of a character that is neither ASCII nor wide, such as an accented
	// letter.
	other = 750
	// From longest consecutive lower-case letters on, text is data rather than language, and
	// each letter costs random more.
	longest = 24
	random  = 300
)

// families is ordered: the first match counts. The current tokenizers of Claude and of the
// models in the last rows are not public; their weights are a starting point until usage is
// reported.
var families = [...]family{
	{"claude", weights{568, 1302, 106, 197, 1703, 1040, 188, 1178, 0, 911}},
	{"gpt o1 o3 o4 chatgpt", weights{684, 1558, 102, 472, 813, 412, 299, 1278, 40, 752}},
	{"gemini gemma", weights{445, 1085, 125, 875, 1343, 975, 213, 1583, 10, 655}},
	{"qwen", weights{716, 1407, 98, 1048, 729, 370, 285, 1381, 27, 670}},
	{"deepseek glm kimi moonshot minimax doubao hunyuan", weights{589, 1579, 118, 465, 903, 564, 313, 1348, 2, 615}},
	{"", weights{580, 1373, 113, 615, 1112, 674, 268, 1404, 0, 720}},
}

func familyOf(model string) *family {
	name := strings.ToLower(model)
	if _, after, ok := strings.Cut(name, "/"); ok {
		name = after // drop the provider prefix
	}
	for i, f := range families {
		for prefix := range strings.FieldsSeq(f.prefixes) {
			if strings.HasPrefix(name, prefix) {
				return &families[i]
			}
		}
	}
	return &families[len(families)-1]
}

// Character classes. They are also the states of the machine that reads a text: the class of
// the previous character. The states from lower to last count consecutive lower-case letters.
const (
	newline = iota
	blank
	sign
	digit
	upper
	beyond // non-ASCII
	lower
	last   = lower + longest
	states = last + 1
)

// classes holds the class of each ASCII character, as a digit.
const classes = "22222222210220222222222222222222" + // control characters
	"12222222222222223333333333222222" + // space, punctuation and digits
	"24444444444444444444444444422222" + // capitals
	"26666666666666666666666666622222"

// A machine holds a character's cost and the next state, for each state and class, as cost*256
// + state. Each row has eight classes.
type machine [states * 8]uint32

func (w *weights) machine() *machine {
	var m machine
	for state := range states {
		for class := range lower + 1 {
			next := class
			if class == lower && state >= lower {
				next = min(state+1, last)
			}
			m[state*8+class] = uint32(w.cost(state, class))<<8 | uint32(next)
		}
	}
	return &m
}

// cost returns a character's cost, given its class and the current state.
func (w *weights) cost(state, class int) int32 {
	afterLetter := state == upper || state >= lower
	switch class {
	case newline:
		if state != newline {
			return w.line
		}
	case blank:
		if state == newline || state == blank {
			return w.indent
		}
	case sign:
		if state == sign {
			return w.signs
		}
		return w.sign
	case digit:
		if afterLetter {
			return w.digit + w.mixed
		}
		return w.digit
	case upper, lower:
		switch {
		case !afterLetter:
			return w.letter + w.word
		case state == last && class == lower:
			return w.letter + random
		case state >= lower && class == upper:
			return w.letter + w.hump
		}
		return w.letter
	}
	return 0
}

// text returns the number of tokens in s.
func (g *Estimator) text(s string) int {
	m := g.machine
	sum, state := 0, uint32(newline)
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			e := m[state*8+uint32(classes[c]-'0')]
			sum += int(e >> 8)
			state = e & 0xff
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		state = beyond
		if isWide(r) {
			sum += int(g.wide)
		} else {
			sum += other
		}
	}
	return (sum + 999) / 1000
}

// isWide reports whether r belongs to a script without spaces or is a standalone symbol.
func isWide(r rune) bool {
	return r >= 0x2e80 && r <= 0xd7ff || r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xffef || r >= 0x1f000
}
