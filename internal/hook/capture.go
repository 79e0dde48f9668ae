package hook

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"adze/internal/platform/osproc"
)

const (
	// maxText is how many characters of a hook's output go anywhere; a longer one goes into a file.
	maxText = 50_000
	// preview is how many characters are shown instead.
	preview = 2_000
	// maxJSON bounds the output that is read as JSON, maxOutput all that a hook may print; in bytes.
	maxJSON   = 10 << 20
	maxOutput = 256 << 20
)

// Results keeps output that is too long to be passed on.
type Results interface {
	// SaveResult stores what r yields and returns where.
	SaveResult(id, ext string, r io.Reader) (path string, n int64, err error)
}

// A capture is one stream of a hook's output.
type capture struct{ *osproc.Spool }

func newCapture() capture { return capture{osproc.NewSpool("", maxJSON, maxOutput)} }

// captured returns text that did not come from a process.
func captured(text []byte) capture {
	c := newCapture()
	c.Write(text) // ok: what does not fit is no answer
	return c
}

// json returns the output if it begins like an object. One that is too long to be read is cut off, and
// so is no JSON.
func (c capture) json() ([]byte, bool) {
	head := bytes.TrimSpace(c.Head(maxJSON))
	return head, bytes.HasPrefix(head, []byte("{"))
}

// text returns the output for users and models, without surrounding white space. What is too long is
// saved and previewed.
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

// bounded is text for texts that a hook put into its JSON.
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

// A watcher hands the first complete line to notice as soon as it has arrived, and everything to w.
type watcher struct {
	w      io.Writer
	notice func(line []byte)
	line   []byte
	done   bool
}

// maxFirstLine bounds the line that is looked at.
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
