package fileindex

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// alignRunes is alignBytes for paths and queries that are not ASCII.
func (s *scorer) alignRunes(e *entry, floor int) (candidate, bool) {
	s.decode(e)
	found := candidate{entry: e, start: -1}
	for start := slices.Index(s.fold, s.runes[0]); start >= 0; {
		score, end := s.greedyRunes(e, start, floor, nil)
		if end == missing {
			break
		}
		if score = s.total(e, score, len(s.path)); end == aligned && (found.start < 0 || score > found.score) {
			found.score, found.start = score, start
			if s.prune {
				floor = max(floor, score+1)
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

// decode stores a path's characters, both original and case-folded.
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

// greedyRunes matches each further character at its first occurrence. It calls visit, if
// non-nil, with each position.
func (s *scorer) greedyRunes(e *entry, start, floor int, visit func(at int)) (int, ending) {
	score, at := perCharacter+firstFactor*s.boundaryBonus(start), start
	for i := 1; ; i++ {
		if visit != nil {
			visit(at)
		}
		switch {
		case i == len(s.runes):
			return score, aligned
		case !s.reaches(e, score, i, len(s.path), floor):
			return 0, hopeless
		}
		skip := slices.Index(s.fold[at+1:], s.runes[i])
		if skip < 0 {
			return 0, missing
		}
		at += 1 + skip
		score += perCharacter + stepBonus(skip) + s.boundaryBonus(at)
	}
}

// positions returns the byte offsets of the query's characters in the path.
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
		for i := range c.entry.path { // invalid bytes count as one character each
			offsets = append(offsets, i)
		}
	}
	var places []int
	s.greedyRunes(c.entry, c.start, math.MinInt, func(at int) { places = append(places, offsets[at]) })
	return places
}
