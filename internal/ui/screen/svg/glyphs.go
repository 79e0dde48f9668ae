package svg

import (
	"fmt"
	"math/bits"
	"strings"
)

// The size of a cell and of the text in it, in pixels. A row is drawn relative to its baseline.
const (
	cellWidth  = 8.4 // usual width of a character at this size
	cellHeight = 20
	fontSize   = 14
	ascent     = 15 // from the top of a row to the baseline
	middle     = cellHeight/2 - ascent
)

// drawing returns the path of a character that has to join its neighbors or that fonts often
// lack, at x, and whether the path is stroked rather than filled. It returns "" for other
// characters. n is the number of consecutive cells that hold the character.
func drawing(r rune, x float64, n int) (path string, stroked bool) {
	width := cellWidth * float64(n)
	switch {
	case r >= 0x2500 && r <= 0x257f:
		return line(r, x, n), true
	case r >= 0x2580 && r <= 0x2595:
		return block(r, x, width), false
	case r == '▰' || r == '▱':
		var b strings.Builder
		for i := range n {
			at := x + float64(i)*cellWidth
			fmt.Fprintf(&b, "M%s %dh5l1.5-6h-5z", number(at+1), middle+3)
		}
		return b.String(), r == '▱'
	case r >= 0x2800 && r <= 0x28ff:
		return braille(r, x, n), false
	}
	return "", false
}

// arms returns the directions in which a line character reaches its edge: up, right, down, left.
// Round corners are the same.
func arms(r rune) (up, right, down, left bool) {
	switch r {
	case '─', '━', '╌', '╍', '┄', '┅', '┈', '┉':
		return false, true, false, true
	case '│', '┃', '╎', '╏', '┆', '┇', '┊', '┋':
		return true, false, true, false
	case '┌', '┏', '╭':
		return false, true, true, false
	case '┐', '┓', '╮':
		return false, false, true, true
	case '└', '┗', '╰':
		return true, true, false, false
	case '┘', '┛', '╯':
		return true, false, false, true
	case '├', '┣', '┝', '┠':
		return true, true, true, false
	case '┤', '┫', '┥', '┨':
		return true, false, true, true
	case '┬', '┳', '┯', '┰':
		return false, true, true, true
	case '┴', '┻', '┷', '┸':
		return true, true, false, true
	case '┼', '╋', '┿', '╂':
		return true, true, true, true
	case '╴', '╸':
		return false, false, false, true
	case '╵', '╹':
		return true, false, false, false
	case '╶', '╺':
		return false, true, false, false
	case '╷', '╻':
		return false, false, true, false
	}
	return false, false, false, false
}

// line returns the path of n equal line characters, or "" for rare ones.
func line(r rune, x float64, n int) string {
	up, right, down, left := arms(r)
	var b strings.Builder
	if left && right && !up && !down { // one line through all cells
		fmt.Fprintf(&b, "M%s %dh%s", number(x), middle, number(cellWidth*float64(n)))
		return b.String()
	}
	for i := range n {
		center := number(x + cellWidth*(float64(i)+0.5))
		corner := r >= '╭' && r <= '╰'
		switch {
		case corner && down && right:
			fmt.Fprintf(&b, "M%s %dv-4q0-6 4.2-6", center, cellHeight-ascent)
		case corner && down && left:
			fmt.Fprintf(&b, "M%s %dv-4q0-6-4.2-6", center, cellHeight-ascent)
		case corner && up && left:
			fmt.Fprintf(&b, "M%s %dv4q0 6-4.2 6", center, -ascent)
		case corner && up && right:
			fmt.Fprintf(&b, "M%s %dv4q0 6 4.2 6", center, -ascent)
		default:
			for _, arm := range []struct {
				has  bool
				path string
			}{{up, "v-10"}, {right, "h4.2"}, {down, "v10"}, {left, "h-4.2"}} {
				if arm.has {
					fmt.Fprintf(&b, "M%s %d%s", center, middle, arm.path)
				}
			}
		}
	}
	return b.String()
}

// block returns the path of block elements, or "" for rare ones.
func block(r rune, x, width float64) string {
	box := func(x, top, width, height float64) string {
		return fmt.Sprintf("M%s %sh%sv%sh%sz", number(x), number(top-ascent), number(width), number(height), number(-width))
	}
	const height = cellHeight
	switch {
	case r == '▀':
		return box(x, 0, width, height/2)
	case r >= '▁' && r <= '█': // lower eighths
		h := height * float64(r-'▁'+1) / 8
		return box(x, height-h, width, h)
	case r >= '▉' && r <= '▏' && width == cellWidth: // left eighths
		return box(x, 0, width*float64('▏'-r+1)/8, height)
	case r >= '▉' && r <= '▏':
		return repeat(r, x, width)
	case r == '▐' && width == cellWidth:
		return box(x+width/2, 0, width/2, height)
	case r == '▐':
		return repeat(r, x, width)
	case r == '▔':
		return box(x, 0, width, height/8)
	case r == '░', r == '▒', r == '▓': // the style has the opacity
		return box(x, 0, width, height)
	}
	return ""
}

// repeat returns the paths of block elements that do not fill their cells.
func repeat(r rune, x, width float64) string {
	var b strings.Builder
	for at := x; at < x+width-cellWidth/2; at += cellWidth {
		b.WriteString(block(r, at, cellWidth))
	}
	return b.String()
}

// shade returns the opacity of a shaded block, or "".
func shade(r rune) string {
	switch r {
	case '░':
		return ".25"
	case '▒':
		return ".5"
	case '▓':
		return ".75"
	}
	return ""
}

// braille returns the path of the dots of a braille pattern.
func braille(r rune, x float64, n int) string {
	var b strings.Builder
	for i := range n {
		at := x + cellWidth*float64(i)
		for dots := uint(r - 0x2800); dots != 0; dots &= dots - 1 {
			bit := bits.TrailingZeros(dots)
			column, row := bit/3, bit%3
			if bit >= 6 {
				column, row = bit-6, 3
			}
			fmt.Fprintf(&b, "M%s %sh1.8v1.8h-1.8z", number(at+1.8+3*float64(column)), number(middle-6+3.2*float64(row)))
		}
	}
	return b.String()
}
