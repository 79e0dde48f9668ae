package exec

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	// maxAlarming is how much of a result is searched for lines that look like errors.
	maxAlarming = 16 << 20
	// maxAlarms is how many of them are kept, namedAlarms how many are named.
	maxAlarms, namedAlarms = 1000, 10
	// alarmWidth is how much of a line is looked at.
	alarmWidth = 2000
)

// An alarms finds the lines of a failed result that look like errors: their cause is often in the middle, which
// a preview leaves out. A nil one has found none.
type alarms struct {
	line  int    // that are complete
	part  []byte // of the line after those
	total int
	found []int // numbers of lines, from 1
}

// alarmsOf returns what finds them for a preview that names them, and nil for any other.
func alarmsOf(s shape) *alarms {
	if s.alarms {
		return new(alarms)
	}
	return nil
}

// Write looks at the lines of p.
func (a *alarms) Write(p []byte) (int, error) {
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
		if len(a.found) < maxAlarms && alarming(line[:min(len(line), alarmWidth)]) {
			a.found = append(a.found, a.line)
		}
		a.part = a.part[:0]
	}
	return n, nil
}

// alarming reports whether a line looks like an error.
func alarming(line []byte) bool {
	for _, word := range [...]string{"rror:", "rror[", "error TS", "ERROR", "ERR!", "FAIL", "fatal:", "FATAL", "panic:", "Traceback", "xception"} {
		if bytes.Contains(line, []byte(word)) {
			return true
		}
	}
	return false
}

// within names the lines from first to last that look like errors, in words that follow others.
func (a *alarms) within(first, last int) string {
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
