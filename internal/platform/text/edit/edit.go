// Package edit locates a text in a file's content and computes the bytes to replace. All other
// bytes are preserved, regardless of encoding and line endings. It performs no I/O and no
// permission checks.
package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Request is a text to find and its replacement. LF and CRLF are equivalent in both.
type Request struct {
	Old, New string
	All      bool // replace every occurrence instead of requiring a unique one
}

// A Range is a byte range of the file.
type Range struct{ Start, End int }

// A Span is a byte range of the file and its replacement.
type Span struct {
	Range
	New []byte
}

// A Plan describes the effect of an edit on a file.
type Plan struct {
	// Matches are the occurrences found, Spans the bytes that change; both are sorted and
	// disjoint. A span covers only the differing bytes, unless a deletion includes the line
	// ending after its match.
	Matches []Range
	Spans   []Span
	// Old is the first occurrence as it appears in the file, New its replacement.
	Old, New string
	// Folded is true if the text matched only after normalizing quotation marks.
	Folded bool
	// Blanks is true if the text matched only after ignoring trailing blanks on its lines.
	Blanks bool
	// Adapted is true if the replacement differs from the requested text because it uses the
	// file's quotation marks or line endings.
	Adapted bool

	text      text
	firstLine int // line of the first match; 0 until counted
}

// ErrSame means that the edit would change nothing.
var ErrSame = errors.New("the file already reads like this")

// NotFound is the error for a text that is not in the file.
type NotFound struct {
	Near *Near       // closest match, or nil
	Slip CopyMistake // likely cause of the mismatch
}

// Error implements error.
func (e *NotFound) Error() string { return "the text was not found" }

// Ambiguous is the error for a text that occurs more than once.
type Ambiguous struct {
	Count int
	Lines []int // lines where the first matches begin
}

// Error returns a message with the number of matches.
func (e *Ambiguous) Error() string { return fmt.Sprintf("the text was found %d times", e.Count) }

// Unencodable is the error for a character that the file's encoding cannot represent.
type Unencodable struct {
	Char  rune
	Latin bool // Windows-1252; otherwise the encoding is unknown
}

// Error returns a message that names the character.
func (e *Unencodable) Error() string {
	if e.Latin {
		return fmt.Sprintf("it is in Windows-1252, which has no character %q (%U)", e.Char, e.Char)
	}
	return fmt.Sprintf("it is not UTF-8, and the character %q (%U) cannot be written in its encoding, which is unknown", e.Char, e.Char)
}

// maxLines is the maximum number of line numbers in an error.
const maxLines = 10

// Find plans the edit r for a file with content data, which it does not modify. r.Old must not
// be empty. The error has a type of this package.
func Find(data []byte, r Request) (*Plan, error) {
	t := newText(data)
	old, _ := foldEnds(r.Old)
	needle := t.needle(old, exactly)
	found := t.findAll(needle, r.All)
	folded := false
	if found.count == 0 && strings.ContainsAny(old, quotes) {
		folded = true
		needle = t.needle(old, foldingQuotes)
		found = t.findAll(needle, r.All)
	}
	if found.count == 0 {
		if exact, ok := t.atLineEnds(r); ok {
			p, err := findExactly(data, exact)
			if err == nil {
				p.Blanks, p.Adapted = true, p.Adapted || exact.New != r.New
				return p, nil
			}
			if errors.Is(err, ErrSame) {
				return nil, err
			}
		}
	}
	switch {
	case found.count == 0:
		return nil, &NotFound{Near: t.nearest(old), Slip: t.slip(old)}
	case found.count > 1 && !r.All:
		return nil, &Ambiguous{found.count, t.lineNumbers(found.ranges)}
	}
	p := &Plan{Matches: found.ranges, Folded: folded, text: t}
	if err := p.build(r); err != nil {
		return nil, err
	}
	return p, nil
}

// findExactly is [Find] for a text that occurs verbatim in the file.
func findExactly(data []byte, r Request) (*Plan, error) {
	t := newText(data)
	old, _ := foldEnds(r.Old)
	found := t.findAll(t.needle(old, exactly), false)
	if found.count != 1 {
		return nil, &NotFound{}
	}
	p := &Plan{Matches: found.ranges, text: t}
	return p, p.build(r)
}

