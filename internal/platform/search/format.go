package search

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"adze/internal/platform/search/scan"
)

// format appends a line for display: with its path and number, separated by colons for a match
// and by dashes for context.
func (w *worker) format(l *scan.Line) {
	if l.Gap && w.Before+w.After > 0 {
		w.text = append(w.text, separator...)
	}
	text := bytes.TrimSuffix(l.Text, []byte{'\r'})
	if !w.Only {
		w.prefix(l)
		at := 0
		if len(text) > maxShown && l.Match {
			at = w.firstMatch(l)
		}
		w.text = appendShown(w.text, text, min(at, len(text)))
		w.text = append(w.text, '\n')
		w.entries++
		return
	}
	if !l.Match {
		w.prefix(l)
		w.text = append(appendShown(w.text, text, 0), '\n')
		w.entries++
	}
	for _, span := range l.Spans {
		w.prefix(l)
		w.text = append(appendShown(w.text, l.Text[span.Start:span.End], 0), '\n')
		w.entries++
	}
}

// prefix appends the prefix of a line.
func (w *worker) prefix(l *scan.Line) {
	mark := byte(':')
	if !l.Match {
		mark = '-'
	}
	w.text = append(w.text, w.shown...)
	w.text = append(w.text, mark)
	if w.Numbers {
		w.text = strconv.AppendInt(w.text, l.Number, 10)
		w.text = append(w.text, mark)
	}
}

// firstMatch returns the start of the first match in a line.
func (w *worker) firstMatch(l *scan.Line) int {
	if len(l.Spans) > 0 {
		return l.Spans[0].Start
	}
	if w.query.Spanning() {
		return 0 // empty match, or it began earlier
	}
	if w.place == nil {
		w.place = w.query.NewMatcher()
	}
	start, _, _ := w.place.Find(w.ctx, l.Text, 0)
	return start
}

const (
	maxShown = 500 // characters per line
	lead     = 100 // characters before a match far into a line
)

// appendShown appends a line, cut so that the byte at the given position is visible.
func appendShown(to, line []byte, at int) []byte {
	if len(line) <= maxShown || utf8.RuneCount(line) <= maxShown {
		return appendValid(to, line)
	}
	start := back(line, at, lead)
	end := forward(line, start, maxShown)
	if missing := maxShown - utf8.RuneCount(line[start:end]); missing > 0 {
		start = back(line, start, missing)
	}
	if start > 0 {
		to = fmt.Appendf(to, "[%d characters before] ", utf8.RuneCount(line[:start]))
	}
	to = appendValid(to, line[start:end])
	if end < len(line) {
		to = fmt.Appendf(to, " [%d characters after]", utf8.RuneCount(line[end:]))
	}
	return to
}

// appendValid appends text with invalid bytes replaced by U+FFFD.
func appendValid(to, text []byte) []byte {
	if utf8.Valid(text) {
		return append(to, text...)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		to = utf8.AppendRune(to, r)
		text = text[n:]
	}
	return to
}

// back returns the position n characters before at.
func back(line []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(line[:at])
		at -= size
	}
	return at
}

// forward returns the position n characters after at.
func forward(line []byte, at, n int) int {
	for ; n > 0 && at < len(line); n-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at
}
