package cron

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// Proves X-101.
func TestCronNext(t *testing.T) {
	const layout = "2006-01-02 15:04:05 -0700"
	tests := []struct{ zone, cron, after, want string }{
		{"UTC", "*/5 * * * *", "2026-01-01 00:00:00 +0000", "2026-01-01 00:05:00 +0000"},
		{"UTC", "*/5 * * * *", "2026-01-01 00:04:59 +0000", "2026-01-01 00:05:00 +0000"},
		{"UTC", "7,37 9-17 * * mon-fri", "2026-01-02 17:37:00 +0000", "2026-01-05 09:07:00 +0000"},
		{"UTC", "0 0 29 2 *", "2026-03-01 00:00:00 +0000", "2028-02-29 00:00:00 +0000"},
		{"UTC", "0 0 29 FEB *", "2096-03-01 00:00:00 +0000", "2104-02-29 00:00:00 +0000"},
		{"UTC", "0 0 31 * *", "2026-01-31 00:00:00 +0000", "2026-03-31 00:00:00 +0000"},
		{"UTC", "0 12 13 * fri", "2026-01-01 00:00:00 +0000", "2026-01-02 12:00:00 +0000"},  // either day field
		{"UTC", "0 12 */2 * mon", "2026-01-01 13:00:00 +0000", "2026-01-05 12:00:00 +0000"}, // both day fields
		{"UTC", "0 12 * * 7", "2026-01-01 00:00:00 +0000", "2026-01-04 12:00:00 +0000"},
		{"UTC", "0 12 * * 5-7", "2026-01-03 13:00:00 +0000", "2026-01-04 12:00:00 +0000"},
		{"UTC", "0 12 * * fri-sun", "2026-01-03 13:00:00 +0000", "2026-01-04 12:00:00 +0000"},
		{"UTC", "59 23 31 12 *", "2026-12-31 23:59:00 +0000", "2027-12-31 23:59:00 +0000"},
		{"UTC", "10/20 * * * *", "2026-01-01 00:30:00 +0000", "2026-01-01 00:50:00 +0000"},
		{"UTC", "@hourly", "2026-01-01 00:00:00 +0000", "2026-01-01 01:00:00 +0000"},
		{"UTC", "@Daily", "2026-01-01 00:00:00 +0000", "2026-01-02 00:00:00 +0000"},
		{"UTC", "@weekly", "2026-01-01 00:00:00 +0000", "2026-01-04 00:00:00 +0000"},
		{"UTC", "@monthly", "2026-01-01 00:00:00 +0000", "2026-02-01 00:00:00 +0000"},
		{"UTC", "@yearly", "2026-01-01 00:00:00 +0000", "2027-01-01 00:00:00 +0000"},
		// The clock is put forward from 2:00 to 3:00.
		{"Europe/Berlin", "30 2 * * *", "2026-03-28 12:00:00 +0100", "2026-03-29 03:00:00 +0200"},
		{"Europe/Berlin", "30 2 * * *", "2026-03-29 03:00:00 +0200", "2026-03-30 02:30:00 +0200"},
		{"Europe/Berlin", "30 * * * *", "2026-03-29 01:30:00 +0100", "2026-03-29 03:30:00 +0200"},
		{"Europe/Berlin", "0 * * * *", "2026-03-29 01:00:00 +0100", "2026-03-29 03:00:00 +0200"},
		{"Europe/Berlin", "0 3 * * *", "2026-03-29 01:00:00 +0100", "2026-03-29 03:00:00 +0200"},
		// The clock is put back from 3:00 to 2:00.
		{"Europe/Berlin", "30 2 * * *", "2026-10-25 00:00:00 +0200", "2026-10-25 02:30:00 +0200"},
		{"Europe/Berlin", "30 2 * * *", "2026-10-25 02:30:00 +0200", "2026-10-26 02:30:00 +0100"},
		{"Europe/Berlin", "0 2 * * *", "2026-10-25 02:00:00 +0200", "2026-10-26 02:00:00 +0100"},
		{"Europe/Berlin", "0 3 * * *", "2026-10-25 02:30:00 +0200", "2026-10-25 03:00:00 +0100"},
		{"Europe/Berlin", "30 * * * *", "2026-10-25 02:30:00 +0200", "2026-10-25 02:30:00 +0100"},
		{"Europe/Berlin", "0 * * * *", "2026-10-25 02:00:00 +0200", "2026-10-25 02:00:00 +0100"},
		{"Europe/Berlin", "*/20 * * * *", "2026-10-25 02:40:00 +0200", "2026-10-25 02:00:00 +0100"},
		{"Australia/Lord_Howe", "15 2 * * *", "2026-10-03 12:00:00 +1030", "2026-10-04 02:30:00 +1100"},
		{"America/Sao_Paulo", "0 0 * * *", "2018-11-03 12:00:00 -0300", "2018-11-04 01:00:00 -0200"},
		{"Asia/Kathmandu", "0 9 * * *", "2026-01-01 09:00:00 +0545", "2026-01-02 09:00:00 +0545"},
	}
	for _, test := range tests {
		c, err := ParseCron(test.cron)
		if err != nil {
			t.Error(err)
			continue
		}
		after, err := time.Parse(layout, test.after)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Next(after.In(zone(t, test.zone))).Format(layout); got != test.want {
			t.Errorf("%s after %s: %s, not %s", test.cron, test.after, got, test.want)
		}
	}
}

