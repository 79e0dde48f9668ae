// Package rank compares names with typed text: for completions, and for suggestions in error
// messages. Case is ignored.
package rank

import "math/bits"

// A Rank rates a match; higher is better. Zero means no match.
type Rank uint8

// Ranks, in ascending order.
const (
	Scattered Rank = iota + 1 // the name contains the letters, in order
	Within                    // the name contains the typed text
	Words                     // the typed text consists of word prefixes, such as td or te:de for team:deploy
	Prefix                    // the name begins with the typed text
	Exact
)

// maxTyped limits the length of typed text for full matching. Longer text only matches as a
// prefix.
const maxTyped = 63

// Match ranks name against typed. Every name matches an empty text.
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

// maxShown limits the length of names for which Positions is computed, in bytes.
const maxShown = 512

// Positions returns the byte offsets in name that match typed, for highlighting. It returns nil
// if the name does not match or is too long.
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

// run appends n consecutive numbers starting at first.
func run(to []int, first, n int) []int {
	for i := range n {
		to = append(to, first+i)
	}
	return to
}

// initials returns the positions of matching word prefixes in name, starting at byte from, or
// nil. failed records attempts that failed, by position in name and remaining length of typed.
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

// common returns the length of the longest common prefix.
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

// words reports whether typed consists of prefixes of words in name, in order, optionally with
// the separators between them. Bit n of reached is set if the first n characters of typed have
// been matched, which bounds the running time for any name.
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
				from++ // the separator was typed as well
			}
			if k := common(name[i:], typed[from:]); k > 0 {
				reached |= (1<<k - 1) << (from + 1)
			}
		}
	}
	return reached&(1<<len(typed)) != 0
}

// separates reports whether c separates words in a name.
func separates(c byte) bool {
	return c == ':' || c == '-' || c == '_' || c == '.' || c == '/' || c == ' '
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
