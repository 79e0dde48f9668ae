package pager

import (
	"fmt"
	"unicode/utf8"

	"adze/internal/ui/draw"
)

// maxLine is the maximum number of bytes shown of a line. Nobody reads further, and drawing it
// would take long.
const maxLine = 64 << 10

// clean returns a line as it is measured and shown, and the number of bytes omitted.
func clean(line draw.Row) (out draw.Row, left int) {
	room := maxLine
	for _, span := range line {
		span.Text = draw.Clean(cutTo(span.Text, room))
		room -= len(span.Text)
		out = append(out, span)
	}
	return out, max(0, len(line.String())-maxLine)
}

// fold breaks a line into rows of at most width cells, at any position, and notes how many
// bytes were omitted.
func fold(line draw.Row, left, width int) []draw.Row {
	rows := draw.Chop(line, width)
	if left > 0 {
		rows = append(rows, draw.Line(draw.Faint, fmt.Sprintf("(%d more bytes in this line)", left)).Cut(width, ""))
	}
	return rows
}

// cutTo returns at most n bytes of text, in whole characters.
func cutTo(text string, n int) string {
	if n = max(0, n); n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
