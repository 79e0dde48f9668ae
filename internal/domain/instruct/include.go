package instruct

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// include reads the files that f references with @path, recursively. Included files follow the
// including one, whose text is unchanged.
func (sc *scanner) include(f File, depth int) {
	for _, name := range references(f.Text) {
		path := sc.resolve(name, filepath.Dir(f.Path))
		info, err := os.Stat(path)
		if err != nil {
			if strings.ContainsAny(name, "./~") {
				sc.report(f.Path, "includes %s, which cannot be read: %v", name, reason(err))
			}
			continue
		}
		if info.IsDir() || sc.known(info) || sc.s.excluded(path) {
			continue
		}
		if depth == 0 {
			sc.report(f.Path, "includes %s, which is more than %d files away from the first", name, maxDepth)
			continue
		}
		real, ok := sc.permitted(f.Kind, path)
		if !ok {
			sc.report(f.Path, "includes %s, which is outside the project and was not approved", name)
			sc.problems[len(sc.problems)-1].Outside = real
			continue
		}
		text, ok := sc.load(path, real, info)
		if !ok {
			continue
		}
		sc.seen = append(sc.seen, info)
		if text == "" {
			continue
		}
		child := File{Path: path, Kind: f.Kind, Text: text, Parent: f.Path, Reason: Including}
		sc.files = append(sc.files, child)
		sc.include(child, depth-1)
	}
}

// resolve returns the path for a name in a file in dir.
func (sc *scanner) resolve(name, dir string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && sc.s.c.Home != "" {
		return filepath.Join(sc.s.c.Home, rest)
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// permitted reports whether a file of that kind may include path, and returns the path with
// symlinks resolved. The user and the administrator may include anything; the project needs
// consent for files outside it.
func (sc *scanner) permitted(kind Kind, path string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	if kind < Project {
		return real, true
	}
	inside := slices.ContainsFunc(append([]string{sc.s.c.Root}, sc.s.c.Extra...), func(d string) bool { return within(d, real) })
	return real, inside || sc.s.c.Approve != nil && sc.s.c.Approve(real)
}

// references returns the paths that a text references with @, outside code.
func references(text string) []string {
	var names []string
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if mark := fenceOf(trimmed); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.Trim(trimmed, mark[:1]) == "":
				fence = ""
			}
			continue
		}
		if fence == "" {
			names = append(names, inLine(line)...)
		}
	}
	return names
}

// fenceOf returns the code fence that a line begins with, or "".
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if rest := strings.TrimLeft(line, mark); len(line)-len(rest) >= 3 {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// inLine returns the names in a line, outside back quotes.
func inLine(line string) []string {
	var names []string
	for i, part := range strings.Split(line, "`") {
		if i%2 == 1 {
			continue
		}
		for word := range strings.FieldsFuncSeq(part, unicode.IsSpace) {
			name, ok := strings.CutPrefix(strings.TrimLeft(word, "(\"'"), "@")
			name = strings.TrimRight(name, ".,;:!?)\"'")
			if ok && name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// relative returns path relative to dir, with slashes; false if it is not below dir.
func relative(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
