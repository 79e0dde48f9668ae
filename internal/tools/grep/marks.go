package grep

import (
	"context"
	"slices"
	"strings"

	"adze/internal/platform/search"
	"adze/internal/platform/search/regex"
	"adze/internal/tool"
)

// maxMarks is the maximum number of marks in a line.
const maxMarks = 32

// mark adds file names and matching parts to a list of lines.
func mark(ctx context.Context, list *tool.List, o search.GrepOptions) {
	query, err := regex.Compile(o.Pattern, regex.Options{IgnoreCase: o.IgnoreCase})
	if err != nil {
		return // the pattern is valid only across lines
	}
	m := query.NewMatcher()
	list.Marks = make([][]tool.Mark, len(list.Items))
	for i, item := range list.Items {
		name, from := located(item, o.Numbers)
		if from == 0 {
			continue // a context line
		}
		if !slices.Contains(list.Files, name) {
			list.Files = append(list.Files, name)
		}
		list.Marks[i] = marks(ctx, m, item, from)
	}
}

// located returns the file name at the start of a content line, and the offset of its text
// after the line number, if any. The offset is 0 for a context line.
func located(line string, numbers bool) (name string, from int) {
	for i := 0; ; {
		colon := strings.IndexByte(line[i:], ':')
		if colon < 0 {
			return "", 0
		}
		i += colon + 1
		if !numbers {
			return line[:i-1], i
		}
		rest := strings.TrimLeft(line[i:], "0123456789")
		if len(rest) < len(line[i:]) && strings.HasPrefix(rest, ":") {
			return line[:i-1], len(line) - len(rest) + 1
		}
	}
}

// marks returns the matching parts of a line after an offset.
func marks(ctx context.Context, m *regex.Matcher, line string, from int) []tool.Mark {
	var found []tool.Mark
	text := []byte(line[from:])
	for at := 0; len(found) < maxMarks; {
		start, end, ok := m.Find(ctx, text, at)
		if !ok {
			break
		}
		if end > start {
			found = append(found, tool.Mark{From: from + start, To: from + end})
		}
		at = max(end, start+1)
		if at > len(text) {
			break
		}
	}
	return found
}
