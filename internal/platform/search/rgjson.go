package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"adze/internal/platform/search/scan"
)

// An rgRun parses ripgrep's output: one line of JSON per message.
type rgRun struct {
	*worker
	program ripgrep
	rels    []string   // files that ripgrep searches
	files   []*os.File // the same files, open
	current *os.File

	rest      []byte       // incomplete line
	complaint bytes.Buffer // output that is not JSON
	err       error

	last  int64 // last line number of the file
	lines int64 // number of matching lines in the file
	full  bool  // no more lines of the file are needed
}

// A message is one line of ripgrep's output.
type message struct {
	Type string `json:"type"`
	Data struct {
		Path       rgText `json:"path"`
		Lines      rgText `json:"lines"`
		Number     *int64 `json:"line_number"`
		Submatches []struct {
			Start int `json:"start"`
			End   int `json:"end"`
		} `json:"submatches"`
	} `json:"data"`
}

// An rgText is text, or bytes that are not valid text.
type rgText struct {
	Text  string `json:"text"`
	Bytes []byte `json:"bytes"`
}

func (t rgText) bytes() []byte {
	if t.Bytes != nil {
		return t.Bytes
	}
	return []byte(t.Text)
}

const maxComplaint = 4 << 10

// Write receives ripgrep's output. It fails when no more output is needed.
func (r *rgRun) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			r.rest = append(r.rest, p...)
			return n, nil
		}
		line := p[:i]
		if len(r.rest) > 0 {
			r.rest = append(r.rest, line...)
			line = r.rest
		}
		if r.err == nil {
			r.err = r.message(line)
		}
		r.rest = r.rest[:0]
		p = p[i+1:]
	}
}

func (r *rgRun) message(line []byte) error {
	if len(line) == 0 || line[0] != '{' {
		if r.complaint.Len() < maxComplaint {
			r.complaint.Write(line)
			r.complaint.WriteByte('\n')
		}
		return nil
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return &ripgrepError{fmt.Sprintf("reading ripgrep's output: %v", err)}
	}
	switch m.Type {
	case "begin":
		return r.file(string(m.Data.Path.bytes()))
	case "match", "context":
		r.take(&m)
	case "end":
		r.end()
	}
	return nil
}

// file starts a file.
func (r *rgRun) file(path string) error {
	i, err := strconv.Atoi(strings.TrimPrefix(path, inherited))
	if i -= 3; byName {
		i, err = slices.IndexFunc(r.rels, func(rel string) bool { return Join(r.tree.real, rel) == path }), nil
	}
	if err != nil || i < 0 || i >= len(r.rels) {
		return &ripgrepError{fmt.Sprintf("ripgrep searched %q, which it was not given", path)}
	}
	r.current = r.files[i]
	r.start(r.rels[i])
	r.again = func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(r.current, 0, math.MaxInt64)), nil
	}
	r.last, r.lines, r.full = 0, 0, false
	return nil
}

// take passes the lines of a message to the worker, one by one.
func (r *rgRun) take(m *message) {
	text := bytes.TrimSuffix(m.Data.Lines.bytes(), []byte{'\n'})
	number, at := r.last+1, 0
	if m.Data.Number != nil {
		number = *m.Data.Number
	}
	match := m.Type == "match"
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		l := scan.Line{Number: number, Text: line, Match: match, Gap: r.last > 0 && number > r.last+1}
		for _, sub := range m.Data.Submatches {
			start, end := max(sub.Start-at, 0), min(sub.End-at, len(line))
			if start < end {
				l.Spans = append(l.Spans, scan.Span{Start: start, End: end})
			}
		}
		if match {
			r.lines++
		}
		if r.Mode == Content && !r.full {
			r.full = !r.line(&l)
		}
		r.last = number
		number++
		at += len(line) + 1
	}
}

// end finishes a file. A file that contains a null byte is binary, for both engines.
func (r *rgRun) end() {
	switch {
	case r.lines == 0:
		return
	case r.binary, !r.checked && r.holdsNull():
		r.found.addBinary()
		return
	}
	r.item.Lines = r.lines
	if r.Mode == Files {
		if info, err := r.current.Stat(); err == nil {
			r.item.Modified = info.ModTime().UnixNano()
		}
	}
	r.finish()
}
