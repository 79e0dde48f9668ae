package draw

import (
	"slices"
	"strconv"
	"strings"
)

// Styled converts a line with escape sequences, printed by a user's program, to a row. Only
// style sequences are honored, except styles that hide text or blink.
func Styled(line string) Row {
	var row Row
	var style []string
	for line != "" {
		from, to := nextStyle(line)
		if text := Clean(line[:from]); text != "" {
			row = append(row, Span{Text: text, Style: strings.Join(style, ";")})
		}
		if to > from {
			style = restyle(style, line[from+2:to-1])
		}
		line = line[to:]
	}
	return row
}

// nextStyle returns the start and end of the next style sequence in line. Without a sequence,
// both are len(line).
func nextStyle(line string) (from, to int) {
	for from < len(line) {
		i := strings.Index(line[from:], "\x1b[")
		if i < 0 {
			break
		}
		from += i
		rest := strings.TrimLeft(line[from+2:], "0123456789;")
		if strings.HasPrefix(rest, "m") {
			return from, len(line) - len(rest) + 1
		}
		from += 2
	}
	return len(line), len(line)
}

// restyle returns style updated by a sequence with the given parameters.
func restyle(style []string, parameters string) []string {
	list := strings.Split(parameters, ";")
	for len(list) > 0 {
		n, _ := strconv.Atoi(list[0]) // ok: an empty parameter means 0
		size := 1
		switch {
		case n == 38 || n == 48:
			size = colourSize(list)
		case n == 0:
			style = nil
		}
		if size > len(list) {
			return style
		}
		if bears(n) && len(style) < maxStyles {
			style = append(slices.Clone(style), strings.Join(list[:size], ";"))
		}
		list = list[size:]
	}
	return style
}

// maxStyles is the maximum number of parameters kept in a style.
const maxStyles = 8

// colourSize returns the number of parameters of the color that begins list: 38;5;N or
// 38;2;R;G;B.
func colourSize(list []string) int {
	if len(list) > 1 && list[1] == "2" {
		return 5
	}
	return 3
}

// bears reports whether a style parameter is honored: weights, lines and colors.
func bears(n int) bool {
	return n >= 1 && n <= 4 || n == 7 || n == 9 || n >= 22 && n <= 24 || n == 27 || n == 29 || n >= 30 && n <= 49 || n >= 90 && n <= 107
}
