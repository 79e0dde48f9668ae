package fileindex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// names is the immutable data that queries run on.
type names struct{ entries []entry }

// An entry is a file or a directory.
type entry struct {
	path   string
	folded string // lower-case path; shares memory if equal
	mask   uint64 // set of its characters
	starts uint64 // set of its characters that have a bonus
	words  uint64 // word starts within the first bytes
	dir    bool
	ascii  bool
	lower  bool // ASCII without upper-case letters
	test   bool // test file
}

const wordBits = 64

// A builder creates entries. It does not modify entries it has already returned.
type builder struct {
	entries []entry
	dirs    map[string]bool // directories that have an entry
	lastDir string
}

func newBuilder() *builder { return &builder{dirs: map[string]bool{}} }

// add adds a file and its parent directories.
func (b *builder) add(path string) {
	if dir := parent(path); dir != b.lastDir {
		b.addDirs(dir)
		b.lastDir = dir
	}
	b.entries = append(b.entries, newEntry(path, false))
}

func (b *builder) addDirs(dir string) {
	for ; dir != "" && !b.dirs[dir] && dir != ".." && !strings.HasSuffix(dir, "/.."); dir = parent(dir) {
		b.dirs[dir] = true
		b.entries = append(b.entries, newEntry(dir, true))
	}
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

func newEntry(path string, dir bool) entry {
	e := entry{path: path, folded: strings.ToLower(path), dir: dir, ascii: isASCII(path)}
	if e.folded == path {
		e.folded = path
	}
	e.lower = e.ascii && e.folded == path
	before := rune(0)
	for i, r := range path {
		if i < wordBits && (i == 0 || isSeparator(before)) {
			e.words |= 1 << i
		}
		bit := maskOfRune(unicode.ToLower(r))
		e.mask |= bit
		if bonus(before, r) > 0 {
			e.starts |= bit
		}
		before = r
	}
	e.test = strings.Contains(e.folded, "test")
	return e
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// maskOf returns the set of characters in a lower-case text: a bit for each letter and digit,
// and shared bits for all others.
func maskOf(folded string) uint64 {
	mask := uint64(0)
	for _, r := range folded {
		mask |= maskOfRune(r)
	}
	return mask
}

func maskOfRune(r rune) uint64 {
	switch {
	case r >= 'a' && r <= 'z':
		return 1 << (r - 'a')
	case r >= '0' && r <= '9':
		return 1 << (26 + r - '0')
	}
	return 1 << (36 + uint32(r)%28)
}

// maxQuery is the number of query characters that are used.
const maxQuery = 256

// A pattern is a preprocessed query.
type pattern struct {
	text   string
	runes  []rune
	mask   uint64
	bits   []uint64 // mask of each character
	folded bool     // case-insensitive
	ascii  bool
	// Maximum score of the characters from each index on, in a path with upper-case letters and
	// in a path without.
	mixed, lower []int
}

// newPattern prepares a query. It is case-sensitive if it has an upper-case letter.
func newPattern(query string) pattern {
	var p pattern
	upper := false
	for _, r := range query {
		if unicode.IsControl(r) || r == utf8.RuneError {
			continue
		}
		if len(p.runes) == maxQuery {
			break
		}
		upper = upper || unicode.IsUpper(r)
		p.runes = append(p.runes, r)
	}
	p.folded = !upper
	p.text = string(p.runes)
	if p.folded { // some characters change case although they are neither upper nor lower
		p.text = strings.ToLower(p.text)
		p.runes = []rune(p.text)
	}
	p.ascii = isASCII(p.text)
	p.mask = maskOf(strings.ToLower(p.text))
	if len(p.runes) > 0 {
		for _, r := range p.runes {
			p.bits = append(p.bits, maskOfRune(unicode.ToLower(r)))
		}
		p.setBounds()
	}
	return p
}

// setBounds computes the maximum score of the characters after the first.
func (p *pattern) setBounds() {
	p.mixed, p.lower = make([]int, len(p.runes)+1), make([]int, len(p.runes)+1)
	for i := len(p.runes) - 1; i > 0; i-- {
		// A word starts directly after the previous character only if that is a separator.
		mixed, lower := afterPrevious+atCaseChange, afterPrevious
		if isSeparator(p.runes[i-1]) {
			mixed, lower = afterPrevious+atBoundary, afterPrevious+atBoundary
		}
		const apart = gapBegins + perSkipped + atBoundary
		p.mixed[i] = p.mixed[i+1] + perCharacter + max(mixed, apart)
		p.lower[i] = p.lower[i+1] + perCharacter + max(lower, apart)
	}
}
