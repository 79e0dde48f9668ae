// Package textfile reads ranges of lines out of text files of any size in bounded memory. It knows
// encodings and line endings; which files may be read, and how lines are shown, is left to others.
package textfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

const (
	// wholeBelow is the size up to which a file is read at once: its lines are then of one version.
	wholeBelow = 10 << 20
	// maxLine bounds what is kept of one line, so that a minified file cannot exhaust memory.
	maxLine = 1 << 20
	// maxCount is how far past the range lines are counted.
	maxCount = 1 << 30
	// sniffed is how many bytes are looked at to tell text from anything else.
	sniffed = 8 << 10
)

// ErrBinary says that a file is not text.
var ErrBinary = errors.New("the file is not text: it contains null bytes")

// ErrChanging says that a file was written to while it was read.
var ErrChanging = errors.New("the file is changing while it is read: try again")

// A Range is what to read of a file.
type Range struct {
	First    int // the first line, from 1
	Count    int // how many lines; 0 means all
	MaxBytes int // keep no more than this; 0 means no limit
}

// A Text is a range of a file's lines.
type Text struct {
	// Lines are without their ends. There are none if the range holds more than MaxBytes: then Bytes
	// says how much it holds.
	Lines []string
	Bytes int // of the lines in the range, with one byte for each line end
	// Total is how many lines the file has, or at least has if AtLeast is set.
	Total   int
	AtLeast bool
	// Invalid says that a line was not valid in the file's encoding and holds U+FFFD instead.
	Invalid bool
}

// Read reads a range of the regular file f, from its beginning.
func Read(ctx context.Context, f *os.File, r Range) (Text, error) {
	for range 2 {
		before, err := f.Stat()
		if err != nil {
			return Text{}, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return Text{}, err
		}
		if before.Size() >= wholeBelow {
			return Scan(ctx, f, r)
		}
		// Some files, such as those of /proc, are longer than they say.
		data, err := io.ReadAll(io.LimitReader(f, wholeBelow))
		if err != nil {
			return Text{}, err
		}
		if len(data) == wholeBelow {
			return Scan(ctx, io.MultiReader(bytes.NewReader(data), f), r)
		}
		after, err := f.Stat()
		if err != nil {
			return Text{}, err
		}
		if after.Size() == before.Size() && after.ModTime().Equal(before.ModTime()) {
			return Scan(ctx, bytes.NewReader(data), r)
		}
	}
	return Text{}, ErrChanging
}

// Scan reads a range of what src yields, in memory bounded by the range's. A byte order mark at the
// start is dropped, and so is one CR before a line's LF.
func Scan(ctx context.Context, src io.Reader, r Range) (Text, error) {
	in := bufio.NewReaderSize(src, 64<<10)
	head, err := in.Peek(sniffed)
	if err != nil && err != io.EOF {
		return Text{}, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		in = bufio.NewReaderSize(newUTF16(in, littleEndian), 64<<10)
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		in = bufio.NewReaderSize(newUTF16(in, bigEndian), 64<<10)
	case bytes.IndexByte(head, 0) >= 0:
		return Text{}, ErrBinary
	}
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		in.Discard(3) // ok: they were just seen
	}
	s := scanner{Range: r}
	for {
		if err := ctx.Err(); err != nil {
			return Text{}, err
		}
		chunk, err := in.ReadSlice('\n')
		s.add(chunk)
		if err == io.EOF {
			s.end()
			return s.text, nil
		}
		if err != nil && err != bufio.ErrBufferFull {
			return Text{}, err
		}
		if s.past > maxCount {
			s.text.AtLeast = true
			return s.text, nil
		}
	}
}

// A scanner collects lines from chunks that end at a LF or anywhere.
type scanner struct {
	Range
	text Text
	line []byte // what is kept of the line being read
	size int    // of that line so far
	past int    // bytes seen after the range
}

func (s *scanner) inside() bool {
	n := s.text.Total + 1
	return n >= s.First && (s.Count == 0 || n-s.First < s.Count)
}

func (s *scanner) add(chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	s.size += len(chunk)
	if s.inside() {
		// Two more than the limit, so that a line that fits is not cut for its end.
		if room := maxLine + 2 - len(s.line); room > 0 {
			s.line = append(s.line, chunk[:min(room, len(chunk))]...)
		}
	} else if s.text.Total+1 > s.First {
		s.past += len(chunk)
	}
	if chunk[len(chunk)-1] == '\n' {
		s.finish(true)
	}
}

// end takes what follows the last LF as a line.
func (s *scanner) end() {
	if s.size > 0 {
		s.finish(false)
	}
}

func (s *scanner) finish(terminated bool) {
	if s.inside() {
		s.keep(terminated)
	}
	s.text.Total++
	s.line, s.size = s.line[:0], 0
}

func (s *scanner) keep(terminated bool) {
	line, size := s.line, s.size
	if terminated {
		size--
		line = bytes.TrimSuffix(line, []byte("\n"))
		if bytes.HasSuffix(line, []byte("\r")) && len(line) == size {
			size--
			line = line[:size]
		}
	}
	kept := string(line)
	if size > maxLine {
		kept = cut(line[:maxLine]) + fmt.Sprintf("… [line cut: %d of %d bytes shown]", maxLine, size)
	}
	if !utf8.ValidString(kept) {
		kept = strings.ToValidUTF8(kept, "\uFFFD")
		s.text.Invalid = true
	}
	s.text.Bytes += len(kept) + 1
	if s.MaxBytes > 0 && s.text.Bytes > s.MaxBytes {
		s.text.Lines = nil
		return
	}
	s.text.Lines = append(s.text.Lines, kept)
}

// cut returns line without the beginning of a character whose end was cut off.
func cut(line []byte) string {
	for i := 1; i < utf8.UTFMax && i <= len(line); i++ {
		if tail := line[len(line)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				line = line[:len(line)-i]
			}
			break
		}
	}
	return string(line)
}
