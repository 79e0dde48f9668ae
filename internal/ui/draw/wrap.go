package draw

import (
	"strings"
	"unicode/utf8"

	"adze/internal/platform/term"
	"adze/internal/platform/term/cells"
)

// tabStop is the distance between tab stops.
const tabStop = 8

// Wrap breaks a row between words. Rows after the first begin with hang. A word wider than a
// row stays whole, so that it can be copied; text can break between any two ideographs. A width
// of 0 breaks nothing.
func Wrap(r Row, width int, hang Row) []Row {
	if width <= 0 {
		return []Row{r}
	}
	lines := Breaks(r.String(), width, hang.Width())
	if len(lines) == 1 {
		return []Row{r.Slice(0, lines[0].To)}
	}
	out := make([]Row, len(lines))
	for i, l := range lines {
		out[i] = r.Slice(l.From, l.To)
		if i > 0 && len(hang) > 0 {
			out[i] = append(append(make(Row, 0, len(hang)+len(out[i])), hang...), out[i]...)
		}
	}
	return out
}

// Chop breaks a row into rows of at most width cells, at any position, without dropping text.
func Chop(r Row, width int) []Row {
	rows, used := []Row{nil}, 0
	for _, span := range r {
		for text := span.Text; text != ""; {
			n, w := fits(text, width-used)
			if n == 0 && used == 0 { // the character is wider than the screen
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
	for i := range rows {
		rows[i] = append(rows[i], r.ground()...)
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

// Fill wraps each line of a text.
func Fill(role Role, text string, width int) []Row {
	var rows []Row
	for line := range strings.SplitSeq(term.Sanitize(text), "\n") {
		rows = append(rows, Wrap(Line(role, line), width, nil)...)
	}
	return rows
}

// Fold breaks each line of text between words.
func Fold(text string, width int) string { return Palette{}.Text(Fill(Text, text, width)) }

// A Range is a part of a text.
type Range struct{ From, To int }

// Breaks returns the lines of a text broken between words. All lines but the first begin in
// column indent.
func Breaks(text string, width, indent int) []Range { return AppendBreaks(nil, text, width, indent) }

// AppendBreaks appends the result of [Breaks] to lines.
func AppendBreaks(lines []Range, text string, width, indent int) []Range {
	line, column, begun := Range{}, 0, false
	for i := 0; ; {
		for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
			i++
		}
		n, w := word(text[i:])
		if n == 0 {
			return append(lines, line)
		}
		at := advance(column, text[line.To:i])
		if begun && at+w > width {
			lines = append(lines, line)
			line, at = Range{i, i}, indent
		}
		begun = true
		line.To, column = i+n, at+w
		i += n
	}
}

// word returns the length and width of the word that text begins with: up to a blank, or one
// wide character with its combining characters.
func word(text string) (n, w int) {
	for n < len(text) && text[n] < utf8.RuneSelf && text[n] != ' ' && text[n] != '\t' {
		n++
	}
	if w = n; n == len(text) || text[n] < utf8.RuneSelf {
		return n, w
	}
	joined := false
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		c := cells.Of(r)
		if r == ' ' || r == '\t' || c == 2 && n > 0 && !joined {
			return n, w
		}
		n, w = n+size, w+c
		if joined = r == joiner; c != 2 {
			continue
		}
		for n < len(text) { // zero-width characters belong to the preceding one
			r, size = utf8.DecodeRuneInString(text[n:])
			if cells.Of(r) > 0 {
				break
			}
			n, joined = n+size, r == joiner
		}
		if !joined {
			return n, w
		}
	}
	return n, w
}

const joiner = 0x200d

// advance returns the column after text that begins in column.
func advance(column int, text string) int {
	for _, r := range text {
		if r == '\t' {
			column += tabStop - column%tabStop
		} else {
			column += cells.Of(r)
		}
	}
	return column
}
