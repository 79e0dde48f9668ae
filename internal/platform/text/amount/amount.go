// Package amount formats amounts for display: counts with their nouns, ages, sizes and sums of
// money.
package amount

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Of returns a count with its noun, such as "1 memory" or "2 memories".
func Of(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// There returns a phrase that lists names, such as "there is a" or "there are a, b".
func There(names []string) string {
	if len(names) == 1 {
		return "there is " + names[0]
	}
	return "there are " + strings.Join(names, ", ")
}

// Grouped formats n with thousands separators.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Age formats the time since an event.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	}
	return fmt.Sprintf("%dd ago", d/(24*time.Hour))
}

// USD formats a sum in dollars and cents. Sums below one cent get more decimal places.
func USD(sum float64) string {
	if sum > 0 && sum < 0.01 {
		return fmt.Sprintf("$%.4f", sum)
	}
	return fmt.Sprintf("$%.2f", sum)
}

// Price formats a price without the dollar sign: whole, or with at least two decimal places.
func Price(p float64) string {
	text := strconv.FormatFloat(p, 'f', -1, 64)
	if _, places, ok := strings.Cut(text, "."); ok && len(places) < 2 {
		text += "0"
	}
	return text
}

// Rounded formats a large number in thousands or millions, such as "200k" or "1M".
func Rounded(n int) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1_000_000), ".0") + "M"
	case n >= 1000:
		return strconv.Itoa((n+500)/1000) + "k"
	}
	return strconv.Itoa(n)
}

// Seconds formats a duration rounded to a tenth of a second.
func Seconds(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }

// Bytes formats a size in bytes, kilobytes or megabytes.
func Bytes(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
