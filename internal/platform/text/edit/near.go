package edit

import (
	"strings"
	"unicode"
)

// A Near is the part of a file most similar to a text that was not found.
type Near struct {
	Line int      // its first line, counted from 1
	Text []string // the lines there, as many as were searched for, up to nearShown
	// Space is true if only white space differs. How describes the difference.
	Space bool
	How   string
}

const (
	// nearBytes and nearLines bound the search for similar text.
	nearBytes = 8 << 20
	nearLines = 20_000
	// nearShown is the maximum number of lines in Near.Text.
	nearShown = 8
	// likeness is the percentage of a line that must match to call it similar.
	likeness = 60
)

// nearest returns the part of the file most similar to s.
func (t *text) nearest(s string) *Near {
	data := t.data[t.start:min(len(t.data), t.start+nearBytes)]
	file := strings.Split(t.decode(data), "\n")
	want := strings.Split(strings.Trim(s, "\n"), "\n")
	at := aligned(file, want)
	if at < 0 {
		at = similar(file, want)
	}
	if at < 0 {
		return nil
	}
	n := &Near{Line: at + 1}
	for _, line := range file[at:min(at+min(len(want), nearShown), len(file))] {
		n.Text = append(n.Text, shown(line))
	}
	there := strings.Join(file[at:min(at+len(want), len(file))], "\n")
	if n.Space = strings.Contains(squeezed(there), squeezed(s)); n.Space {
		n.How = spacing(there, strings.Join(want, "\n"))
	}
	return n
}

// aligned returns the line in file where most lines of want occur, ignoring white space, or -1.
func aligned(file, want []string) int {
	lines := map[string][]int{}
	for i, line := range want {
		if key := squeezed(line); len(key) > 2 { // ignore trivial lines such as braces
			lines[key] = append(lines[key], i)
		}
	}
	votes, best := map[int]int{}, -1
	for i, line := range file {
		for _, j := range lines[squeezed(line)] {
			at := max(i-j, 0)
			votes[at]++
			if best < 0 || votes[at] > votes[best] || votes[at] == votes[best] && at < best {
				best = at
			}
		}
	}
	return best
}

// similar returns the start of the place where the longest line of want resembles a line of
// file most, or -1.
func similar(file, want []string) int {
	longest := 0
	for i, line := range want {
		if len(line) > len(want[longest]) {
			longest = i
		}
	}
	pairs := pairsOf(want[longest])
	if len(pairs) == 0 {
		return -1
	}
	best, most := -1, likeness-1
	for i, line := range file[:min(len(file), nearLines)] {
		found, all := 0, pairsOf(line)
		for pair := range pairs {
			if all[pair] {
				found++
			}
		}
		// Of equal matches, the line with less other text wins.
		if score := 100*found/len(pairs) - len(all)/64; score > most {
			best, most = i, score
		}
	}
	if best < 0 {
		return -1
	}
	return max(best-longest, 0)
}

// pairsOf returns the pairs of adjacent characters in a line, ignoring white space.
func pairsOf(line string) map[[2]rune]bool {
	pairs := map[[2]rune]bool{}
	var last rune
	for i, r := range squeezed(line[:min(len(line), 400)]) {
		if i > 0 {
			pairs[[2]rune{last, r}] = true
		}
		last = r
	}
	return pairs
}

// squeezed returns s without white space and with straight quotation marks.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		if forms := quoteForms(r); forms != "" {
			return rune(forms[0])
		}
		return r
	}, s)
}

// spacing describes how the white space of two texts differs.
func spacing(file, asked string) string {
	tabs := func(s string) bool { return strings.Contains(s, "\t") }
	trimmed := func(s string) string {
		var out []string
		for line := range strings.SplitSeq(s, "\n") {
			out = append(out, strings.TrimRight(line, " \t\r"))
		}
		return strings.Join(out, "\n")
	}
	switch {
	case strings.Contains(trimmed(file), trimmed(asked)):
		return "spaces at the end of lines"
	case tabs(file) && !tabs(asked):
		return "the file has tabs where the text has spaces"
	case tabs(asked) && !tabs(file):
		return "the file has spaces where the text has tabs"
	}
	return "the number of spaces or line ends"
}
