package transcript

import (
	"strconv"
	"time"
)

// patience is how long something takes before a clock is shown.
const patience = 2 * time.Second

// clock returns how long something takes, with a blank before it; empty if that is not worth a word.
func (v view) clock(since time.Time) string {
	if d := v.now.Sub(since); d >= patience {
		return " " + elapsed(d)
	}
	return ""
}

// elapsed returns a duration in whole seconds, such as 6s, 2m10s or 1h2m.
func elapsed(d time.Duration) string {
	d = d.Truncate(time.Second)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m" + strconv.Itoa(int(d%time.Minute/time.Second)) + "s"
	}
	return strconv.Itoa(int(d/time.Hour)) + "h" + strconv.Itoa(int(d%time.Hour/time.Minute)) + "m"
}