// build computes the spans.
func (p *Plan) build(r Request) error {
	w := newWriter(&p.text, r, p.Folded)
	p.Spans = make([]Span, 0, len(p.Matches))
	for i, m := range p.Matches {
		span, written := w.span(m)
		if i+1 < len(p.Matches) && span.End > p.Matches[i+1].Start { // the next match starts with the line ending
			span.End = m.End
		}
		if i == 0 {
			p.Old, p.New = p.text.decode(p.text.data[m.Start:m.End]), written
		}
		p.Adapted = p.Adapted || written != r.New
		if !bytes.Equal(span.New, p.text.data[span.Start:span.End]) {
			p.Spans = append(p.Spans, span)
		}
	}
	if len(p.Spans) == 0 {
		return ErrSame
	}
	return w.err
}

// Pieces returns the file's content after the edit, in parts that share memory with the old
// content.
func (p *Plan) Pieces() [][]byte {
	data := p.text.data
	pieces, at := make([][]byte, 0, 2*len(p.Spans)+1), 0
	for _, s := range p.Spans {
		pieces = append(pieces, data[at:s.Start], s.New)
		at = s.End
	}
	pieces = append(pieces, data[at:])
	return slices.DeleteFunc(pieces, func(b []byte) bool { return len(b) == 0 })
}

// Changed describes changed lines: Old lines starting at First become New lines.
type Changed struct{ First, Old, New int }

// Changed returns the changed lines, sorted and disjoint.
func (p *Plan) Changed() []Changed {
	var all []Changed
	c := p.counter()
	for _, s := range p.Spans {
		line := c.lineAt(s.Start)
		ends := p.text.countEnds(s.Range)
		added := p.text.with(s.New).countEnds(Range{0, len(s.New)})
		if n := len(all) - 1; n >= 0 && line < all[n].First+all[n].Old {
			all[n].Old += ends
			all[n].New += added
		} else {
			all = append(all, Changed{line, ends + 1, added + 1})
		}
	}
	return all
}

// Lines returns the first and the last line of each match, counted from 1.
func (p *Plan) Lines() [][2]int {
	lines := make([][2]int, 0, len(p.Matches))
	c := p.counter()
	for _, m := range p.Matches {
		first, last := c.lineAt(m.Start), c.lineAt(m.End)
		if p.text.isLineStart(m.End) && m.End > m.Start { // the match includes its last line ending
			last--
		}
		lines = append(lines, [2]int{first, last})
	}
	return lines
}

// Total returns the number of lines before the edit.
func (p *Plan) Total() int {
	n := p.text.countEnds(Range{p.text.start, len(p.text.data)})
	if !p.text.isLineStart(len(p.text.data)) {
		n++
	}
	return n
}

// A counter converts positions to line numbers. It counts from the last position.
type counter struct {
	text     *text
	at, line int
}

func (c *counter) lineAt(p int) int {
	if p < c.at {
		c.line -= c.text.countEnds(Range{p, c.at})
	} else {
		c.line += c.text.countEnds(Range{c.at, p})
	}
	c.at = p
	return c.line
}

// counter returns a counter positioned at the first match, to avoid recounting the lines before
// it.
func (p *Plan) counter() counter {
	if p.firstLine == 0 {
		begin := counter{&p.text, p.text.start, 1}
		p.firstLine = begin.lineAt(p.Matches[0].Start)
	}
	return counter{&p.text, p.Matches[0].Start, p.firstLine}
}

// foldEnds returns s with CRLF converted to LF, and for each LF whether it was CRLF.
func foldEnds(s string) (folded string, ends []bool) {
	if !strings.Contains(s, "\n") {
		return s, nil
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			b.WriteString(s)
			return b.String(), ends
		}
		line, crlf := strings.CutSuffix(s[:i], "\r")
		b.WriteString(line)
		b.WriteByte('\n')
		ends, s = append(ends, crlf), s[i+1:]
	}
}

// commonRunes returns the number of bytes that a and b have in common at their start and at
// their end, in whole characters and without overlap.
func commonRunes(a, b string) (prefix, suffix int) {
	for prefix < len(a) && prefix < len(b) {
		r, n := utf8.DecodeRuneInString(a[prefix:])
		if s, _ := utf8.DecodeRuneInString(b[prefix:]); r != s {
			break
		}
		prefix += n
	}
	a, b = a[prefix:], b[prefix:]
	for suffix < len(a) && suffix < len(b) {
		r, n := utf8.DecodeLastRuneInString(a[:len(a)-suffix])
		if s, _ := utf8.DecodeLastRuneInString(b[:len(b)-suffix]); r != s {
			break
		}
		suffix += n
	}
	return prefix, suffix
}
