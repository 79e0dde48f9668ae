package glob

import "strings"

// A Filter is a list of patterns that selects files: the last matching pattern decides, a
// pattern that begins with ! excludes, and an excluded directory excludes everything below it.
// If no pattern includes, everything that is not excluded is selected.
type Filter struct {
	rules   []rule
	chooses bool
}

type rule struct {
	*Pattern
	not     bool
	dirOnly bool
}

// ParseFilter parses patterns separated by commas or blanks, except inside braces and brackets.
// An empty list selects everything.
func ParseFilter(list string, o Options) (*Filter, error) {
	f := &Filter{}
	chars := decode(list)
	for _, span := range fields(chars) {
		r := rule{}
		text := chars[span.from:span.to]
		if r.not = text[0] == '!'; r.not {
			text = text[1:]
		}
		written := encodeAll(text)
		if r.not && strings.HasSuffix(written, "/") {
			r.dirOnly = true
			written = strings.TrimSuffix(written, "/")
		}
		p, err := Compile(written, o)
		if err != nil {
			e := err.(*SyntaxError)
			return nil, &SyntaxError{list, span.to - len(text) + e.Pos, e.Msg}
		}
		r.Pattern = p
		f.rules = append(f.rules, r)
		f.chooses = f.chooses || !r.not
	}
	return f, nil
}

type span struct{ from, to int }

// fields splits a list at its separators.
func fields(chars []rune) []span {
	var spans []span
	from, depth := 0, 0
	for i := 0; i <= len(chars); {
		if i == len(chars) || depth == 0 && strings.ContainsRune(", \t\r\n", chars[i]) {
			if i > from {
				spans = append(spans, span{from, i})
			}
			i++
			from = i
			continue
		}
		switch chars[i] {
		case '{':
			depth++
		case '}':
			depth = max(depth-1, 0)
		}
		next, err := skip(chars, i)
		if err != nil {
			next = i + 1 // reported when the pattern is compiled
		}
		i = next
	}
	return spans
}

func encodeAll(chars []rune) string {
	var b strings.Builder
	for _, c := range chars {
		b.WriteString(encode(c))
	}
	return b.String()
}

// Match reports whether the file at path, which is relative and slash-separated, is selected.
func (f *Filter) Match(path string) bool {
	for i := range len(path) {
		if path[i] == '/' && f.decide(path[:i], directory) == leftOut {
			return false
		}
	}
	switch f.decide(path, file) {
	case leftOut:
		return false
	case chosen:
		return true
	}
	return !f.chooses
}

// Prune reports whether nothing below dir can be selected. dir itself must not be inside a
// pruned directory.
func (f *Filter) Prune(dir string) bool {
	if f.decide(dir, directory) == leftOut {
		return true
	}
	if !f.chooses {
		return false
	}
	for _, r := range f.rules {
		if !r.not && r.MayContain(dir) {
			return false
		}
	}
	return true
}

type entry uint8

const (
	file entry = iota
	directory
)

type verdict uint8

const (
	undecided verdict = iota
	chosen
	leftOut
)

// decide applies the rules to one path, but not to its parent directories.
func (f *Filter) decide(path string, kind entry) verdict {
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := &f.rules[i]
		if r.dirOnly && kind != directory || !r.Match(path) {
			continue
		}
		if r.not {
			return leftOut
		}
		return chosen
	}
	return undecided
}
