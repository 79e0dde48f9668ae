package transcript

import (
	"strconv"
	"time"
)

// patience is the duration after which a clock is shown.
const patience = 2 * time.Second

// clock returns the elapsed time with a blank before it, or "" if it is too short.
func (v view) clock(since time.Time) string {
	if d := v.now.Sub(since); d >= patience {
		return " " + elapsed(d)
	}
	return ""
}

// spinTime is how long a moving glyph stays the same.
const spinTime = time.Second / 8

// spinner returns the glyph of the current activity.
func (v view) spinner() string {
	if !v.moves {
		return v.Glyphs.Active
	}
	states := []rune(v.Glyphs.Spinner)
	return string(states[v.now.UnixNano()/int64(spinTime)%int64(len(states))])
}

// elapsed formats a duration in whole seconds, such as 6s, 2m10s or 1h2m.
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
