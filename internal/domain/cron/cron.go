package cron

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// A Cron is a schedule in the five crontab fields: minute, hour, day of the month, month and
// day of the week, in local time.
type Cron struct {
	minutes, hours, days, months, weekdays uint64 // bit n is set if n matches
	// hourly, anyDay and anyWeekday report whether these fields begin with an asterisk.
	hourly, anyDay, anyWeekday bool
}

// horizon is how far ahead the next time is searched, in years: more than the gap between two
// February 29ths on the same weekday.
const horizon = 45

// A field describes a crontab field.
type field struct {
	name     string
	min, max int
	names    string // three-letter names of the values, from min
}

var fields = [...]field{
	{"minute", 0, 59, ""}, {"hour", 0, 23, ""}, {"day of the month", 1, 31, ""},
	{"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"}, {"day of the week", 0, 7, "sunmontuewedthufrisat"},
}

// ParseCron parses five fields, each an asterisk, a value, a range, a list of them, or any of
// these with a step such as */5; or a name: @hourly, @daily, @midnight, @weekly, @monthly,
// @yearly or @annually. Months and weekdays may be three-letter names, and Sunday is 0 or 7. A
// day must match both day fields; if neither begins with an asterisk, either suffices. A
// schedule that never matches is an error.
func ParseCron(text string) (Cron, error) {
	c, err := parseCron(text)
	if err != nil {
		return Cron{}, fmt.Errorf("invalid cron expression %q: %w", clip(text), err)
	}
	return c, nil
}

func parseCron(text string) (Cron, error) {
	words := strings.Fields(text)
	if len(words) == 1 && strings.HasPrefix(words[0], "@") {
		all, err := expandName(words[0])
		if err != nil {
			return Cron{}, err
		}
		words = strings.Fields(all)
	}
	if len(words) != len(fields) {
		return Cron{}, fmt.Errorf("it has %d fields, not the five minute, hour, day of the month, month and day of the week", len(words))
	}
	var sets [len(fields)]uint64
	for i := range fields {
		var err error
		if sets[i], err = fields[i].parse(words[i]); err != nil {
			return Cron{}, fmt.Errorf("the %s: %w", fields[i].name, err)
		}
	}
	const sunday, seventh = 1 << 0, 1 << 7
	if sets[4]&seventh != 0 {
		sets[4] = sets[4]&^seventh | sunday
	}
	star := func(i int) bool { return strings.HasPrefix(words[i], "*") }
	c := Cron{minutes: sets[0], hours: sets[1], days: sets[2], months: sets[3], weekdays: sets[4], hourly: star(1), anyDay: star(2), anyWeekday: star(4)}
	if c.match(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Cron{}, errors.New("no such day")
	}
	return c, nil
}

// clip returns the beginning of a text, for an error message.
func clip(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// expandName returns the fields for a name such as @daily.
func expandName(name string) (string, error) {
	switch strings.ToLower(name) {
	case "@hourly":
		return "0 * * * *", nil
	case "@daily", "@midnight":
		return "0 0 * * *", nil
	case "@weekly":
		return "0 0 * * 0", nil
	case "@monthly":
		return "0 0 1 * *", nil
	case "@yearly", "@annually":
		return "0 0 1 1 *", nil
	}
	return "", errors.New("the names are @hourly, @daily, @weekly, @monthly and @yearly")
}

// parse returns the values of a field.
func (f *field) parse(text string) (set uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		one, err := f.item(part)
		if err != nil {
			return 0, err
		}
		set |= one
	}
	return set, nil
}

// item returns the values of a comma-separated part.
func (f *field) item(text string) (set uint64, err error) {
	span, by, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		if step, err = number(by); err != nil || step < 1 || step > f.max {
			return 0, fmt.Errorf("the step %q is not a number from 1 to %d", clip(by), f.max)
		}
	}
	low, high, ranged := strings.Cut(span, "-")
	from, to := f.min, f.max
	if f.max == 7 {
		to = 6 // an asterisk includes Sunday once, as 0
	}
	if span != "*" {
		if from, err = f.value(low); err != nil {
			return 0, err
		}
		switch {
		case ranged:
			if to, err = f.value(high); err != nil {
				return 0, err
			}
			if to == 0 && from > 0 && f.max == 7 {
				to = 7 // fri-sun
			}
		case !stepped:
			to = from
		}
	}
	if from > to {
		return 0, fmt.Errorf("the range %s ends before it begins", clip(span))
	}
	for v := from; v <= to; v += step {
		set |= 1 << v
	}
	return set, nil
}

