package draw

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWords is the maximum number of words in a line for a word-by-word comparison.
	maxWords = 120
	// maxAhead is the number of added lines searched for the counterpart of a removed one.
	maxAhead = 8
)

// changes returns the changed parts of each line in a hunk. A removed line is compared with an
// added line that shares at least half of its words. The parts are offsets in the displayed
// text, without the mark.
func changes(lines []string) [][]Range {
	changed := make([][]Range, len(lines))
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

// pair compares removed lines with the added lines that follow them, in order.
func pair(lines []string, changed [][]Range, removed, added, end int) {
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

// differ returns the parts of two lines outside their longest common subsequence of words.
func differ(a, b []string) (inA, inB []Range) {
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

// extend adds a word to the changed parts. Blanks alone do not count as a change.
func extend(parts []Range, at int, word string) []Range {
	if n := len(parts); n > 0 && parts[n-1].To == at {
		parts[n-1].To = at + len(word)
		return parts
	}
	if blank(word) {
		return parts
	}
	return append(parts, Range{at, at + len(word)})
}

// join merges parts separated only by blanks, and parts where one equals the text in between:
// if "f(x())" became "f()", the removed part is "x()", not "x(" and the second ")".
func join(parts []Range, text string) []Range {
	var out []Range
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
			out[n] = Range{out[n].To, p.To}
		default:
			out = append(out, p)
		}
	}
	return out
}

// wordsOf splits a text into words, runs of blanks, and single other characters.
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

// The character classes used to split words.
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
