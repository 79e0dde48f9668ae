package screentest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	sequence = regexp.MustCompile(`^\x1b\[([?<>]?)([0-9;:]*)([@-~])`)
	message  = regexp.MustCompile(`^\x1b\]([0-9]+);([ -~]*)(\x1b\\|\a)`)
	part     = regexp.MustCompile(`^\x1b(\[[?<>]?[0-9;:]*|\][0-9]*(;[ -~]*\x1b?)?)?$`)
)

// control executes the sequence that text begins with and returns its length, or 0 if it is
// incomplete.
func (t *Terminal) control(text string) int {
	if m := sequence.FindStringSubmatch(text); m != nil {
		if !t.obeys(m[1], m[2], m[3]) {
			t.problem("unknown sequence %q", m[0])
		}
		return len(m[0])
	}
	if m := message.FindStringSubmatch(text); m != nil {
		switch m[1] {
		case "8", "9", "11", "52", "777":
		default:
			t.problem("unknown sequence %q", m[0])
		}
		return len(m[0])
	}
	if part.MatchString(text) {
		return 0
	}
	t.problem("unknown sequence %q", text[:min(20, len(text))])
	return 1
}

// obeys executes a CSI sequence and reports whether it is known.
func (t *Terminal) obeys(private, parameters, final string) bool {
	n, err := strconv.Atoi(parameters)
	if err != nil {
		n = 1
	}
	switch private + final {
	case "m":
		if t.style = parameters; parameters == "0" {
			t.style = ""
		}
		return true
	case "K", "J":
		if parameters != "" {
			return false
		}
		t.erase(final == "J")
	case "A":
		t.row = max(0, t.row-n)
	case "B":
		t.row = min(t.height-1, t.row+n)
	case "L":
		if parameters == "" {
			n = 1
		}
		n = min(n, t.height-t.row)
		t.lines = slices.Concat(t.lines[:t.row], make([]line, n), t.lines[t.row:t.height-n])
		t.col = 0
	case "G":
		t.col = min(t.width, n) - 1
	case "?h", "?l":
		switch parameters {
		case "25":
			t.hidden = final == "l"
		case "1049":
			t.alternate(final == "h")
		case "1004", "2004", "2026":
		default:
			return false
		}
	case ">u":
		return parameters == "1"
	case "<u":
		return parameters == ""
	default:
		return false
	}
	return !strings.ContainsAny(parameters, ";:")
}

// erase erases the line from the cursor, and optionally everything below. A real terminal might
// scroll everything into its history when erasing from the first cell; this one reports it as a
// problem.
func (t *Terminal) erase(below bool) {
	row := &t.lines[t.row]
	row.cells, row.broken = row.cells[:min(t.col, len(row.cells))], false
	if !below {
		return
	}
	if t.row == 0 && t.col == 0 {
		t.problem("everything is erased from the first cell")
	}
	for i := t.row + 1; i < t.height; i++ {
		t.lines[i] = line{}
	}
}
