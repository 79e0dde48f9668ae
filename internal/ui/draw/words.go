package draw

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWords is how many words a line may have to be compared with another one by words.
	maxWords = 120
	// maxAhead is among how many added lines the counterpart of a removed one is looked for.
	maxAhead = 8
)

// changes returns, for each line of a hunk, which parts of its text changed: of lines that were removed and come back with
// at least half of their words. The parts are offsets in the text as it is shown, without the mark.
func changes(lines []string) [][]Stretch {
	changed := make([][]Stretch, len(lines))
	for i := 0; i < len(lines); {
		removed := i
		for i < len(lines) && strings.HasPrefix(lines[i], "-") {
			i++
		}
		added := i
		for i < len(lines) && strings.HasPrefix(lines[i], "+") {
			i++
		}
		if removed == added || added == i {
			i = max(i, removed+1)
			continue
		}
		pair(lines, changed, removed, added, i)
	}
	return changed
}

// pair compares the lines that were removed with those that were added after them, in order.
func pair(lines []string, changed [][]Stretch, removed, added, end int) {
	texts := make([][]string, end-removed)
	for i := range texts {
		texts[i] = wordsOf(lines[removed+i][1:])
	}
	next := added
	for r := removed; r < added; r++ {
		was := texts[r-removed]
		for a := next; a < min(end, next+maxAhead); a++ {
			is := texts[a-removed]
			if !alike(was, is) {
				continue
			}
			changed[r], changed[a] = differ(was, is)
			changed[r], changed[a] = join(changed[r], strings.Join(was, "")), join(changed[a], strings.Join(is, ""))
			next = a + 1
			break
		}
	}
}

// alike reports whether two lines share at least half of their words.
func alike(a, b []string) bool {
	if len(a) > maxWords || len(b) > maxWords {
		return false
	}
	left := map[string]int{}
	words := 0
	for _, w := range a {
		if !blank(w) {
			left[w]++
			words++
		}
	}
	others, same := 0, 0
	for _, w := range b {
		if blank(w) {
			continue
		}
		others++
		if left[w] > 0 {
			left[w]--
			same++
		}
	}
	return same > 0 && 2*same >= max(words, others)
}

func blank(word string) bool { return word[0] == ' ' }

// differ returns the parts of two lines that are not in the longest sequence of words that both have.
func differ(a, b []string) (inA, inB []Stretch) {
	var lengths [maxWords + 1][maxWords + 1]uint8
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	i, j, atA, atB := 0, 0, 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			atA, atB = atA+len(a[i]), atB+len(b[j])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && lengths[i+1][j] >= lengths[i][j+1]:
			inA = extend(inA, atA, a[i])
			atA += len(a[i])
			i++
		default:
			inB = extend(inB, atB, b[j])
			atB += len(b[j])
			j++
		}
	}
	return inA, inB
}

// extend adds a word to the parts that changed. Blanks alone are none.
func extend(parts []Stretch, at int, word string) []Stretch {
	if n := len(parts); n > 0 && parts[n-1].To == at {
		parts[n-1].To = at + len(word)
		return parts
	}
	if blank(word) {
		return parts
	}
	return append(parts, Stretch{at, at + len(word)})
}

// join joins parts of a text with nothing but blanks between them, and parts of which one reads like what is between them:
// of "f(x())" that became "f()", what went is "x()", and not "x(" and the second ")".
func join(parts []Stretch, text string) []Stretch {
	var out []Stretch
	for _, p := range parts {
		n := len(out) - 1
		if n < 0 {
			out = append(out, p)
			continue
		}
		between := text[out[n].To:p.From]
		switch {
		case strings.TrimLeft(between, " ") == "":
			out[n].To = p.To
		case between == text[p.From:p.To]:
			out[n].To = p.From
		case between == text[out[n].From:out[n].To]:
			out[n] = Stretch{out[n].To, p.To}
		default:
			out = append(out, p)
		}
	}
	return out
}

// wordsOf cuts a text into words, runs of blanks, and single other characters.
func wordsOf(text string) []string {
	var out []string
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		kind := kindOf(r)
		for n < len(text) && kind != other {
			r, size := utf8.DecodeRuneInString(text[n:])
			if kindOf(r) != kind {
				break
			}
			n += size
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// The kinds of character that words are made of.
const (
	other = iota
	letter
	space
)

func kindOf(r rune) int {
	switch {
	case r == ' ':
		return space
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
		return letter
	}
	return other
}
