// Package spell finds the words closest to a mistyped one, for errors that say what was meant. It
// compares letters only; what a word stands for is left to the caller.
package spell

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxWord bounds the letters that are compared: a word comes from outside and may be of any length.
const maxWord = 64

// Closest returns up to n candidates that are close enough to word to have been meant, the closest
// first and equally close ones in their given order. Case does not count. A candidate is close when
// at most about a third of the letters differ, or when one begins with the other.
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

// Distance returns how many letters must be inserted, removed, replaced, or swapped with their
// neighbour to turn a into b.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	// Three rows of the usual table: a swap looks two rows back.
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
