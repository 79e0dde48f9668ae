package fileindex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names are what an index answers from. They do not change.
type names struct{ entries []entry }

// An entry is a file or a directory.
type entry struct {
	path   string
	folded string // the path in lower case; the same string if it is
	mask   uint64 // of the characters in it
	starts uint64 // of those with a bonus
	words  uint64 // where words begin, of the first bytes
	dir    bool
	ascii  bool
	lower  bool // it is ASCII without upper-case letters
	test   bool // it is about tests
}

const wordBits = 64

// A builder makes entries. Those handed out before stay as they are.
type builder struct {
	entries []entry
	dirs    map[string]bool // that have an entry
	lastDir string
}

func newBuilder() *builder { return &builder{dirs: map[string]bool{}} }

// add adds a file, and the directories it is in.
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

// maskOf returns a set of the characters of a text in lower case: a bit for each letter and digit, and
// some for all others.
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

// maxQuery is how many characters of a query count.
const maxQuery = 256

// A pattern is a query as it is compared.
type pattern struct {
	text   string
	runes  []rune
	mask   uint64
	bits   []uint64 // the mask of each character
	folded bool     // case does not count
	ascii  bool
	// What the characters from each one on can score at most, in a path with upper-case letters and in
	// one without.
	mixed, lower []int
}

// newPattern prepares a query. It distinguishes case if it has an upper-case letter.
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
	if p.folded { // some characters are neither upper nor lower case, but become another one
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

// setBounds finds what the characters after the first can score at most.
func (p *pattern) setBounds() {
	p.mixed, p.lower = make([]int, len(p.runes)+1), make([]int, len(p.runes)+1)
	for i := len(p.runes) - 1; i > 0; i-- {
		// A word begins directly after the character before only if that is a separator.
		mixed, lower := afterPrevious+atCaseChange, afterPrevious
		if isSeparator(p.runes[i-1]) {
			mixed, lower = afterPrevious+atBoundary, afterPrevious+atBoundary
		}
		const apart = gapBegins + perSkipped + atBoundary
		p.mixed[i] = p.mixed[i+1] + perCharacter + max(mixed, apart)
		p.lower[i] = p.lower[i+1] + perCharacter + max(lower, apart)
	}
}
