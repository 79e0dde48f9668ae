package exec

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/tool"
)

// The preview of a result that went to a file, in characters; half of it from the end for tools that
// keep the tail.
const previewChars = 2000

// bound returns the parts of r that the model reads: neutralised, not empty, and within the tool's
// cap. What does not fit goes to a file whose beginning is shown.
func (e *Executor) bound(p *Pending, r tool.Result) []msg.Part {
	defer closeBody(r.Body)
	parts := make([]msg.Part, 0, len(r.Parts))
	chars := 0
	for _, part := range r.Parts {
		t, ok := part.(*msg.Text)
		if !ok {
			parts = append(parts, part)
			continue
		}
		if strings.TrimSpace(t.Text) == "" {
			continue
		}
		if clean := msg.Neutralise(t.Text); clean != t.Text {
			t = &msg.Text{Text: clean}
		}
		chars += utf8.RuneCountInString(t.Text)
		parts = append(parts, t)
	}
	limit := p.traits.MaxChars
	if limit <= 0 {
		limit = tool.DefaultMaxChars
	}
	switch {
	case r.Body == nil && (p.traits.NeverPersist || chars <= limit):
	case r.Body == nil:
		parts = e.persist(p, parts, strings.NewReader(plain(parts)), limit)
	default:
		parts = e.boundBody(p, parts, r.Body, limit)
	}
	if len(parts) == 0 {
		parts = append(parts, &msg.Text{Text: p.use.Name + " ran and produced no output."})
	}
	return parts
}

func (e *Executor) boundBody(p *Pending, parts []msg.Part, body tool.Body, limit int) []msg.Part {
	rc, err := body.Open()
	if err != nil {
		return append(parts, &msg.Text{Text: fmt.Sprintf("The output cannot be read: %v", err)})
	}
	defer rc.Close()
	head := plain(parts)
	if body.Size() <= int64(limit)*utf8.UTFMax {
		data, err := io.ReadAll(rc)
		if err != nil {
			return append(parts, &msg.Text{Text: fmt.Sprintf("The output cannot be read: %v", err)})
		}
		text := msg.Neutralise(strings.ToValidUTF8(string(data), "\uFFFD"))
		if utf8.RuneCountInString(head)+utf8.RuneCountInString(text) <= limit {
			if strings.TrimSpace(text) != "" {
				parts = append(parts, &msg.Text{Text: text})
			}
			return parts
		}
		return e.persist(p, parts, strings.NewReader(head+text), limit)
	}
	return e.persist(p, parts, io.MultiReader(strings.NewReader(head), rc), limit)
}

// persist writes all text to a file and returns parts with a preview in place of the text.
func (e *Executor) persist(p *Pending, parts []msg.Part, text io.Reader, limit int) []msg.Part {
	ends := &ends{max: limit * utf8.UTFMax}
	var note string
	if e.Results == nil {
		io.Copy(ends, text) // ok: a writer that does not fail; a read error shows as a short text
		note = lost(ends.total, "this session keeps no results")
	} else if path, n, err := e.Results.SaveResult(p.raw.ID, "txt", io.TeeReader(text, ends)); err != nil {
		io.Copy(ends, text) // ok: as above
		note = lost(ends.total, err.Error())
	} else {
		note = fmt.Sprintf("The output is %s long, too much to show whole. It is in %s; use Read with offset and limit on that file to see more.", size(n), path)
		limit = previewChars
	}
	var preview string
	if p.traits.KeepTail {
		first := cutHead(ends.head(), limit/2)
		last := cutTail(ends.tail(), limit/2)
		preview = note + "\nIt begins:\n" + first + "\n[...]\nIt ends:\n" + last
	} else {
		preview = note + "\nIt begins:\n" + cutHead(ends.head(), limit)
	}
	kept := []msg.Part{&msg.Text{Text: msg.Neutralise(preview)}}
	for _, part := range parts {
		if _, ok := part.(*msg.Text); !ok {
			kept = append(kept, part)
		}
	}
	return kept
}

func lost(total int64, why string) string {
	return fmt.Sprintf("The output is %s long, too much to show whole, and the rest is lost: %s.", size(total), why)
}

func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// ends keeps the first and the last max bytes of what is written to it.
type ends struct {
	max   int
	total int64
	first []byte
	last  []byte
}

func (w *ends) Write(p []byte) (int, error) {
	n := len(p)
	w.total += int64(n)
	if room := w.max - len(w.first); room > 0 {
		w.first = append(w.first, p[:min(room, n)]...)
	}
	if n >= w.max {
		w.last = append(w.last[:0], p[n-w.max:]...)
		return n, nil
	}
	w.last = append(w.last, p...)
	if len(w.last) > 2*w.max {
		w.last = append(w.last[:0], w.last[len(w.last)-w.max:]...)
	}
	return n, nil
}

func (w *ends) head() string { return strings.ToValidUTF8(string(w.first), "\uFFFD") }
func (w *ends) tail() string {
	return strings.ToValidUTF8(string(w.last[max(0, len(w.last)-w.max):]), "\uFFFD")
}

// cutHead returns the first max characters of s, ending at a line end when there is one.
func cutHead(s string, max int) string {
	cut := s
	for i := range s {
		if max == 0 {
			cut = s[:i]
			break
		}
		max--
	}
	if len(cut) == len(s) {
		return s
	}
	if i := strings.LastIndexByte(cut, '\n'); i > 0 {
		return cut[:i+1]
	}
	return cut
}

// cutTail returns the last max characters of s, beginning after a line end when there is one.
func cutTail(s string, max int) string {
	i := len(s)
	for ; i > 0 && max > 0; max-- {
		_, n := utf8.DecodeLastRuneInString(s[:i])
		i -= n
	}
	if i == 0 {
		return s
	}
	if j := strings.IndexByte(s[i:], '\n'); j >= 0 && i+j+1 < len(s) {
		return s[i+j+1:]
	}
	return s[i:]
}

func plain(parts []msg.Part) string { return msg.PlainText(parts) }

func closeBody(b tool.Body) {
	if c, ok := b.(io.Closer); ok {
		c.Close() // ok: what it held has been copied or is not wanted
	}
}
