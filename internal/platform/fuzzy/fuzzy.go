// Package fuzzy ranks names by how well they fit what was typed of them, for completion. It compares letters only,
// without regard to case; which names there are is left to the caller.
package fuzzy

import "math/bits"

// A Rank says how well a name fits; a higher one fits better. The zero value means that the name does not fit.
type Rank uint8

// The ranks.
const (
	Scattered Rank = iota + 1 // the letters are in the name, in their order
	Within                    // the name contains what was typed
	Words                     // what was typed is the beginnings of words of the name, as in td or te:de for team:deploy
	Prefix                    // the name begins with what was typed
	Exact
)

// maxTyped bounds what was typed; the rest of a longer text is only compared with the beginning of names.
const maxTyped = 63

// Match returns how well name fits typed. Everything fits an empty text.
func Match(name, typed string) Rank {
	switch n := common(name, typed); {
	case n == len(typed) && n == len(name):
		return Exact
	case n == len(typed):
		return Prefix
	case len(typed) > maxTyped || len(typed) > len(name):
		return 0
	case !scattered(name, typed):
		return 0
	case words(name, typed):
		return Words
	case within(name, typed):
		return Within
	}
	return Scattered
}

// maxShown bounds the names in which positions are looked for, in bytes.
const maxShown = 512

// Positions returns the bytes of name that what was typed stands for, to show them; nil if the name does not fit, or is long.
func Positions(name, typed string) []int {
	rank := Match(name, typed)
	if rank == 0 || len(name) > maxShown {
		return nil
	}
	switch rank {
	case Words:
		return initials(name, typed, 0, map[[2]int]bool{})
	case Scattered:
		var at []int
		for i := 0; i < len(name) && len(at) < len(typed); i++ {
			if lower(name[i]) == lower(typed[len(at)]) {
				at = append(at, i)
			}
		}
		return at
	}
	from := 0
	for common(name[from:], typed) < len(typed) {
		from++
	}
	return run(nil, from, len(typed))
}

// run adds n numbers from first on.
func run(to []int, first, n int) []int {
	for i := range n {
		to = append(to, first+i)
	}
	return to
}

// initials returns the positions of beginnings of words, from a byte of the name on; nil if there are none. Failed holds what
// was tried: how far in the name, and how much was left to find.
func initials(name, typed string, from int, failed map[[2]int]bool) []int {
	if typed == "" {
		return []int{}
	}
	tried := [2]int{from, len(typed)}
	if failed[tried] {
		return nil
	}
	for i := from; i < len(name); i++ {
		if separates(name[i]) || i > 0 && !separates(name[i-1]) {
			continue
		}
		var before []int
		rest := typed
		if i > 0 && rest[0] == name[i-1] {
			before, rest = []int{i - 1}, rest[1:]
		}
		for k := common(name[i:], rest); k > 0 || k == 0 && rest == ""; k-- {
			if tail := initials(name, rest[k:], i+max(1, k), failed); tail != nil {
				return append(run(before, i, k), tail...)
			}
		}
	}
	failed[tried] = true
	return nil
}

// common returns the length of the longest beginning that both texts have.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && lower(a[n]) == lower(b[n]) {
		n++
	}
	return n
}

func scattered(name, typed string) bool {
	at := 0
	for i := 0; i < len(name) && at < len(typed); i++ {
		if lower(name[i]) == lower(typed[at]) {
			at++
		}
	}
	return at == len(typed)
}

func within(name, typed string) bool {
	for i := 0; i+len(typed) <= len(name); i++ {
		if common(name[i:], typed) == len(typed) {
			return true
		}
	}
	return false
}

// words reports whether typed consists of beginnings of words of name, in their order, perhaps with the separators
// between them. Bit n of reached says that the first n characters of typed were found so far, so that the time it takes
// is bounded for any name.
func words(name, typed string) bool {
	reached := uint64(1)
	for i := 0; i < len(name); i++ {
		if separates(name[i]) || i > 0 && !separates(name[i-1]) {
			continue
		}
		for left := reached; left != 0; left &= left - 1 {
			from := bits.TrailingZeros64(left)
			if from == len(typed) {
				return true
			}
			if i > 0 && typed[from] == name[i-1] {
				from++ // the separator was typed, too
			}
			if k := common(name[i:], typed[from:]); k > 0 {
				reached |= (1<<k - 1) << (from + 1)
			}
		}
	}
	return reached&(1<<len(typed)) != 0
}

// separates reports whether c is between the words of a name.
func separates(c byte) bool {
	return c == ':' || c == '-' || c == '_' || c == '.' || c == '/' || c == ' '
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
