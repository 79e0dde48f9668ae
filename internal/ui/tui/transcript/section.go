package transcript

import (
	"bytes"
	"io"
	"os"
	"strings"

	"adze/internal/platform/proc/shelf"
	"adze/internal/ui/draw"
)

// A section provides rows by index.
type section interface {
	Len() int
	Row(i int) draw.Row
}

// rowsOf is a section of drawn rows.
type rowsOf []draw.Row

func (r rowsOf) Len() int           { return len(r) }
func (r rowsOf) Row(i int) draw.Row { return r[i] }

func sections(rows []draw.Row) []section { return []section{rowsOf(rows)} }

// lines is a section that holds a text, indented by two cells.
type lines struct {
	text   string
	role   draw.Role
	starts []int // line start offsets
}

// Len returns the number of lines.
func (l *lines) Len() int {
	if l.starts == nil {
		l.text = strings.TrimRight(l.text, "\n")
		l.starts = []int{}
		for at := 0; l.text != "" && at >= 0; {
			l.starts = append(l.starts, at)
			next := strings.IndexByte(l.text[at:], '\n')
			if next < 0 {
				break
			}
			at += next + 1
		}
	}
	return len(l.starts)
}

// Row returns a line.
func (l *lines) Row(i int) draw.Row {
	end := len(l.text)
	if i+1 < l.Len() {
		end = l.starts[i+1] - 1
	}
	return inside(l.role, l.text[l.starts[i]:end])
}

// inside returns a line indented by two cells.
func inside(role draw.Role, line string) draw.Row {
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return nil
	}
	return draw.Row{{Text: "  "}, {Role: role, Text: line}}
}

// shelvedLines holds lines on a shelf. They are fetched when they are read.
type shelvedLines struct {
	lines
	text  shelf.Text
	count int
}

// stow moves lines to a shelf.
func stow(s *shelf.Shelf, text string, role draw.Role) *shelvedLines {
	l := lines{text: text, role: role}
	n := l.Len()
	return &shelvedLines{lines: lines{role: role}, text: s.Put(l.text), count: n}
}

// section loads the lines from the shelf.
func (s *shelvedLines) section() section {
	read := *s
	return &read
}

// Len returns the number of lines.
func (s *shelvedLines) Len() int { return s.count }

// Row returns a line.
func (s *shelvedLines) Row(i int) draw.Row {
	if s.lines.text == "" {
		s.lines.text = s.text.String()
		s.lines.Len()
	}
	return s.lines.Row(i)
}

// A file is a section backed by a file, indented by two cells. Only some lines are held in
// memory. If the file has changed or is gone, there are fewer lines.
type file struct {
	path   string
	marks  []int64 // offset of every [stride]th line
	count  int     // total number of lines; 0 means not read
	err    error
	loaded int // index of the loaded stretch of lines
	lines  [][]byte
}

const (
	stride = 256
	// maxStretch is the maximum number of bytes read for a stretch of lines.
	maxStretch = 4 << 20
)

// Len returns the number of lines.
func (f *file) Len() int {
	if f.count == 0 {
		f.loaded = -1
		if f.err = f.scan(); f.err != nil || f.count == 0 {
			f.count = 1 // one line for the error
		}
	}
	return f.count
}

// scan counts the lines and records the offsets of some of them.
func (f *file) scan() error {
	r, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer r.Close()
	f.marks = []int64{0}
	buf := make([]byte, 64<<10)
	last := byte('\n')
	for at := int64(0); ; {
		n, err := r.Read(buf)
		for i := 0; i < n; {
			next := bytes.IndexByte(buf[i:n], '\n')
			if next < 0 {
				break
			}
			i += next + 1
			if f.count++; f.count%stride == 0 {
				f.marks = append(f.marks, at+int64(i))
			}
		}
		if n > 0 {
			last = buf[n-1]
		}
		at += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if last != '\n' {
		f.count++
	}
	return nil
}

// Row returns a line.
func (f *file) Row(i int) draw.Row {
	f.Len()
	if f.err == nil && f.loaded != i/stride {
		f.err = f.load(i / stride)
	}
	switch at := i % stride; {
	case f.err != nil:
		return draw.Line(draw.Faint, "  The output cannot be read: "+f.err.Error())
	case at < len(f.lines):
		return inside(draw.Text, string(f.lines[at]))
	}
	return nil
}

// load reads a stretch of lines.
func (f *file) load(n int) error {
	r, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer r.Close()
	size := int64(maxStretch)
	if n+1 < len(f.marks) {
		size = min(size, f.marks[n+1]-f.marks[n])
	}
	text, err := io.ReadAll(io.NewSectionReader(r, f.marks[n], size))
	if err != nil {
		return err
	}
	f.loaded, f.lines = n, bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	return nil
}
