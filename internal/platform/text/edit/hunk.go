package edit

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A Hunk is a run of changed lines with context; each line begins with ' ', '+' or '-'.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Lines              []string
}

const (
	// context is the number of unchanged lines around a change.
	context = 3
	// maxShown is the maximum number of lines in a patch, maxShownLine the maximum length of a
	// line in bytes. Patches are for display, and a minified file is a single line.
	maxShown     = 20_000
	maxShownLine = 4_000
	// maxCompared is the maximum size for a line-by-line comparison.
	maxCompared = 1 << 20
)

// Hunks returns the edit as a patch. It reads only the lines around the changes, regardless of
// file size. Whole is false if the patch was truncated.
func (p *Plan) Hunks() (hunks []Hunk, whole bool) {
	t := &p.text
	lines, shown, shift := p.counter(), 0, 0 // shift is the number of lines added so far
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
		line := lines.lineAt(region.Start)
		old := t.with(t.data[region.Start:region.End])
		fresh := t.with(replaced(t.data, region, p.Spans[i:n]))
		found, whole := old.diff(fresh, line, line+shift)
		for _, h := range found {
			if shown += len(h.Lines); shown > maxShown {
				return hunks, false
			}
			hunks = append(hunks, h)
		}
		if !whole {
			return hunks, false
		}
		shift += fresh.countEnds(Range{0, len(fresh.data)}) - old.countEnds(Range{0, len(old.data)})
		i = n
	}
	return hunks, true
}

// diff compares t with its replacement. Whole is false if the result was truncated.
func (t *text) diff(fresh *text, oldLine, newLine int) (hunks []Hunk, whole bool) {
	if len(t.data)+len(fresh.data) <= maxCompared {
		return diff(t.decode(t.data), fresh.decode(fresh.data), oldLine, newLine), true
	}
	h, whole := t.coarseDiff(fresh, oldLine, newLine)
	if !whole {
		return nil, false
	}
	return []Hunk{h}, true
}

// coarseDiff returns a coarse diff of large texts, which usually have one very long line:
// everything between the common first and last lines. It processes only the displayed part in
// detail.
func (t *text) coarseDiff(fresh *text, oldLine, newLine int) (h Hunk, whole bool) {
	a, b := t.lines(), fresh.lines()
	before, after := 0, 0
	for before < min(len(a), len(b)) && bytes.Equal(a[before], b[before]) {
		before++
	}
	for after < min(len(a), len(b))-before && bytes.Equal(a[len(a)-1-after], b[len(b)-1-after]) {
		after++
	}
	first, last := max(before-context, 0), max(after-context, 0)
	a, b, before, after = a[first:len(a)-last], b[first:len(b)-last], before-first, after-last
	if len(a)+len(b) > maxShown {
		return Hunk{}, false
	}
	h = Hunk{OldStart: oldLine + first, OldLines: len(a), NewStart: newLine + first, NewLines: len(b)}
	add := func(mark string, lines [][]byte) {
		for _, line := range lines {
			// Keep more than is displayed, so that the line is marked as cut.
			h.Lines = append(h.Lines, mark+shown(t.decode(line[:min(len(line), 2*maxShownLine+8)])))
		}
	}
	add(" ", a[:before])
	add("-", a[before:len(a)-after])
	add("+", b[before:len(b)-after])
	add(" ", a[len(a)-after:])
	h.place()
	return h, true
}

// lines returns the lines with their endings.
func (t *text) lines() [][]byte {
	var all [][]byte
	for p := 0; p < len(t.data); {
		end := t.lineEnd(p)
		all, p = append(all, t.data[p:end]), end
	}
	return all
}

// around returns the range of the lines of r with their context.
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

// replaced returns region with its spans applied.
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

// Diff returns the difference between two versions of a file as a patch.
func Diff(old, fresh []byte) (hunks []Hunk, whole bool) {
	a, b := newText(old), newText(fresh)
	x, y := a.with(old[a.start:]), b.with(fresh[b.start:])
	// Most of the content is usually equal: skip it before comparing lines.
	skip := x.commonLines(y)
	first := x.countEnds(Range{0, skip}) + 1
	x, y = x.with(x.data[skip:]), y.with(y.data[skip:])
	found, whole := x.diff(y, first, first)
	shown := 0
	for _, h := range found {
		if shown += len(h.Lines); shown > maxShown {
			return hunks, false
		}
		hunks = append(hunks, h)
	}
	return hunks, whole
}

// commonLines returns the length of the common prefix, less the lines needed as context. It is
// 0 if the encodings differ.
func (t *text) commonLines(other *text) int {
	a, b := t.data, other.data
	if t.wide != other.wide {
		return 0
	}
	n := 0
	for n < len(a) && n < len(b) {
		size := min(4096, len(a)-n, len(b)-n)
		if !bytes.Equal(a[n:n+size], b[n:n+size]) {
			for a[n] == b[n] {
				n++
			}
			break
		}
		n += size
	}
	n -= n % t.unit()
	for range context + 1 {
		n = t.lineStart(max(n-t.unit(), 0))
	}
	return n
}

// diff compares texts whose first lines have the given numbers.
func diff(old, fresh string, oldLine, newLine int) []Hunk {
	a, b := lines(old), lines(fresh)
	var hunks []Hunk
	var h *Hunk
	i := 0 // index into a
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
			// The text between the hunks is the same on both sides.
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
		hunks[i].place()
	}
	return hunks
}

// place positions an empty side at the line before it, as in unified diffs.
func (h *Hunk) place() {
	if h.OldLines == 0 {
		h.OldStart--
	}
	if h.NewLines == 0 {
		h.NewStart--
	}
}

// lines returns the lines of s with their endings, so that lines with different endings differ.
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

// shown returns a line formatted for display.
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

// IsCut reports whether a hunk line was truncated.
func IsCut(line string) bool { return len(line) > maxShownLine-4 && strings.HasSuffix(line, "…") }
