package hook

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"adze/internal/platform/proc/osproc"
)

const (
	// maxText is the maximum length in characters of a hook's output passed on; a longer one
	// goes into a file.
	maxText = 50_000
	// preview is the number of characters shown instead.
	preview = 2_000
	// maxJSON limits the output parsed as JSON, maxOutput a hook's whole output; in bytes.
	maxJSON   = 10 << 20
	maxOutput = 256 << 20
)

// Results saves output that is too long to be passed on.
type Results interface {
	// SaveResult saves the data in r and returns its path.
	SaveResult(id, ext string, r io.Reader) (path string, n int64, err error)
}

// A capture is a stream of a hook's output.
type capture struct{ *osproc.Spool }

func newCapture() capture { return capture{osproc.NewSpool("", maxJSON, maxOutput)} }

// captured returns a capture for text that did not come from a process.
func captured(text []byte) capture {
	c := newCapture()
	c.Write(text) // ok: an oversized text is not an answer
	return c
}

// json returns the output if it starts like an object. Oversized output is truncated, and
// therefore invalid JSON.
func (c capture) json() ([]byte, bool) {
	head := bytes.TrimSpace(c.Head(maxJSON))
	return head, bytes.HasPrefix(head, []byte("{"))
}

// text returns the output for users and models, without surrounding white space. Overlong
// output is saved and previewed.
func (c capture) text(id string, keep Results) string {
	head := c.Head(maxText * utf8.UTFMax)
	if c.Size() == int64(len(head)) {
		if head = bytes.TrimSpace(head); utf8.RuneCount(head) <= maxText {
			return string(bytes.ToValidUTF8(head, []byte("�")))
		}
	}
	start := firstRunes(string(bytes.ToValidUTF8(head, []byte("�"))), preview)
	where := "and was not kept"
	if r, err := c.Open(); err == nil && keep != nil {
		path, _, err := keep.SaveResult(id, ".txt", r)
		r.Close() // ok: it was read
		if err == nil {
			where = "and was saved to " + path
		}
	}
	return fmt.Sprintf("%s\n[The output of the hook is %d bytes long %s.]", start, c.Size(), where)
}

// bounded is like text, for strings in a hook's JSON.
func bounded(s, id string, keep Results) string {
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	c := captured([]byte(s))
	defer c.Close()
	return c.text(id, keep)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// A watcher passes the first complete line to notice as soon as it has arrived, and everything
// to w.
type watcher struct {
	w      io.Writer
	notice func(line []byte)
	line   []byte
	done   bool
}

// maxFirstLine limits the length of that line.
const maxFirstLine = 4096

func (w *watcher) Write(p []byte) (int, error) {
	if !w.done {
		w.look(p)
	}
	return w.w.Write(p)
}

func (w *watcher) look(p []byte) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		w.done = true
		w.notice(append(w.line, p[:i]...))
	} else if w.line = append(w.line, p...); len(w.line) > maxFirstLine {
		w.done = true
	}
}
