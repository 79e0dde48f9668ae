package filehistory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
)

// sumForm is the end of a line: the checksum of all that is before it.
const (
	sumForm = `,"sum":"%08x"}`
	sumSize = len(`,"sum":"00000000"}`)
)

// encode appends the line of a record to dst. One that has a number gets a checksum.
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

// encodeAll returns the lines of records, which are numbered from the one after last on.
func encodeAll(records []record, last int64) (lines []byte, err error) {
	for i, r := range records {
		r.Number = last + 1 + int64(i)
		if lines, err = encode(lines, r); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// decode reads a line. One that has a number has to have the right checksum, too.
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
		return errors.New("it is not what was written")
	}
	return nil
}

// pathsIn yields the files that a line speaks of which cannot be read.
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

// A sequence is the numbers of the records of an index. A number that is missing belongs to a record that is
// lost. The records of an index may begin without numbers: those count from 1.
type sequence struct {
	last     int64   // the number of the last record
	numbered bool    // that one had a number
	bad      int64   // how many lines after it cannot be read
	gaps     []int64 // numbers where records are missing: the first of each row, ascending
}

// next takes in the number of the next record that can be read, which is 0 if it has none. It reports whether
// the record is one of the sequence.
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

// end takes in that no more records follow.
func (q *sequence) end() {
	if q.bad > 0 {
		q.gaps = append(q.gaps, q.last+1)
		q.last, q.bad = q.last+q.bad, 0
	}
}

// lose takes in that the record with this number, which was the last, means nothing.
func (q *sequence) lose(number int64) { q.gaps = append(q.gaps, number) }

// gapAfter returns the first number after another from which records are missing, or 0.
func (q *sequence) gapAfter(number int64) int64 {
	for _, gap := range q.gaps {
		if gap > number {
			return gap
		}
	}
	return 0
}
