package exec

import (
	"bytes"
	"errors"
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
// cap. What does not fit goes to a file, byte for byte, of which the beginning is shown.
func (e *Executor) bound(p *Pending, r tool.Result) []msg.Part {
	defer closeBody(r.Body)
	media, notes := e.media(p, r.Parts)
	parts, chars := visible(media)
	limit := p.traits.MaxChars
	if limit <= 0 {
		limit = tool.DefaultMaxChars
	}
	switch {
	case r.Body != nil:
		parts = e.boundBody(p, parts, r, limit)
	case chars > limit && !p.traits.NeverPersist:
		parts = e.persist(p, parts, strings.NewReader(msg.PlainText(r.Parts)), limit)
	}
	if parts = append(parts, notes...); len(parts) == 0 {
		parts = append(parts, &msg.Text{Text: p.use.Name + " ran and produced no output."})
	}
	return parts
}

// visible returns parts neutralised and without empty text, and how many characters of text they have.
func visible(parts []msg.Part) (kept []msg.Part, chars int) {
	kept = make([]msg.Part, 0, len(parts))
	for _, part := range parts {
		if t, ok := part.(*msg.Text); ok {
			if strings.TrimSpace(t.Text) == "" {
				continue
			}
			if clean := msg.Neutralise(t.Text); clean != t.Text {
				t = &msg.Text{Text: clean}
			}
			chars += utf8.RuneCountInString(t.Text)
			part = t
		}
		kept = append(kept, part)
	}
	return kept, chars
}

func (e *Executor) boundBody(p *Pending, parts []msg.Part, r tool.Result, limit int) []msg.Part {
	rc, err := r.Body.Open()
	if err != nil {
		return append(parts, &msg.Text{Text: fmt.Sprintf("The output cannot be read: %v", err)})
	}
	defer rc.Close()
	most := int64(limit) * utf8.UTFMax
	data, err := io.ReadAll(io.LimitReader(rc, most))
	if err != nil {
		data = fmt.Appendf(data, "\n[The rest of the output cannot be read: %v]", err)
	}
	if int64(len(data)) < most {
		whole, chars := visible(append(parts, &msg.Text{Text: strings.ToValidUTF8(string(data), "\uFFFD")}))
		if chars <= limit {
			return whole
		}
	}
	head := msg.PlainText(r.Parts)
	return e.persist(p, parts, io.MultiReader(strings.NewReader(head), bytes.NewReader(data), rc), limit)
}

// persist writes text to a file and returns a preview of it with those parts that are not text.
func (e *Executor) persist(p *Pending, parts []msg.Part, text io.Reader, limit int) []msg.Part {
	ends := &ends{max: limit * utf8.UTFMax}
	path, n, err := e.save(p, p.raw.ID, "txt", io.TeeReader(text, ends))
	io.Copy(ends, text) // ok: what was not saved is still shown; a read error shows as a short text
	var note string
	if err != nil {
		note = fmt.Sprintf("The output is %s long, too much to show whole, and the rest is lost: %v.", size(ends.total), err)
	} else {
		note = fmt.Sprintf("The output is %s long, too much to show whole. It is in %s; use Read with offset and limit on that file to see more.", size(n), path)
		limit = min(limit, previewChars)
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

var errNotKept = errors.New("it is not kept anywhere")

func (e *Executor) save(p *Pending, name, ext string, r io.Reader) (path string, n int64, err error) {
	if e.Results == nil || p.traits.NeverPersist {
		return "", 0, errNotKept
	}
	return e.Results.SaveResult(name, ext, r)
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

// cutHead returns the first max characters of s, ending at a line end when that leaves most of them.
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
	if i := strings.LastIndexByte(cut, '\n'); i >= len(cut)/2 {
		return cut[:i+1]
	}
	return cut
}

// cutTail returns the last max characters of s, beginning after a line end when that leaves most of
// them.
func cutTail(s string, max int) string {
	i := len(s)
	for ; i > 0 && max > 0; max-- {
		_, n := utf8.DecodeLastRuneInString(s[:i])
		i -= n
	}
	if i == 0 {
		return s
	}
	if j := strings.IndexByte(s[i:], '\n'); j >= 0 && j < (len(s)-i)/2 {
		return s[i+j+1:]
	}
	return s[i:]
}

func closeBody(b tool.Body) {
	if c, ok := b.(io.Closer); ok {
		c.Close() // ok: what it held has been copied or is not wanted
	}
}
