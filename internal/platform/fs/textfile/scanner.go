package textfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A scanner collects the lines of a range from blocks with arbitrary boundaries. Lines outside
// the range are counted, but not processed individually.
type scanner struct {
	Range
	text Text
	full bool   // the range exceeds MaxBytes, so nothing more is kept
	line []byte // kept part of a line that began in an earlier block
	size int    // size of that line so far
	last byte   // last byte of that line so far
	past int    // bytes seen after the kept part
	open bool   // the last line is not terminated yet
	cut  bool   // the last kept line is truncated
	stop bool   // counted enough

	lines         int // number of lines in the range
	longest, most int // number and size of the longest line in the range
}

// feed processes the next block.
func (s *scanner) feed(block []byte) {
	if skip := s.First - 1 - s.text.Total; skip > 0 {
		block = s.skip(block, skip)
	}
	for len(block) > 0 && s.inside() {
		end := bytes.IndexByte(block, '\n')
		if end < 0 {
			s.begin(block)
			return
		}
		s.take(block[:end])
		block = block[end+1:]
	}
	s.count(block)
}

// inside reports whether the next line must be processed. Lines that do not fit are only
// processed to measure them.
func (s *scanner) inside() bool {
	n := s.text.Total + 1
	return !s.stop && !(s.full && s.Truncate) && n >= s.First && (s.Count == 0 || n-s.First < s.Count)
}

// skip skips n lines and returns the rest of the block.
func (s *scanner) skip(block []byte, n int) []byte {
	// Counting is many times faster than finding, so only the piece with the n-th line break is
	// searched.
	for len(block) > 0 && n > 0 {
		piece := block[:min(len(block), 4<<10)]
		lines := bytes.Count(piece, newline)
		if lines >= n {
			piece = piece[:nth(piece, n)]
			lines = n
		}
		n -= lines
		s.text.Total += lines
		s.open = piece[len(piece)-1] != '\n'
		block = block[len(piece):]
	}
	return block
}

// nth returns the length of the first n lines of block, which must have that many.
func nth(block []byte, n int) int {
	end := 0
	for range n {
		end += bytes.IndexByte(block[end:], '\n') + 1
	}
	return end
}

var newline = []byte{'\n'}

// count counts the lines after the range.
func (s *scanner) count(block []byte) {
	if len(block) == 0 || s.stop {
		return
	}
	if room := maxCount - s.past; len(block) > room {
		block, s.stop = block[:room], true
	}
	s.past += len(block)
	s.text.Total += bytes.Count(block, newline)
	s.open = len(block) > 0 && block[len(block)-1] != '\n'
}

// begin keeps a block's part of a line that continues in the next block.
func (s *scanner) begin(part []byte) {
	if len(part) == 0 {
		return
	}
	s.size += len(part)
	s.last = part[len(part)-1]
	s.open = true
	// One more than the limit, so that a line that fits is not truncated because of its CR.
	if room := maxLine + 1 - len(s.line); room > 0 && !s.full {
		s.line = append(s.line, part[:min(room, len(part))]...)
	}
}

// take processes the rest of a line that ends with LF.
func (s *scanner) take(rest []byte) {
	line, size := rest, len(rest)
	if s.open {
		s.begin(rest)
		line, size = s.line, s.size
	} else if size > 0 {
		s.last = rest[size-1]
	}
	if size > 0 && s.last == '\r' {
		size--
		line = line[:min(size, len(line))]
	}
	s.keep(line, size)
}

// keep adds a line of size bytes. line holds as much of it as is needed.
func (s *scanner) keep(line []byte, size int) {
	s.text.Total++
	s.lines++
	if size > s.most {
		s.longest, s.most = s.text.Total, size
	}
	s.line, s.size, s.open = s.line[:0], 0, false
	if s.full {
		s.text.Bytes += min(size, s.maxLine()) + 1
		s.past += size + 1
		s.stop = s.past > maxCount
		return
	}
	kept, valid := s.shown(line, size)
	bytes := s.text.Bytes + len(kept) + 1
	if s.MaxBytes > 0 && bytes > s.MaxBytes {
		s.full = true
		if !s.Truncate {
			s.text.Bytes, s.text.Lines = bytes, nil
		}
		return
	}
	s.text.Bytes = bytes
	s.text.Lines = append(s.text.Lines, kept)
	if s.cut {
		s.text.Cut = append(s.text.Cut, s.text.Total)
	}
	s.text.Invalid = s.text.Invalid || !valid
}

// maxLine returns the maximum number of bytes kept per line.
func (s *scanner) maxLine() int {
	if s.MaxLine > 0 {
		return min(maxLine, s.MaxLine*utf8.UTFMax)
	}
	return maxLine
}

// shown returns a line as valid UTF-8 of limited length.
func (s *scanner) shown(line []byte, size int) (kept string, valid bool) {
	s.cut = size > maxLine
	switch {
	case s.MaxLine > 0 && size > s.MaxLine:
		end, n := 0, 0
		for ; end < len(line) && n < s.MaxLine; n++ {
			_, width := utf8.DecodeRune(line[end:])
			end += width
		}
		if s.cut = end < len(line); s.cut {
			all := utf8.RuneCount(line)
			if size > len(line) {
				all += size - len(line)
			}
			kept = string(line[:end]) + fmt.Sprintf("… [%d of %d characters]", n, all)
		} else {
			kept = string(line)
		}
	case s.cut:
		kept = cut(line[:maxLine]) + fmt.Sprintf("… [line cut: %d of %d bytes shown]", maxLine, size)
	default:
		kept = string(line)
	}
	if utf8.ValidString(kept) {
		return kept, true
	}
	return strings.ToValidUTF8(kept, "\uFFFD"), false
}

// finish treats the text after the last LF as a line and returns the result.
func (s *scanner) finish() (Text, error) {
	switch {
	case s.stop:
		s.text.AtLeast = true
	case s.open && s.inside():
		s.keep(s.line, s.size)
	case s.open:
		s.text.Total++
	}
	if s.full && !s.Truncate {
		return Text{}, &SizeError{
			Bytes: s.text.Bytes, Max: s.MaxBytes,
			Lines: s.lines, Total: s.text.Total, AtLeast: s.stop, Longest: s.longest, LongestBytes: s.most,
		}
	}
	s.text.Truncated = s.full
	return s.text, nil
}

// cut removes an incomplete character from the end of line.
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
