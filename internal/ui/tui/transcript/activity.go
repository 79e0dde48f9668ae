package transcript

import (
	"fmt"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/platform/text/amount"
	"adze/internal/ui/draw"
)

// An activity is the model's current activity or wait.
type activity struct {
	doing string // empty if idle
	since time.Time
	chars int       // characters of the response received
	until time.Time // time of the next retry, while waiting for it
}

// phase starts an activity.
func (a *activity) phase(doing string, now time.Time) { *a = activity{doing: doing, since: now} }

// arrived records that part of a response has arrived.
func (a *activity) arrived(doing string, chars int, now time.Time) {
	if a.doing != doing {
		received := a.chars
		a.phase(doing, now)
		a.chars = received
	}
	a.chars += chars
}

// retry starts waiting for the next attempt.
func (a *activity) retry(r model.Retrying, now time.Time) {
	why := model.Cause(r.Err)
	a.phase(fmt.Sprintf("%s; retry %d of %d", strings.ToUpper(why[:1])+why[1:], r.Attempt, r.Max), now)
	a.until = now.Add(r.After)
}

// rows returns the model's activity and how to stop it.
func (a *activity) rows(v view) []draw.Row {
	if a.doing == "" {
		return nil
	}
	row := draw.Row{{Role: draw.Accent, Text: v.spinner() + " "}, {Text: draw.Clean(a.doing)}}
	about := v.clock(a.since)
	switch left := a.until.Sub(v.now); {
	case left > 0:
		about = " in " + elapsed(left+time.Second-1)
	case !a.until.IsZero():
		about = ", asking again"
	}
	if n := a.chars / charsPerToken / 100 * 100; n > 0 {
		about += " " + v.Glyphs.Dot + " " + v.Glyphs.Received + tokens(n)
	}
	return []draw.Row{v.hinted(append(row, draw.Span{Role: draw.Faint, Text: about}), v.keys.Stop, "stops")}
}

// hinted returns a row with a key hint, if there is room for it.
func (v view) hinted(row draw.Row, key, does string) draw.Row {
	if key == "" {
		return row
	}
	hint := draw.Span{Role: draw.Faint, Text: " " + v.Glyphs.Dot + " " + key + " " + does}
	if wider := append(row[:len(row):len(row)], hint); wider.Width() <= v.w {
		return wider
	}
	return row
}

// charsPerToken is a guess.
const charsPerToken = 4

// tokens formats a number of tokens compactly.
func tokens(n int) string {
	if n < 1000 {
		return count(n, "token")
	}
	return amount.Rounded(n) + " tokens"
}

// count returns a number with its noun.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return amount.Grouped(n) + " " + one + "s"
}
