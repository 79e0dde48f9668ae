package fileindex

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// alignRunes is alignBytes for everything that is not ASCII.
func (s *scorer) alignRunes(e *entry, floor int, full bool) (candidate, bool) {
	s.decode(e)
	found := candidate{entry: e, start: -1}
	for start := slices.Index(s.fold, s.runes[0]); start >= 0; {
		first := firstFactor * s.boundaryBonus(start)
		if !full || s.bound(e, len(s.path), first) >= floor {
			score, ok := s.greedyRunes(start, first, nil)
			if !ok {
				break
			}
			if score = s.total(e, score, len(s.path)); found.start < 0 || score > found.score {
				found.score, found.start = score, start
			}
		}
		next := start + 1
		for next < len(s.fold) && (s.fold[next] != s.runes[0] || !isSeparator(s.path[next-1])) {
			next++
		}
		if next >= len(s.fold) {
			break
		}
		start = next
	}
	return found, found.start >= 0
}

// decode makes a path available as characters, and as those that are compared.
func (s *scorer) decode(e *entry) {
	s.path, s.fold = s.path[:0], s.fold[:0]
	for _, r := range e.path {
		s.path = append(s.path, r)
		if s.folded {
			r = unicode.ToLower(r)
		}
		s.fold = append(s.fold, r)
	}
}

func (s *scorer) boundaryBonus(at int) int {
	if at == 0 {
		return bonus(0, s.path[0])
	}
	return bonus(s.path[at-1], s.path[at])
}

// greedyRunes takes each further character where it occurs first. It tells the places to visit, if that
// is not nil.
func (s *scorer) greedyRunes(start, first int, visit func(at int)) (int, bool) {
	score, at := perCharacter+first, start
	if visit != nil {
		visit(at)
	}
	for _, r := range s.runes[1:] {
		skip := slices.Index(s.fold[at+1:], r)
		if skip < 0 {
			return 0, false
		}
		at += 1 + skip
		if visit != nil {
			visit(at)
		}
		score += perCharacter + stepBonus(skip) + s.boundaryBonus(at)
	}
	return score, true
}

// positions returns where in the path the characters of the query are.
func (s *scorer) positions(c candidate) []int {
	s.decode(c.entry)
	offsets := make([]int, 0, len(s.path))
	at := 0
	for _, r := range s.path {
		offsets = append(offsets, at)
		at += max(1, utf8.RuneLen(r))
	}
	if strings.ContainsRune(c.entry.path, utf8.RuneError) {
		offsets = offsets[:0]
		for i := range c.entry.path { // bytes that are no character count as one each
			offsets = append(offsets, i)
		}
	}
	var places []int
	s.greedyRunes(c.start, 0, func(at int) { places = append(places, offsets[at]) })
	return places
}
