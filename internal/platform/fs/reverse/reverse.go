// Package reverse undoes a change to a text in a later version of it, line by line. It refuses
// if later changes overlap.
package reverse

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Revert returns now without the change from before to after. It reports false if a later
// change touches or adjoins the changed lines. Parts of the change that have already been
// undone are fine.
func Revert(now, before, after string) (text string, ok bool) {
	was, is, have := lines(before), lines(after), lines(now)
	since := lcs.DiffLines(is, have)
	var b strings.Builder
	at := 0 // index into have
	for _, back := range lcs.DiffLines(is, was) {
		i := slices.IndexFunc(since, func(s lcs.Diff) bool { return s.Start <= back.End && back.Start <= s.End })
		if i >= 0 {
			s := since[i]
			same := s.Start == back.Start && s.End == back.End && slices.Equal(have[s.ReplStart:s.ReplEnd], was[back.ReplStart:back.ReplEnd])
			if !same || i+1 < len(since) && since[i+1].Start <= back.End {
				return "", false
			}
			continue
		}
		start := place(since, back.Start)
		write(&b, have[at:start])
		write(&b, was[back.ReplStart:back.ReplEnd])
		at = start + back.End - back.Start
	}
	write(&b, have[at:])
	return b.String(), true
}

// place returns the current position of a line that has not changed.
func place(since []lcs.Diff, line int) int {
	now := line
	for _, s := range since {
		if s.End <= line {
			now = line + s.ReplEnd - s.End
		}
	}
	return now
}

func write(b *strings.Builder, lines []string) {
	for _, l := range lines {
		b.WriteString(l)
	}
}

// lines splits a text into lines with their line endings.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}
