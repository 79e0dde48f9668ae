package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/cells"
	"adze/internal/ui/draw"
)

// Whole returns all of a text that is to be approved, such as a command, two cells in. What a terminal would not show is
// spelled out, and a line that is broken ends with a mark.
func Whole(text string, w int) []draw.Row {
	var rows []draw.Row
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		rows = append(rows, broken(draw.Spell(line), w)...)
	}
	return rows
}

// broken breaks a line of a command into rows of w cells, between words where it can.
func broken(line string, w int) []draw.Row {
	w = max(w, 12)
	indent := "  "
	var rows []draw.Row
	for {
		if cells.Width(line)+len(indent) <= w {
			return append(rows, draw.Line(draw.Text, indent+line))
		}
		n := breakAt(line, w-len(indent)-1)
		rows = append(rows, draw.Row{{Text: indent + line[:n]}, {Role: draw.Faint, Text: `\`}})
		line, indent = line[n:], "    "
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
