package exec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

// A shape is the number of characters that a preview shows from a result's beginning and end.
type shape struct {
	head, tail int
	alarms     bool // list lines that look like errors
}

// shapeOf returns the preview shape for a result saved to a file. For results that keep their
// tail, such as command output, the end matters most, especially on failure.
func shapeOf(t tool.Traits, failed bool) shape {
	switch {
	case !t.KeepTail:
		return shape{head: 2000}
	case failed:
		return shape{2000, 8000, true}
	}
	return shape{head: 1000, tail: 3000}
}

// scale returns the shape scaled to n characters in total.
func (s shape) scale(n int) shape {
	head := n * s.head / (s.head + s.tail)
	return shape{head, n - head, s.alarms}
}

func (s shape) within(limit int) shape {
	if s.head+s.tail > limit {
		return s.scale(limit)
	}
	return s
}

// bound returns the parts of r for the model: neutralized, non-empty and within the tool's
// limit. A longer result is saved to a file verbatim, and a preview is shown.
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
		parts = e.persist(p, parts, strings.NewReader(msg.PlainText(r.Parts)), limit, shapeOf(p.traits, r.IsError))
	}
	if parts = append(parts, notes...); len(parts) == 0 {
		parts = append(parts, &msg.Text{Text: p.use.Name + " ran and produced no output."})
	}
	return parts
}

// visible returns parts neutralized and without empty text, and the number of characters of
// text.
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
	if moved := e.move(p, parts, r, limit); moved != nil {
		return moved
	}
	return e.persist(p, parts, io.MultiReader(strings.NewReader(head), bytes.NewReader(data), rc), limit, shapeOf(p.traits, r.IsError))
}

// persist writes text to a file and returns a preview of it followed by the parts that are not
// text.
func (e *Executor) persist(p *Pending, parts []msg.Part, text io.Reader, limit int, shape shape) []msg.Part {
	ends := &headTail{max: limit * utf8.UTFMax, alarms: alarmsOf(shape)}
	path, n, err := e.save(p, p.raw.ID, "txt", io.TeeReader(text, ends))
	io.Copy(ends, text) // ok: unsaved output is still shown; a read error shows as a short text
	note := isIn(n, path)
	if err != nil {
		note = fmt.Sprintf("The output is too long to show whole (%s), and the rest is lost: %v.", amount.Bytes(ends.total), err)
		shape = shape.scale(limit)
	} else {
		shape = shape.within(limit)
		p.kept = path
	}
	kept := []msg.Part{&msg.Text{Text: msg.Neutralise(note + ends.preview(shape))}}
	for _, part := range parts {
		if _, ok := part.(*msg.Text); !ok {
			kept = append(kept, part)
		}
	}
	return kept
}

func isIn(n int64, path string) string {
	return fmt.Sprintf("The output is too long to show whole (%s). All of it is in %s; search that file with Grep, or read parts of it with offset and limit.", amount.Bytes(n), path)
}

// move stores a body that is a file by renaming it, and returns a preview of it after parts. It
// returns nil if the body has to be copied.
func (e *Executor) move(p *Pending, parts []msg.Part, r tool.Result, limit int) []msg.Part {
	body, ok := r.Body.(tool.FileBody)
	results, can := e.Results.(interface {
		MoveResult(callID, ext string, move func(path string) error) (path string, err error)
	})
	if !ok || !can || p.traits.NeverPersist {
		return nil
	}
	shape := shapeOf(p.traits, r.IsError)
	alarms := alarmsOf(shape)
	if alarms != nil {
		io.Copy(alarms, io.NewSectionReader(body, 0, maxAlarming)) // ok: best effort
	}
	shape = shape.within(limit)
	ends := &headTail{max: max(shape.head, shape.tail) * utf8.UTFMax, total: body.Size(), lines: body.Lines(), alarms: alarms}
	ends.first, ends.last = make([]byte, ends.max), make([]byte, ends.max)
	n, _ := body.ReadAt(ends.first, 0) // ok: a partial read is shown
	ends.first = ends.first[:n]
	n, _ = body.ReadAt(ends.last, max(0, body.Size()-int64(ends.max))) // ok: as above
	ends.last = ends.last[:n]
	path, err := results.MoveResult(p.raw.ID, "txt", body.MoveTo)
	if err != nil {
		return nil
	}
	p.kept = path
	note := isIn(body.Size(), path)
	if info, err := os.Stat(path); err == nil && info.Size() < body.Size() {
		note = fmt.Sprintf("The output is too long to show or to keep whole (%s). Its beginning and its end (%s) are in %s; search that file with Grep, or read parts of it with offset and limit.", amount.Bytes(body.Size()), amount.Bytes(info.Size()), path)
	}
	return append(parts, &msg.Text{Text: msg.Neutralise(note + ends.preview(shape))})
}

var errNotKept = errors.New("it is not kept anywhere")

func (e *Executor) save(p *Pending, name, ext string, r io.Reader) (path string, n int64, err error) {
	if e.Results == nil || p.traits.NeverPersist {
		return "", 0, errNotKept
	}
	return e.Results.SaveResult(name, ext, r)
}

// headTail is a writer that keeps the first and the last max bytes.
type headTail struct {
	max   int
	total int64
	lines int
	first []byte
	last  []byte
	// errorLines finds the lines that look like errors. It may be nil.
	alarms *errorLines
}

func (w *headTail) Write(p []byte) (int, error) {
	n := len(p)
	w.total += int64(n)
	w.lines += bytes.Count(p, []byte{'\n'})
	if w.alarms != nil {
		w.alarms.Write(p) // ok: it never fails
	}
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

// preview returns the beginning and, if the shape has a tail, the end.
func (w *headTail) preview(s shape) string {
	first := cutHead(w.head(), s.head)
	if s.tail == 0 {
		return "\nIt begins:\n" + fold(first)
	}
	last := cutTail(w.tail(), s.tail)
	from := strings.Count(first, "\n")
	omitted := max(0, w.lines-from-strings.Count(last, "\n"))
	return fmt.Sprintf("\nIt begins:\n%s\n[... incomplete: %d lines are left out here%s ...]\nIt ends:\n%s", fold(first), omitted, w.alarms.within(from+1, from+omitted), fold(last))
}

// minFold is the number of repetitions of a line from which they are folded.
const minFold = 3

// fold replaces repetitions of a line with their count.
func fold(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		line := s[:strings.IndexByte(s, '\n')+1]
		if line == "" { // after the final newline
			line = s
		}
		s = s[len(line):]
		b.WriteString(line)
		n := 0
		for strings.HasPrefix(s[n*len(line):], line) {
			n++
		}
		if n < minFold || strings.TrimSpace(line) == "" {
			continue
		}
		fmt.Fprintf(&b, "[... the same line %d more times ...]\n", n)
		s = s[n*len(line):]
	}
	return b.String()
}

func (w *headTail) head() string { return strings.ToValidUTF8(string(w.first), "\uFFFD") }
func (w *headTail) tail() string {
	return strings.ToValidUTF8(string(w.last[max(0, len(w.last)-w.max):]), "\uFFFD")
}

// cutHead returns the first max characters of s, ending at a line end if that keeps most of
// them.
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

// cutTail returns the last max characters of s, beginning after a line end if that keeps most
// of them.
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
		c.Close() // ok: its content has been copied or is not needed
	}
}
