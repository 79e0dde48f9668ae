package rank

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxWord limits the number of letters compared, because input words may be arbitrarily long.
const maxWord = 64

// Closest returns up to n candidates similar to word, closest first; ties keep the given order.
// It ignores case. A candidate is similar if at most about a third of the letters differ, or if
// one is a prefix of the other.
func Closest(word string, candidates []string, n int) []string {
	type near struct {
		word     string
		distance int
	}
	if word == "" {
		return nil
	}
	w := clip(strings.ToLower(word))
	var found []near
	for _, c := range candidates {
		k := clip(strings.ToLower(c))
		d := Distance(w, k)
		longest := max(utf8.RuneCountInString(w), utf8.RuneCountInString(k))
		begins := len(w) > 2 && len(k) > 2 && (strings.HasPrefix(w, k) || strings.HasPrefix(k, w))
		if begins || d < longest && d <= max(1, (longest+1)/3) {
			found = append(found, near{c, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.distance - b.distance })
	var words []string
	for _, f := range found {
		if len(words) == n {
			break
		}
		if !slices.Contains(words, f.word) {
			words = append(words, f.word)
		}
	}
	return words
}

// Distance returns the number of insertions, deletions, substitutions and transpositions of
// adjacent letters needed to turn a into b.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	// Keep three rows of the table: a transposition refers to two rows back.
	before, above, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range above {
		above[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, above[j+1]+1, above[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(y)]
}

func clip(s string) string {
	for i, n := 0, 0; i < len(s); n++ {
		if n == maxWord {
			return s[:i]
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return s
}
