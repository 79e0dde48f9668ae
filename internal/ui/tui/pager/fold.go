package pager

import (
	"fmt"
	"unicode/utf8"

	"adze/internal/platform/cells"
	"adze/internal/ui/draw"
)

// maxLine is how many bytes of a line are shown. No one reads on; drawing it would take long.
const maxLine = 64 << 10

// clean returns a line as it is measured and shown, and how many bytes of it are left out.
func clean(line draw.Row) (out draw.Row, left int) {
	room := maxLine
	for _, span := range line {
		span.Text = draw.Clean(cutTo(span.Text, room))
		room -= len(span.Text)
		out = append(out, span)
	}
	return out, max(0, len(line.String())-maxLine)
}

// fold breaks a line into rows of at most width cells, wherever that is: nothing of a line is left out but what is beyond
// all reading.
func fold(line draw.Row, left, width int) []draw.Row {
	rows, used := []draw.Row{nil}, 0
	for _, span := range line {
		for text := span.Text; text != ""; {
			n, w := fits(text, width-used)
			if n == 0 && used == 0 { // a character that is wider than the screen
				_, n = utf8.DecodeRuneInString(text)
			}
			if n > 0 {
				span.Text = text[:n]
				last := len(rows) - 1
				rows[last] = append(rows[last], span)
				used, text = used+w, text[n:]
			}
			if text != "" {
				rows, used = append(rows, nil), 0
			}
		}
	}
	if left > 0 {
		rows = append(rows, draw.Line(draw.Faint, fmt.Sprintf("(%d more bytes in this line)", left)).Cut(width, ""))
	}
	return rows
}

// fits returns how many bytes and cells of text fit.
func fits(text string, width int) (n, w int) {
	for i, r := range text {
		c := cells.Of(r)
		if w+c > width {
			return i, w
		}
		w += c
	}
	return len(text), w
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
