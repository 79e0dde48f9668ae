package fileindex

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scores.
const (
	perCharacter  = 16
	afterPrevious = 4 // directly follows the previous character
	gapBegins     = -3
	perSkipped    = -1
	atBoundary    = 8 // begins a word
	atCaseChange  = 6
	firstFactor   = 2  // multiplies the bonus of the first query character
	shortPath     = 32 // bonus for a short path, less 1 per 4 characters
	lengthStep    = 4
	testShare     = 20 // a test file loses 1/testShare of its score
)

// A candidate is a path with its score.
type candidate struct {
	entry *entry
	score int
	start int // start of the best alignment
}

// compare orders better candidates first.
func compare(a, b candidate) int {
	return cmp.Or(
		cmp.Compare(b.score, a.score),
		cmp.Compare(len(a.entry.path), len(b.entry.path)),
		strings.Compare(a.entry.path, b.entry.path),
	)
}

// cancelEvery is the number of paths between two checks of the context.
const cancelEvery = 2048

// find returns the n best matches.
func (ns *names) find(ctx context.Context, query string, n int) ([]Match, error) {
	p := newPattern(query)
	if len(p.runes) == 0 {
		return ns.top(n), ctx.Err()
	}
	best := &ranking{n: n}
	s := &scorer{pattern: p, prune: true}
	for i := range ns.entries {
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.consider(&ns.entries[i], best)
	}
	matches := make([]Match, len(best.list))
	for i, c := range best.list {
		matches[i] = Match{Path: c.entry.path, Dir: c.entry.dir, Score: c.score, Positions: s.positions(c)}
	}
	return matches, nil
}

// top returns the entries of the working directory.
func (ns *names) top(n int) []Match {
	var all []Match
	for i := range ns.entries {
		if e := &ns.entries[i]; !strings.Contains(e.path, "/") {
			all = append(all, Match{Path: e.path, Dir: e.dir})
		}
	}
	slices.SortFunc(all, func(a, b Match) int { return strings.Compare(a.Path, b.Path) })
	return all[:max(0, min(n, len(all)))]
}

// A ranking keeps the n best candidates, in order.
type ranking struct {
	n    int
	list []candidate
}

// weakest returns the score that another candidate must reach.
func (r *ranking) weakest() (int, bool) {
	if len(r.list) < r.n || r.n <= 0 {
		return 0, false
	}
	return r.list[len(r.list)-1].score, true
}

