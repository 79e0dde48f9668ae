package draw

import (
	"slices"
	"strconv"
	"strings"
)

// Styled returns a line that a program of the user has coloured for a terminal, as a row. Of its escape sequences only
// styles count, and of these not those that hide text or blink.
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

// nextStyle returns where the next sequence that sets a style begins and ends in a line; both are its length if there is
// none.
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

// restyle returns a style after a sequence with these parameters.
func restyle(style []string, parameters string) []string {
	list := strings.Split(parameters, ";")
	for len(list) > 0 {
		n, _ := strconv.Atoi(list[0]) // ok: none means 0
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

// maxStyles is how many parameters of a style are kept.
const maxStyles = 8

// colourSize returns how many parameters a colour takes that begins a list: 38;5;N or 38;2;R;G;B.
func colourSize(list []string) int {
	if len(list) > 1 && list[1] == "2" {
		return 5
	}
	return 3
}

// bears reports whether a parameter of a style is taken over: weights, lines and colours.
func bears(n int) bool {
	return n >= 1 && n <= 4 || n == 7 || n == 9 || n >= 22 && n <= 24 || n == 27 || n == 29 || n >= 30 && n <= 49 || n >= 90 && n <= 107
}
