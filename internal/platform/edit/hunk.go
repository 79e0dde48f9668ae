package edit

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A Hunk is a run of changed lines with their surroundings; each line begins with ' ', '+' or '-'.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Lines              []string
}

const (
	// context is how many unchanged lines surround a change.
	context = 3
	// maxShown bounds the lines of a patch, maxShownLine the bytes of one of them: they are for people
	// to look at, and a minified file is one line.
	maxShown     = 20_000
	maxShownLine = 4_000
)

// Hunks returns the edit as a patch. It looks at the lines around the changes alone, however large the
// file is. Whole is false if the patch was too long and its end is missing.
func (p *Plan) Hunks() (hunks []Hunk, whole bool) {
	t := &p.text
	shown, line, shift, at := 0, 1, 0, t.start // at is where line begins, shift how many lines were added so far
	for i := 0; i < len(p.Spans); {
		region := t.around(p.Spans[i].Range)
		n := i + 1
		for n < len(p.Spans) {
			next := t.around(p.Spans[n].Range)
			if next.Start > region.End {
				break
			}
			region.End = max(region.End, next.End)
			n++
		}
		line += t.countEnds(Range{at, region.Start})
		at = region.Start
		old := t.decode(t.data[region.Start:region.End])
		fresh := t.decode(replaced(t.data, region, p.Spans[i:n]))
		found := diff(old, fresh, line, line+shift)
		for _, h := range found {
			if shown += len(h.Lines); shown > maxShown {
				return hunks, false
			}
			hunks = append(hunks, h)
		}
		shift += strings.Count(fresh, "\n") - strings.Count(old, "\n")
		i = n
	}
	return hunks, true
}

// around returns the lines of r and the context of them.
func (t *text) around(r Range) Range {
	r.Start = t.lineStart(r.Start)
	r.End = t.lineEnd(r.End)
	for range context {
		if r.Start > t.start {
			r.Start = t.lineStart(r.Start - t.unit())
		}
		r.End = t.lineEnd(r.End)
	}
	return r
}

// replaced returns region with the spans in it carried out.
func replaced(data []byte, region Range, spans []Span) []byte {
	var b bytes.Buffer
	at := region.Start
	for _, s := range spans {
		b.Write(data[at:s.Start])
		b.Write(s.New)
		at = s.End
	}
	b.Write(data[at:region.End])
	return b.Bytes()
}

// Diff returns how one content of a file differs from another, as a patch.
func Diff(old, fresh []byte) (hunks []Hunk, whole bool) {
	a, b := newText(old), newText(fresh)
	x, y := a.decode(old[a.start:]), b.decode(fresh[b.start:])
	// Most of it is usually the same: that is cut off before lines are compared.
	skip := commonLines(x, y)
	first := strings.Count(x[:skip], "\n") + 1
	shown := 0
	for _, h := range diff(x[skip:], y[skip:], first, first) {
		if shown += len(h.Lines); shown > maxShown {
			return hunks, false
		}
		hunks = append(hunks, h)
	}
	return hunks, true
}

// commonLines returns the length of what a and b begin with, less the lines that make its context.
func commonLines(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) {
		size := min(4096, len(a)-n, len(b)-n)
		if a[n:n+size] != b[n:n+size] {
			for a[n] == b[n] {
				n++
			}
			break
		}
		n += size
	}
	for range context + 1 {
		n = max(strings.LastIndexByte(a[:n], '\n'), 0)
	}
	if n > 0 {
		n++
	}
	return n
}

// diff compares texts whose first lines have the numbers given.
func diff(old, fresh string, oldLine, newLine int) []Hunk {
	a, b := lines(old), lines(fresh)
	var hunks []Hunk
	var h *Hunk
	i := 0 // in a
	copyTo := func(end int) {
		for ; i < end; i++ {
			h.Lines = append(h.Lines, " "+shown(a[i]))
			h.OldLines++
			h.NewLines++
		}
	}
	for _, d := range lcs.DiffLines(a, b) {
		if h == nil || d.Start-i > 2*context {
			if h != nil {
				copyTo(i + context)
			}
			from := max(d.Start-context, i)
			// What is between the hunks is the same on both sides.
			j := d.ReplStart - (d.Start - from)
			hunks = append(hunks, Hunk{OldStart: oldLine + from, NewStart: newLine + j})
			h, i = &hunks[len(hunks)-1], from
		}
		copyTo(d.Start)
		for ; i < d.End; i++ {
			h.Lines = append(h.Lines, "-"+shown(a[i]))
			h.OldLines++
		}
		for j := d.ReplStart; j < d.ReplEnd; j++ {
			h.Lines = append(h.Lines, "+"+shown(b[j]))
			h.NewLines++
		}
	}
	if h != nil {
		copyTo(min(i+context, len(a)))
	}
	for i := range hunks {
		// A side without lines is said to be at the line before it, as in unified diffs.
		if hunks[i].OldLines == 0 {
			hunks[i].OldStart--
		}
		if hunks[i].NewLines == 0 {
			hunks[i].NewStart--
		}
	}
	return hunks
}

// lines returns the lines of s with their ends, so that lines that differ in those differ.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	all := strings.SplitAfter(s, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// shown returns a line as people see it.
func shown(line string) string {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if len(line) <= maxShownLine {
		return line
	}
	cut := maxShownLine
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return line[:cut] + "…"
}
