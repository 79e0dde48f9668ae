package exec

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	// maxAlarming is the number of bytes of a result searched for lines that look like errors.
	maxAlarming = 16 << 20
	// maxAlarms limits the lines that are recorded, namedAlarms the lines that are listed.
	maxAlarms, namedAlarms = 1000, 10
	// alarmWidth is the number of bytes of a line that are checked.
	alarmWidth = 2000
)

// An errorLines finds lines that look like errors in a failed result, because the cause is often in
// the middle, which a preview omits. A nil alarms has found none.
type errorLines struct {
	line  int    // complete lines so far
	part  []byte // current incomplete line
	total int
	found []int // line numbers, from 1
}

// alarmsOf returns an alarms if the preview lists error lines, otherwise nil.
func alarmsOf(s shape) *errorLines {
	if s.alarms {
		return new(errorLines)
	}
	return nil
}

// Write checks the lines of p.
func (a *errorLines) Write(p []byte) (int, error) {
	n := len(p)
	p = p[:min(n, max(0, maxAlarming-a.total))]
	a.total += n
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if !ended || len(a.part) > 0 {
			a.part = append(a.part, line[:min(len(line), max(0, alarmWidth-len(a.part)))]...)
			line = a.part
		}
		if p = rest; !ended {
			break
		}
		a.line++
		if len(a.found) < maxAlarms && looksLikeError(line[:min(len(line), alarmWidth)]) {
			a.found = append(a.found, a.line)
		}
		a.part = a.part[:0]
	}
	return n, nil
}

// looksLikeError reports whether a line looks like an error.
func looksLikeError(line []byte) bool {
	for _, word := range [...]string{"rror:", "rror[", "error TS", "ERROR", "ERR!", "FAIL", "fatal:", "FATAL", "panic:", "Traceback", "xception"} {
		if bytes.Contains(line, []byte(word)) {
			return true
		}
	}
	return false
}

// within returns a clause that lists the lines from first to last that look like errors, to be
// appended to a sentence, or "".
func (a *errorLines) within(first, last int) string {
	if a == nil {
		return ""
	}
	var names []string
	more := 0
	for _, n := range a.found {
		switch {
		case n < first || n > last:
		case len(names) < namedAlarms:
			names = append(names, fmt.Sprint(n))
		default:
			more++
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case more > 0:
		names = append(names, fmt.Sprintf("and %d more", more))
	case len(names) == 1:
		return "; line " + names[0] + " looks like an error"
	}
	return "; lines " + strings.Join(names, ", ") + " look like errors"
}