// value returns the number for a number or name.
func (f *field) value(text string) (int, error) {
	if len(text) == 3 && f.names != "" {
		if at := strings.Index(f.names, strings.ToLower(text)); at >= 0 && at%3 == 0 {
			return f.min + at/3, nil
		}
	}
	n, err := number(text)
	if err != nil || n < f.min || n > f.max {
		return 0, fmt.Errorf("%q is not a number from %d to %d", clip(text), f.min, f.max)
	}
	return n, nil
}

// number reads one or two digits.
func number(text string) (int, error) {
	if len(text) < 1 || len(text) > 2 || strings.Trim(text, "0123456789") != "" {
		return 0, errors.New("no number")
	}
	return strconv.Atoi(text)
}

// Next returns the first time after t, in t's time zone; zero if none is within [horizon]. When
// the clock is put forward, times in the skipped hour move to its end; when it is put back,
// times in the repeated hour match only the first time. With an asterisk for the hour, neither
// rule applies: the schedule matches whenever the clock shows it.
func (c Cron) Next(t time.Time) time.Time {
	zone := t.Location()
	last := t.AddDate(horizon, 0, 0)
	for t.Before(last) {
		begin, end := t.ZoneBounds()
		shift := offset(t)
		// Between two clock changes, local time is UTC plus a constant offset.
		local := c.match(t.UTC().Add(shift).Truncate(time.Minute).Add(time.Minute))
		if local.IsZero() {
			return time.Time{}
		}
		next := local.Add(-shift).In(zone)
		switch {
		case !end.IsZero() && !next.Before(end):
			skipped := offset(end) - shift
			if !c.hourly && skipped > 0 && local.Before(end.UTC().Add(shift+skipped)) {
				return end.In(zone)
			}
			if next = c.first(end); !next.IsZero() {
				return next.In(zone)
			}
			t = end.In(zone)
		case !c.hourly && !begin.IsZero() && local.Before(begin.UTC().Add(offset(begin.Add(-time.Nanosecond)))):
			t = next // already matched before the clock was put back
		default:
			return next
		}
	}
	return time.Time{}
}

// first returns t, the moment after a clock change, if it matches; otherwise zero.
func (c Cron) first(t time.Time) time.Time {
	local := t.UTC().Add(offset(t))
	if !c.match(local).Equal(local) || !c.hourly && local.Before(t.UTC().Add(offset(t.Add(-time.Nanosecond)))) {
		return time.Time{}
	}
	return t
}

// offset returns the offset of local time from UTC.
func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// match returns the first matching minute from t on, ignoring clock changes; zero if none is
// within [horizon]. It iterates over days, never over minutes.
func (c Cron) match(t time.Time) time.Time {
	year, month, day := t.Date()
	hour, minute := t.Hour(), t.Minute()
	if t.Second() > 0 || t.Nanosecond() > 0 {
		minute++
	}
	for last := year + horizon; year <= last; {
		date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if date.Day() != day || c.months&(1<<month) == 0 { // month is over or does not match
			if day, hour, minute = 1, 0, 0; month == time.December {
				year, month = year+1, time.January
			} else {
				month++
			}
			continue
		}
		if c.fits(date) {
			if h, m, ok := c.clock(hour, minute); ok {
				return date.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute)
			}
		}
		day, hour, minute = day+1, 0, 0
	}
	return time.Time{}
}

// fits reports whether a day matches.
func (c Cron) fits(date time.Time) bool {
	day, weekday := c.days&(1<<date.Day()) != 0, c.weekdays&(1<<date.Weekday()) != 0
	if c.anyDay || c.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

// clock returns the first matching time of a day from hour and minute on, and whether it
// exists.
func (c Cron) clock(hour, minute int) (h, m int, ok bool) {
	if c.hours&(1<<hour) != 0 {
		if left := c.minutes >> minute << minute; left != 0 {
			return hour, bits.TrailingZeros64(left), true
		}
	}
	left := c.hours >> (hour + 1) << (hour + 1)
	if left == 0 {
		return 0, 0, false
	}
	return bits.TrailingZeros64(left), bits.TrailingZeros64(c.minutes), true
}
