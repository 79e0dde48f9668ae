// Package textfile reads ranges of lines out of text files of any size in bounded memory. It knows
// encodings and line endings; which files may be read, and how lines are shown, is left to others.
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

	"adze/internal/platform/latin"
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
	// blockSize is how much is read at once: enough that the calls do not count, little enough that
	// the block is still in the cache when its lines are counted.
	blockSize = 256 << 10
)

// ErrBinary says that a file is not text.
var ErrBinary = errors.New("the file is not text: it contains null bytes")

// ErrChanging says that a file was written to while it was read.
var ErrChanging = errors.New("the file is changing while it is read: try again")

// A SizeError says that a range holds more than was asked for at most.
type SizeError struct {
	Bytes, Max int
	// Lines is how many lines the range has, and Total the file. AtLeast says that there may be more of both.
	Lines, Total int
	AtLeast      bool
	// Longest is the number of the longest line in the range, LongestBytes its size.
	Longest, LongestBytes int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the text has %d bytes, and at most %d are read", e.Bytes, e.Max)
}

// A Range is what to read of a file.
type Range struct {
	First int // the first line, from 1
	Count int // how many lines; 0 means all
	// MaxBytes bounds the lines, each with one byte for its end; 0 means no limit. A range that holds
	// more is a [SizeError], or, with Truncate, is cut after the last line that fits.
	MaxBytes int
	Truncate bool
	// MaxLine is how many characters are kept of a line; 0 means that only memory bounds it.
	MaxLine int
}

// A Text is a range of a file's lines.
type Text struct {
	Lines []string // without their ends
	Bytes int      // of Lines, with one byte for each line end
	// Total is how many lines the file has, or at least has if AtLeast is set.
	Total   int
	AtLeast bool
	// Truncated says that the range has more lines than MaxBytes allows.
	Truncated bool
	// Invalid says that a line was not valid in the file's encoding and holds U+FFFD instead.
	Invalid bool
	// Latin reports that the file is in Windows-1252 or Latin-1.
	Latin bool
	// Cut are the numbers of the lines of which only the beginning is there.
	Cut []int
}

// A File is a range of a file's lines with what they were taken from.
type File struct {
	Text
	// Data are the bytes of the whole file, as they are on disk; nil if it was too large to hold.
	Data []byte
	// Info describes the version that was read; nil if the file changed meanwhile.
	Info fs.FileInfo
}

// A Source is a file that is open for reading, such as an *os.File.
type Source interface {
	io.ReadSeeker
	Stat() (fs.FileInfo, error)
}

// Read reads a range of f, from its beginning. A file of up to 10 MB is read at once, and is of one
// version; a larger one passes by in blocks.
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
		// Some files, such as those of /proc, are longer than they say.
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

// stream reads a range of src, the content of f.
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

// readUpTo reads all of src, but no more than limit bytes. The size is what src is said to hold.
func readUpTo(src io.Reader, size, limit int) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := buf.ReadFrom(io.LimitReader(src, int64(limit)))
	return buf.Bytes(), err
}

// Cut takes a range out of data, with the result that [Scan] has for the same bytes.
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

// cutAll is the short way for most files: all of the lines, and nothing to mend in them. They share the
// memory of text.
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

// Scan reads a range of what src yields, in memory bounded by the range's. A byte order mark at the
// start is dropped, and so is one CR before a line's LF.
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

// sniff tells from the beginning of a file how it is encoded: nil means UTF-8.
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