func TestCronRefused(t *testing.T) {
	tests := map[string]string{
		"":                        "it has 0 fields",
		"* * * *":                 "it has 4 fields",
		"* * * * * *":             "it has 6 fields",
		"60 * * * *":              `the minute: "60" is not a number from 0 to 59`,
		"-1 * * * *":              `the minute: "" is not a number`,
		"+1 * * * *":              "is not a number",
		"* 24 * * *":              "the hour",
		"* * 0 * *":               "the day of the month",
		"* * * 13 *":              "the month",
		"* * * * 8":               "the day of the week",
		"* * * foo *":             "the month",
		"* * * anf *":             "the month", // inside jaNFeb
		"5-1 * * * *":             "ends before it begins",
		"*/0 * * * *":             "the step",
		"*/x * * * *":             "the step",
		"*/99 * * * *":            "the step",
		"1,,2 * * * *":            "is not a number",
		"0 0 30 2 *":              "no such day",
		"0 0 31 4,6 *":            "no such day",
		"@reboot":                 "the names are @hourly",
		"999999 * * * *":          "is not a number",
		strings.Repeat("x", 9999): "it has 1 fields",
	}
	for text, want := range tests {
		if _, err := ParseCron(text); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// FuzzCronNext checks that Next agrees with a search through all minutes, in zones with clock
// changes, and always advances.
func FuzzCronNext(f *testing.F) {
	f.Add("*/7 * * * *", int64(1_774_700_000), true)
	f.Add("30 2 * * *", int64(1_774_745_000), true)
	f.Add("0 0 1 1 *", int64(0), false)
	f.Add("15,45 */3 1-7 feb-may mon", int64(1_700_000_000), true)
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, at int64, local bool) {
		c, err := ParseCron(text)
		if err != nil || at < 0 || at > 4_000_000_000 {
			return
		}
		after := time.Unix(at, 0).UTC()
		if local {
			after = after.In(loc)
		}
		next := c.Next(after)
		if !next.After(after) {
			t.Fatalf("%q after %v: %v", text, after, next)
		}
		if local && !c.hourly {
			return // skipped and repeated hours follow special rules
		}
		minute := after.Truncate(time.Minute).Add(time.Minute)
		for range 3 * 24 * 60 {
			date := time.Date(minute.Year(), minute.Month(), minute.Day(), 0, 0, 0, 0, time.UTC)
			if c.minutes&(1<<minute.Minute()) != 0 && c.hours&(1<<minute.Hour()) != 0 && c.months&(1<<minute.Month()) != 0 && c.fits(date) {
				if !next.Equal(minute) {
					t.Fatalf("%q after %v: %v, not %v", text, after, next, minute)
				}
				return
			}
			minute = minute.Add(time.Minute)
		}
		if next.Before(minute) {
			t.Fatalf("%q after %v: %v", text, after, next)
		}
	})
}
