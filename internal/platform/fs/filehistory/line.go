package filehistory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
)

// sumForm is the end of a line: the checksum of everything before it.
const (
	sumForm = `,"sum":"%08x"}`
	sumSize = len(`,"sum":"00000000"}`)
)

// encode appends the line of a record to dst. Numbered records get a checksum.
func encode(dst []byte, r record) ([]byte, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return dst, err
	}
	if r.Number > 0 {
		line = line[:len(line)-1]
		line = fmt.Appendf(line, sumForm, crc32.ChecksumIEEE(line))
	}
	return append(append(dst, line...), '\n'), nil
}

// encodeAll returns the lines of records, numbered from last+1.
func encodeAll(records []record, last int64) (lines []byte, err error) {
	for i, r := range records {
		r.Number = last + 1 + int64(i)
		if lines, err = encode(lines, r); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// decode decodes a line. A numbered record must have a valid checksum.
func decode(line []byte, r *record) error {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if err := json.Unmarshal(line, r); err != nil {
		return err
	}
	if r.Number == 0 {
		return nil
	}
	text := max(0, len(line)-sumSize)
	if string(line[text:]) != fmt.Sprintf(sumForm, crc32.ChecksumIEEE(line[:text])) {
		return errors.New("unexpected content")
	}
	return nil
}

// pathsIn yields the files named in an unreadable line.
func pathsIn(line []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for more := true; more; {
			if _, line, more = bytes.Cut(line, []byte(`"path":`)); !more {
				return
			}
			var path string
			if json.NewDecoder(bytes.NewReader(line)).Decode(&path) == nil {
				more = yield(path)
			}
		}
	}
}

// A sequence tracks the record numbers of an index. A missing number means a lost record. An
// index may begin with unnumbered records, which count from 1.
type sequence struct {
	last     int64   // number of the last record
	numbered bool    // the last record had a number
	bad      int64   // number of unreadable lines after it
	gaps     []int64 // first missing number of each gap, ascending
}

// next adds the number of the next readable record, 0 if it has none. It reports whether the
// record belongs to the sequence.
func (q *sequence) next(number int64) bool {
	switch {
	case number == 0 && q.numbered, number != 0 && number <= q.last:
		return false
	case number == 0:
		number = q.last + q.bad + 1
	default:
		q.numbered = true
	}
	if number > q.last+1 {
		q.gaps = append(q.gaps, q.last+1)
	}
	q.last, q.bad = number, 0
	return true
}

// end marks the end of the records.
func (q *sequence) end() {
	if q.bad > 0 {
		q.gaps = append(q.gaps, q.last+1)
		q.last, q.bad = q.last+q.bad, 0
	}
}

// lose marks the record with this number, the last one, as lost.
func (q *sequence) lose(number int64) { q.gaps = append(q.gaps, number) }

// gapAfter returns the start of the first gap after number, or 0.
func (q *sequence) gapAfter(number int64) int64 {
	for _, gap := range q.gaps {
		if gap > number {
			return gap
		}
	}
	return 0
}