func (r *ranking) add(c candidate) {
	if r.n <= 0 || len(r.list) == r.n && compare(c, r.list[r.n-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(r.list, c, compare)
	if len(r.list) == r.n {
		r.list = r.list[:r.n-1]
	}
	r.list = slices.Insert(r.list, at, c)
}

// A scorer scores paths for one query.
type scorer struct {
	pattern
	prune bool // skip paths that cannot be among the best
	path  []rune
	fold  []rune
}

// consider ranks a path if it matches the query.
func (s *scorer) consider(e *entry, best *ranking) {
	if s.mask&^e.mask != 0 {
		return
	}
	floor, full := best.weakest()
	full = full && s.prune
	first := firstFactor * atBoundary
	if s.bits[0]&e.starts == 0 {
		first = 0
	}
	limit := floor
	if !full {
		limit = math.MinInt
	}
	length := len(e.path)
	if !e.ascii {
		length = utf8.RuneCountInString(e.path)
	}
	if !s.reaches(e, perCharacter+first, 1, length, limit) {
		return
	}
	var c candidate
	var ok bool
	if s.ascii && e.ascii {
		c, ok = s.alignBytes(e, limit)
	} else {
		c, ok = s.alignRunes(e, limit)
	}
	if ok {
		best.add(c)
	}
}

// reaches reports whether the characters from the nth on can raise score to floor.
func (s *scorer) reaches(e *entry, score, n, length, floor int) bool {
	rest := s.mixed[n]
	if e.lower {
		rest = s.lower[n]
	}
	return s.total(e, score+rest, length) >= floor
}

// total adds the score components that depend on the whole path.
func (s *scorer) total(e *entry, score, length int) int {
	score += max(0, shortPath-length/lengthStep)
	if e.test && score > 0 {
		score -= score / testShare
	}
	return score
}

// before returns the score needed before total is applied for floor to be reached after it.
func (s *scorer) before(e *entry, floor, length int) int {
	if floor == math.MinInt {
		return floor
	}
	if e.test && floor > 0 {
		floor += floor / testShare // lower bound
	}
	return floor - max(0, shortPath-length/lengthStep)
}

// alignBytes returns the best alignment that scores at least floor, for an ASCII path.
func (s *scorer) alignBytes(e *entry, floor int) (candidate, bool) {
	text := e.path
	if s.folded {
		text = e.folded
	}
	found := candidate{entry: e, start: -1}
	for start := strings.IndexByte(text, s.text[0]); start >= 0; {
		score, end := s.greedyBytes(e, text, start, floor)
		if end == missing {
			break // all later starts are worse as well
		}
		if score = s.total(e, score, len(e.path)); end == aligned && (found.start < 0 || score > found.score) {
			found.score, found.start = score, start
			if s.prune {
				floor = max(floor, score+1) // among equal scores, the first alignment wins
			}
		}
		if s.bits[0]&e.starts == 0 {
			break
		}
		start = e.nextBoundary(text, s.text[0], start)
	}
	return found, found.start >= 0
}

// An ending is the outcome of an alignment attempt.
type ending uint8

const (
	aligned  ending = iota
	missing         // a character does not occur
	hopeless        // cannot be among the best
)

// nextBoundary returns the next position after from where c begins a word, or -1.
func (e *entry) nextBoundary(text string, c byte, from int) int {
	for words := e.words &^ (2<<from - 1); words != 0; words &= words - 1 {
		if at := bits.TrailingZeros64(words); text[at] == c {
			return at
		}
	}
	for i := max(from+1, wordBits); i < len(text); i++ {
		if text[i] == c && isSeparator(rune(text[i-1])) {
			return i
		}
	}
	return -1
}

// greedyBytes matches each further character at its first occurrence.
func (s *scorer) greedyBytes(e *entry, text string, start, floor int) (int, ending) {
	score, at := perCharacter+firstFactor*boundaryBonus(e.path, start), start
	rest := s.mixed
	if e.lower {
		rest = s.lower
	}
	floor = s.before(e, floor, len(e.path))
	for i := 1; i < len(s.text); i++ {
		if score+rest[i] < floor {
			return 0, hopeless
		}
		at++
		if at < len(text) && text[at] == s.text[i] {
			score += perCharacter + afterPrevious + boundaryBonus(e.path, at)
			continue
		}
		// Skipping characters costs points, and only some characters can regain them.
		apart := perCharacter + gapBegins + perSkipped
		if s.bits[i]&e.starts != 0 {
			apart += atBoundary
		}
		if score+apart+rest[i+1] < floor {
			return 0, hopeless
		}
		skip := strings.IndexByte(text[min(at, len(text)):], s.text[i])
		if skip < 0 {
			return 0, missing
		}
		at += skip
		score += perCharacter + stepBonus(skip) + boundaryBonus(e.path, at)
	}
	return score, aligned
}

// stepBonus returns the score for skipping that many characters.
func stepBonus(skip int) int {
	if skip == 0 {
		return afterPrevious
	}
	return gapBegins + skip*perSkipped
}

// boundaryBonus is [bonus] for an ASCII path.
func boundaryBonus(path string, at int) int {
	if at == 0 {
		return atBoundary
	}
	before, c := path[at-1], path[at]
	switch {
	case before-'a' < 26:
		if c-'A' < 26 {
			return atCaseChange
		}
		return 0
	case isSeparator(rune(before)):
		return atBoundary
	}
	return 0
}

// bonus returns the bonus for character r after before, which is 0 at the start of the path.
func bonus(before, r rune) int {
	switch {
	case before == 0 || isSeparator(before):
		return atBoundary
	case unicode.IsLower(before) && unicode.IsUpper(r):
		return atCaseChange
	}
	return 0
}

func isSeparator(r rune) bool {
	switch r {
	case '/', '\\', '-', '_', '.', ' ':
		return true
	}
	return false
}
