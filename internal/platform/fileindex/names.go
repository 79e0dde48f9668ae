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
	dir    bool
	ascii  bool
	test   bool // it is about tests
}

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
	for ; dir != "" && !b.dirs[dir] && !strings.HasSuffix(dir, ".."); dir = parent(dir) {
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
	e.mask = maskOf(e.folded)
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
		switch {
		case r >= 'a' && r <= 'z':
			mask |= 1 << (r - 'a')
		case r >= '0' && r <= '9':
			mask |= 1 << (26 + r - '0')
		default:
			mask |= 1 << (36 + uint32(r)%28)
		}
	}
	return mask
}

// maxQuery is how many characters of a query count.
const maxQuery = 256

// A pattern is a query as it is compared.
type pattern struct {
	text   string
	runes  []rune
	mask   uint64
	folded bool // case does not count
	ascii  bool
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
	return p
}
