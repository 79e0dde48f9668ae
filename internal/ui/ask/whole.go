package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/cells"
	"adze/internal/ui/draw"
)

// Whole returns all of a text that is to be approved, such as a command, two cells in. What a terminal would not show is
// spelled out. A long line continues further in, without a mark that could be part of it; among several lines, faint dots
// tell a continuation from the next line.
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

// broken breaks a line of a command into rows of w cells, between words where it can. All but the first begin with next.
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

// breakAt returns how many bytes of a line fit into w cells: to the end of a blank if there is one in its second half.
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

// Input returns all that a call is given, where nothing else shows it.
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
