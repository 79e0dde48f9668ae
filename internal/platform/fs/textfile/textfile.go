// Package textfile reads ranges of lines from text files of any size in bounded memory. It
// handles encodings and line endings.
package textfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/text/latin"
)

const (
	// wholeBelow is the size up to which a file is read in one go, so that its lines are from
	// the same version.
	wholeBelow = 10 << 20
	// maxLine limits how much of a line is kept, so that a minified file cannot exhaust memory.
	maxLine = 1 << 20
	// maxCount limits how far past the range lines are counted, in bytes.
	maxCount = 1 << 30
	// sniffed is how many bytes are examined to detect binary files and the encoding.
	sniffed = 8 << 10
	// blockSize is the read size: large enough to make the cost of calls negligible, small
	// enough that the block is still in the CPU cache when its lines are counted.
	blockSize = 256 << 10
)

// ErrBinary means that a file is not text.
var ErrBinary = errors.New("the file is not text: it contains null bytes")

// ErrChanging means that a file was modified while it was read.
var ErrChanging = errors.New("the file is changing while it is read: try again")

// A SizeError means that a range exceeds MaxBytes.
type SizeError struct {
	Bytes, Max int
	// Lines is the number of lines in the range and Total in the file. If AtLeast is set, both
	// are lower bounds.
	Lines, Total int
	AtLeast      bool
	// Longest is the number of the longest line in the range. LongestBytes is its size.
	Longest, LongestBytes int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the text has %d bytes, and at most %d are read", e.Bytes, e.Max)
}

// A Range specifies the lines to read.
type Range struct {
	First int // first line, from 1
	Count int // number of lines; 0 means all
	// MaxBytes limits the size of the lines, counting one byte per line ending; 0 means no
	// limit. A larger range is a [SizeError] or, if Truncate is set, cut after the last line
	// that fits.
	MaxBytes int
	Truncate bool
	// MaxLine limits the length of a line, in characters; 0 means limited only by memory.
	MaxLine int
}

// A Text is a range of a file's lines.
type Text struct {
	Lines []string // line endings removed
	Bytes int      // size of Lines, counting one byte per line ending
	// Total is the number of lines in the file, or a lower bound if AtLeast is set.
	Total   int
	AtLeast bool
	// Truncated means that the range was cut because of MaxBytes.
	Truncated bool
	// Invalid means that a line was not valid in the file's encoding and contains U+FFFD
	// instead.
	Invalid bool
	// Latin means that the file is in Windows-1252 or Latin-1.
	Latin bool
	// Cut lists the numbers of truncated lines.
	Cut []int
}

// A File is a range of a file's lines with information about the file.
type File struct {
	Text
	// Data is the content of the whole file as on disk, or nil if it is too large.
	Data []byte
	// Info describes the version that was read, or is nil if the file changed while it was
	// read.
	Info fs.FileInfo
}

// A Source is a file open for reading, such as an *os.File.
type Source interface {
	io.ReadSeeker
	Stat() (fs.FileInfo, error)
}

// Read reads a range of f, starting at its beginning. A file of up to 10 MB is read in one go,
// so the result is consistent. A larger one is read in blocks.
func Read(ctx context.Context, f Source, r Range) (File, error) {
	for range 2 {
		before, err := f.Stat()
		if err != nil {
			return File{}, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return File{}, err
		}
		if before.Size() >= wholeBelow {
			return stream(ctx, f, f, before, r)
		}
		// Some files, such as in /proc, are larger than their reported size.
		data, err := readUpTo(f, int(before.Size()), wholeBelow)
		if err != nil {
			return File{}, err
		}
		if len(data) == wholeBelow {
			return stream(ctx, io.MultiReader(bytes.NewReader(data), f), f, before, r)
		}
		after, err := f.Stat()
		if err != nil {
			return File{}, err
		}
		if same(before, after) {
			shown, decoded := data, latin.Is(data)
			if decoded {
				shown = []byte(latin.Decode(data))
			}
			text, err := Cut(ctx, shown, r)
			text.Latin = decoded
			return File{Text: text, Data: data, Info: after}, err
		}
	}
	return File{}, ErrChanging
}

// stream reads a range of src, which is the content of f.
func stream(ctx context.Context, src io.Reader, f Source, before fs.FileInfo, r Range) (File, error) {
	text, err := Scan(ctx, src, r)
	if err != nil {
		return File{}, err
	}
	file := File{Text: text}
	if after, err := f.Stat(); err == nil && same(before, after) {
		file.Info = after
	}
	return file, nil
}

func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// readUpTo reads up to limit bytes from src. size is the expected size.
func readUpTo(src io.Reader, size, limit int) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := buf.ReadFrom(io.LimitReader(src, int64(limit)))
	return buf.Bytes(), err
}

// Cut reads a range from data, with the same result as [Scan].
func Cut(ctx context.Context, data []byte, r Range) (Text, error) {
	order, err := sniff(data[:min(len(data), sniffed)])
	if err != nil {
		return Text{}, err
	}
	if order != nil {
		return Scan(ctx, bytes.NewReader(data), r)
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if r.First == 1 && r.Count == 0 && len(data) <= maxLine && utf8.Valid(data) {
		text := cutAll(string(data))
		long := r.MaxLine > 0 && slices.ContainsFunc(text.Lines, func(line string) bool { return len(line) > r.MaxLine })
		if !long && (r.MaxBytes == 0 || text.Bytes <= r.MaxBytes) {
			return text, nil
		}
	}
	s := scanner{Range: r}
	s.feed(data)
	return s.finish()
}

// cutAll is the fast path for most files: all lines are wanted and need no changes. The lines
// share memory with text.
func cutAll(text string) Text {
	if text == "" {
		return Text{}
	}
	body, ended := strings.CutSuffix(text, "\n")
	t := Text{Lines: strings.Split(body, "\n")}
	t.Total = len(t.Lines)
	for i, line := range t.Lines {
		if ended || i < t.Total-1 {
			line = strings.TrimSuffix(line, "\r")
			t.Lines[i] = line
		}
		t.Bytes += len(line) + 1
	}
	return t
}

// Scan reads a range from src. Its memory use is bounded by the size of the range. It removes a
// byte order mark at the start and one CR before each LF.
func Scan(ctx context.Context, src io.Reader, r Range) (Text, error) {
	block := make([]byte, blockSize)
	n, err := io.ReadFull(src, block[:sniffed])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return Text{}, err
	}
	head := block[:n]
	order, err := sniff(head)
	if err != nil {
		return Text{}, err
	}
	s := scanner{Range: r}
	if order != nil {
		src = newUTF16(io.MultiReader(bytes.NewReader(bytes.Clone(head[2:])), src), order)
	} else {
		s.feed(bytes.TrimPrefix(head, []byte(byteOrderMark)))
	}
	for !s.stop {
		if err := ctx.Err(); err != nil {
			return Text{}, err
		}
		n, err := src.Read(block)
		s.feed(block[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return Text{}, err
		}
	}
	return s.finish()
}

const byteOrderMark = "\ufeff"

// sniff detects the encoding from the beginning of a file. A nil byteOrder means UTF-8.
func sniff(head []byte) (byteOrder, error) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return littleEndian, nil
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return bigEndian, nil
	case bytes.IndexByte(head, 0) >= 0:
		return nil, ErrBinary
	}
	return nil, nil
}
