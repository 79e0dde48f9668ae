package ignore

import (
	"bytes"
	"slices"
	"strings"

	"adze/internal/platform/search/glob"
)

// A File is a compiled ignore file. It is safe for concurrent use.
//
// Most patterns have a fixed name or extension. They are indexed by it, so that a path is
// compared with few patterns even for a long file.
type File struct {
	patterns []pattern
	byName   map[string][]int32 // patterns whose last element is this name, latest first
	byExt    map[string][]int32 // patterns whose last element is * and this extension, latest first
	others   []int32            // other patterns, latest first
	fold     bool
}

// A pattern is a line of an ignore file.
type pattern struct {
	glob     *glob.GitPattern
	include  bool // the line began with !
	dirOnly  bool
	anywhere bool // matches names at any depth, not paths relative to the file's directory
}

type entryKind uint8

const (
	entryFile entryKind = iota
	entryDir
)

type verdict uint8

const (
	undecided verdict = iota
	ignored
	included
)

// Parse compiles the text of an ignore file. It never fails: an invalid pattern matches
// nothing. It returns nil if the file contains no pattern.
func Parse(text []byte, o glob.Options) *File {
	f := &File{fold: o.Fold}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(text) {
		f.add(cleanLine(line))
	}
	if len(f.patterns) == 0 {
		return nil
	}
	for _, list := range f.byName {
		slices.Reverse(list)
	}
	for _, list := range f.byExt {
		slices.Reverse(list)
	}
	slices.Reverse(f.others)
	return f
}

// cleanLine returns the pattern in a line, or "".
func cleanLine(line []byte) string {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if i := bytes.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	if len(line) == 0 || line[0] == '#' {
		return ""
	}
	return string(trimSpaces(line))
}

// trimSpaces removes trailing spaces that are not escaped.
func trimSpaces(line []byte) []byte {
	end := 0 // end of the text to keep
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// add compiles one pattern.
func (f *File) add(text string) {
	p := pattern{}
	text, p.include = strings.CutPrefix(text, "!")
	text, p.dirOnly = strings.CutSuffix(text, "/")
	p.anywhere = !strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return
	}
	if rest, ok := strings.CutPrefix(text, "**/"); ok && !p.anywhere && !strings.Contains(rest, "/") {
		p.anywhere = true
		text = rest
	}
	p.glob = glob.Git(text, glob.Options{Fold: f.fold})
	f.index(text, int32(len(f.patterns)))
	f.patterns = append(f.patterns, p)
}

const special = `*?[\`

// index adds pattern i to the indexes.
func (f *File) index(text string, i int32) {
	slash := strings.LastIndexByte(text, '/')
	dir, last := text[:slash+1], text[slash+1:]
	if f.fold {
		last = lower(last)
	}
	ext, isExt := strings.CutPrefix(last, "*.")
	switch {
	case strings.Contains(dir, "["): // may close in the last element
		f.others = append(f.others, i)
	case !strings.ContainsAny(last, special):
		insert(&f.byName, last, i)
	case isExt && !strings.ContainsAny(ext, special+"."):
		insert(&f.byExt, ext, i)
	default:
		f.others = append(f.others, i)
	}
}

func insert(m *map[string][]int32, key string, i int32) {
	if *m == nil {
		*m = map[string][]int32{}
	}
	(*m)[key] = append((*m)[key], i)
}

// match applies the last matching pattern. The path is relative to the file's directory; name
// is its last element. A nil File decides nothing.
func (f *File) match(path, name string, kind entryKind) verdict {
	if f == nil {
		return undecided
	}
	key := name
	if f.fold {
		key = lower(name)
	}
	best := int32(-1)
	if f.byName != nil {
		best = f.latest(f.byName[key], best, path, name, kind)
	}
	if f.byExt != nil {
		if dot := strings.LastIndexByte(key, '.'); dot >= 0 {
			best = f.latest(f.byExt[key[dot+1:]], best, path, name, kind)
		}
	}
	best = f.latest(f.others, best, path, name, kind)
	switch {
	case best < 0:
		return undecided
	case f.patterns[best].include:
		return included
	}
	return ignored
}

// latest returns the first index in list, which is descending, that matches and is greater than
// best, or else best.
func (f *File) latest(list []int32, best int32, path, name string, kind entryKind) int32 {
	for _, i := range list {
		if i <= best {
			break
		}
		p := &f.patterns[i]
		if p.dirOnly && kind != entryDir {
			continue
		}
		if p.anywhere && p.glob.Match(name) || !p.anywhere && p.glob.Match(path) {
			return i
		}
	}
	return best
}

// lower lowercases ASCII letters, like git.
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if c := b[i]; 'A' <= c && c <= 'Z' {
					b[i] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
