package edit

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A writer computes the replacement of a match.
type writer struct {
	t        *text
	request  Request
	old, new string // normalized to LF
	sent     []bool // whether each LF of new was sent as CRLF
	// prefix and suffix are the number of bytes that old and new have in common at each end.
	// The file keeps its own spelling of them.
	prefix, suffix int
	head, tail     needle
	folded         bool
	endings        func() endings
	err            error
}

// endings counts a file's line endings.
type endings struct{ crlf, all int }

func (e endings) prevailing() bool { return 2*e.crlf > e.all }
func (e endings) mixed() bool      { return e.crlf > 0 && e.crlf < e.all }

func newWriter(t *text, r Request, folded bool) *writer {
	w := &writer{t: t, request: r, folded: folded}
	w.old, _ = foldEnds(r.Old)
	w.new, w.sent = foldEnds(r.New)
	w.prefix, w.suffix = commonRunes(w.old, w.new)
	// A new CR before an existing line ending would become part of it.
	if rest := w.new[:len(w.new)-w.suffix]; strings.HasSuffix(rest, "\r") && strings.HasPrefix(w.new[len(rest):], "\n") {
		w.suffix--
	}
	how := exactly
	if folded {
		how = foldingQuotes
	}
	w.head = t.needle(w.old[:w.prefix], how)
	w.tail = t.needle(w.old[len(w.old)-w.suffix:], how)
	w.endings = sync.OnceValue(func() endings { c, n := t.endings(); return endings{c, n} })
	return w
}

// span returns the byte range that changes for the match m, and its replacement text.
func (w *writer) span(m Range) (Span, string) {
	if w.new == "" {
		return Span{Range: w.withEnd(m)}, ""
	}
	begin, _ := w.head.forward(w.t, m.Start) // ok: a prefix of the match
	end, _ := w.tail.backward(w.t, m.End)
	middle := w.new
	if w.folded {
		middle = inStyle(middle, w.t.decode(w.t.data[m.Start:m.End]))
	}
	// Quotation marks can change size, so count the ends in characters.
	lead := utf8.RuneCountInString(w.new[:w.prefix])
	trail := utf8.RuneCountInString(w.new[len(w.new)-w.suffix:])
	middle = cutRunes(middle, lead, trail)
	middle = w.withEnds(middle, m)
	w.check(middle)
	span := Span{Range{begin, end}, w.t.encode(middle)}
	data := w.t.data
	return span, w.t.decode(data[m.Start:begin]) + middle + w.t.decode(data[end:m.End])
}

// withEnd returns m extended by the line ending after it, if m otherwise consists of whole
// lines.
func (w *writer) withEnd(m Range) Range {
	if strings.HasSuffix(w.old, "\n") || !w.t.isLineStart(m.Start) {
		return m
	}
	return Range{m.Start, m.End + w.t.endAt(m.End)}
}

// withEnds returns middle, the changed part of the new text, with the file's line endings.
// Existing lines keep theirs; the others get the most frequent kind.
func (w *writer) withEnds(middle string, m Range) string {
	n := strings.Count(middle, "\n")
	if n == 0 {
		return middle
	}
	file := w.endings()
	before := strings.Count(w.new[:w.prefix], "\n")
	ends := make([]bool, strings.Count(w.new, "\n"))
	switch {
	case file.all == 0:
		copy(ends, w.sent)
	case !file.mixed():
		for i := range ends {
			ends[i] = file.crlf > 0
		}
	default:
		w.keepEnds(ends, m, file.prevailing())
	}
	var b strings.Builder
	own := w.new[:w.prefix] // the line written so far
	for i, crlf := range ends[before : before+n] {
		line, rest, _ := strings.Cut(middle, "\n")
		b.WriteString(line)
		// A CR that belongs to the line would become part of its ending.
		if own += line; crlf || strings.HasSuffix(own, "\r") && w.sent[before+i] {
			b.WriteByte('\r')
		}
		b.WriteByte('\n')
		middle, own = rest, ""
	}
	b.WriteString(middle)
	return b.String()
}

// keepEnds sets the line endings of the new text: lines that are also in the match m keep
// theirs, all others are CRLF if crlf is true.
func (w *writer) keepEnds(ends []bool, m Range, crlf bool) {
	for i := range ends {
		ends[i] = crlf
	}
	var was []bool
	for p := w.t.nextEnd(m.Start); p >= 0 && p < m.End; p = w.t.nextEnd(p + w.t.unit()) {
		was = append(was, w.t.is(p-w.t.unit(), '\r'))
	}
	old, fresh := strings.Split(w.old, "\n"), strings.Split(w.new, "\n")
	i, j := 0, 0
	same := func(to int) {
		for ; i < to; i, j = i+1, j+1 {
			if i < len(was) && j < len(ends) {
				ends[j] = was[i]
			}
		}
	}
	for _, d := range lcs.DiffLines(old, fresh) {
		same(d.Start)
		i, j = d.End, d.ReplEnd
	}
	same(len(old))
}

// check records a character that cannot be encoded.
func (w *writer) check(s string) {
	if ascii := !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }); ascii || w.err != nil {
		return
	}
	if r, lacks := w.t.lacks(s); lacks {
		w.err = &Unencodable{r, w.t.latin}
	}
}

// cutRunes returns s without its first lead and last trail characters.
func cutRunes(s string, lead, trail int) string {
	for ; lead > 0; lead-- {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	for ; trail > 0; trail-- {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}

// inStyle returns s with its straight quotation marks in the style of matched, a part of the
// file. Only kinds that are curly there are changed.
func inStyle(s, matched string) string {
	single := strings.ContainsAny(matched, "\u2018\u2019")
	double := strings.ContainsAny(matched, "\u201c\u201d")
	runes := []rune(s)
	for i, r := range runes {
		before := ' '
		if i > 0 {
			before = runes[i-1]
		}
		switch {
		case r == '"' && double && opens(before):
			runes[i] = '\u201c'
		case r == '"' && double:
			runes[i] = '\u201d'
		case r == '\'' && single && opens(before):
			runes[i] = '\u2018'
		case r == '\'' && single:
			runes[i] = '\u2019'
		}
	}
	return string(runes)
}

// opens reports whether a quotation mark after r is an opening one: after a space, a bracket,
// an opening mark or a dash, but not after a letter.
func opens(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Ps, unicode.Pi, unicode.Pd)
}
