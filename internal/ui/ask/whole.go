package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/permission"
	"adze/internal/platform/term/cells"
	"adze/internal/tool"
	"adze/internal/ui/draw"
)

// Whole returns the entire text to be approved, such as a command, indented by two cells.
// Characters a terminal would not show are escaped. Continuation lines are indented further,
// without a mark that could be mistaken for content; if there are several lines, faint dots
// distinguish a continuation from the next line.
func Whole(text string, w int) []draw.Row {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	next := draw.Blanks(4)
	if len(lines) > 1 {
		next = draw.Row{{Text: "  "}, {Role: draw.Faint, Text: "... "}}
	}
	var rows []draw.Row
	for _, line := range lines {
		rows = append(rows, broken(draw.Spell(line), w, next)...)
	}
	return rows
}

// broken breaks a command line into rows of w cells, between words if possible. All rows but
// the first begin with next.
func broken(line string, w int, next draw.Row) []draw.Row {
	w = max(w, 12)
	indent := draw.Blanks(2)
	var rows []draw.Row
	for {
		room := w - cells.Width(indent.String())
		n := len(line)
		if cells.Width(line) > room {
			n = breakAt(line, room)
		}
		rows = append(rows, append(slices.Clone(indent), draw.Span{Text: line[:n]}))
		if line = line[n:]; line == "" {
			return rows
		}
		indent = next
	}
}

// breakAt returns how many bytes of a line fit into w cells. It breaks after a blank if there
// is one in the second half.
func breakAt(line string, w int) int {
	width, fits, blank := 0, 0, 0
	for i, r := range line {
		if width += cells.Of(r); width > w && i > 0 {
			break
		}
		fits = i + utf8.RuneLen(r)
		if r == ' ' && width > w/2 {
			blank = fits
		}
	}
	if blank > 0 {
		return blank
	}
	return fits
}

// Change returns the rows of a proposed change. The title and the question describe a change of
// a single file.
func Change(q *permission.Question, o draw.Options) []draw.Row {
	o.Proposed = true
	rows := draw.Rows(q.Preview, o)
	if _, ok := q.Preview.(tool.Diff); ok && q.Command == "" && len(rows) > 1 {
		return rows[1:]
	}
	return rows
}

// Input returns a call's complete input, for calls without another display.
func Input(input json.RawMessage, w int) []draw.Row {
	if len(input) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return Whole(string(input), w)
	}
	var rows []draw.Row
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return Whole(string(input), w)
		}
		text := string(value)
		var words string
		if json.Unmarshal(value, &words) == nil {
			text = words
		}
		rows = append(rows, Whole(strings.ReplaceAll(fmt.Sprint(name)+": "+text, "\n", "\n    "), w)...)
	}
	return rows
}
