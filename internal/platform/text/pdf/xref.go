package pdf

import (
	"bytes"
	"context"
	"iter"
	"strconv"
)

// An entry is the location of an object: an offset, or an index in an object stream.
type entry struct {
	offset int
	within int // number of the object stream; 0 if the object is at offset
	index  int // index in that stream
}

// readXref reads the cross-reference tables from last to first, and reports whether they are
// plausible.
func (d *directory) readXref() bool {
	tail := d.data[max(0, len(d.data)-2048):]
	at := bytes.LastIndex(tail, []byte("startxref"))
	if at < 0 {
		return false
	}
	l := lexer{data: tail, pos: at + len("startxref")}
	start, err := l.next(0)
	offset, ok := start.(int)
	if err != nil || !ok {
		return false
	}
	seen := map[int]bool{}
	for ok && !seen[offset] && len(seen) < 1024 {
		seen[offset] = true
		if offset < 0 || offset >= len(d.data) {
			return false
		}
		section := d.readSection(offset)
		if section == nil {
			return false
		}
		for key, value := range section {
			if _, has := d.trailer[key]; !has {
				d.trailer[key] = value
			}
		}
		if hybrid, has := section["XRefStm"].(int); has && hybrid > 0 && hybrid < len(d.data) {
			d.readSection(hybrid)
		}
		offset, ok = section["Prev"].(int)
	}
	return true
}

// readSection reads a table, in either of the two formats, and returns its trailer.
func (d *directory) readSection(offset int) dict {
	l := &lexer{data: d.data, pos: offset, refs: true}
	if l.skipSpace(); !bytes.HasPrefix(l.data[min(l.pos, len(l.data)):], []byte("xref")) {
		_, o := d.objectAt(offset)
		if s, ok := o.(*stream); ok {
			return d.readXrefStream(s)
		}
		return nil
	}
	l.pos += len("xref")
	for {
		first, err := l.next(0)
		if err != nil {
			return nil
		}
		if first == keyword("trailer") {
			trailer, err := l.next(0)
			if t, ok := trailer.(dict); ok && err == nil {
				return t
			}
			return nil
		}
		num, ok1 := first.(int)
		count, err := l.next(0)
		n, ok2 := count.(int)
		if err != nil || !ok1 || !ok2 {
			return nil
		}
		for i := range n {
			at, err1 := l.next(0)
			_, err2 := l.next(0)
			kind, err3 := l.next(0)
			offset, ok := at.(int)
			if err1 != nil || err2 != nil || err3 != nil || !ok {
				return nil
			}
			if kind == keyword("n") {
				d.place(num+i, entry{offset: offset})
			}
		}
	}
}

// place records an object's entry unless a later table already has.
func (d *directory) place(num int, e entry) {
	if _, has := d.xref[num]; !has && num > 0 {
		d.xref[num] = e
	}
}

func (d *directory) readXrefStream(s *stream) dict {
	data, err := d.decode(s)
	if err != nil {
		return nil
	}
	var w [3]int
	for i, o := range d.list(s.dict["W"]) {
		n := d.int(o, 0)
		if i >= 3 || n < 0 || n > 8 {
			return nil
		}
		w[i] = n
	}
	row := w[0] + w[1] + w[2]
	if row == 0 {
		return nil
	}
	index := d.list(s.dict["Index"])
	if index == nil {
		index = array{0, d.int(s.dict["Size"], 0)}
	}
	field := func(n, missing int) int {
		if n == 0 {
			return missing
		}
		v := 0
		for _, b := range data[:n] {
			v = v<<8 | int(b)
		}
		data = data[n:]
		return v
	}
	for i := 0; i+1 < len(index); i += 2 {
		first := d.int(index[i], 0)
		for j := 0; j < d.int(index[i+1], 0) && len(data) >= row; j++ {
			kind, a, b := field(w[0], 1), field(w[1], 0), field(w[2], 0)
			switch kind {
			case 1:
				d.place(first+j, entry{offset: a})
			case 2:
				d.place(first+j, entry{within: a, index: b})
			}
		}
	}
	return s.dict
}

// rebuild scans a damaged file for objects.
func (d *directory) rebuild(ctx context.Context) error {
	d.xref, d.trailer, d.cache = map[int]entry{}, dict{}, map[int]object{}
	for at := range occurrences(d.data, "obj") {
		if num, start := objectBefore(d.data[:at]); num > 0 {
			d.xref[num] = entry{offset: start} // the last one wins
		}
	}
	for at := range occurrences(d.data, "trailer") {
		l := &lexer{data: d.data, pos: at + len("trailer"), refs: true}
		if t, err := l.next(0); err == nil {
			d.adopt(t)
		}
	}
	if d.trailer["Encrypt"] != nil && d.lock == nil && !d.unlock() {
		return nil
	}
	for num := range d.xref {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, ok := d.load(num).(*stream)
		if !ok {
			continue
		}
		switch s.dict["Type"] {
		case name("XRef"):
			d.adopt(s.dict)
		case name("ObjStm"):
			for i, inner := range d.packed(num) {
				d.place(inner.num, entry{within: num, index: i})
			}
		}
	}
	return nil
}

// occurrences yields the offsets of word in data.
func occurrences(data []byte, word string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for pos := 0; ; pos += len(word) {
			i := bytes.Index(data[pos:], []byte(word))
			if i < 0 || !yield(pos+i) {
				return
			}
			pos += i
		}
	}
}

// objectBefore parses the object number and generation at the end of data. It returns the
// number and its offset, or 0.
func objectBefore(data []byte) (num, start int) {
	pos := len(data)
	back := func(is func(byte) bool) (moved bool) {
		for ; pos > 0 && is(data[pos-1]) && len(data)-pos < 32; pos-- {
			moved = true
		}
		return moved
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	if !back(isSpace) || !back(digit) || !back(isSpace) {
		return 0, 0
	}
	end := pos
	if !back(digit) {
		return 0, 0
	}
	num, err := strconv.Atoi(string(data[pos:end]))
	if err != nil || num > 1<<30 {
		return 0, 0
	}
	return num, pos
}

// adopt merges the entries of a trailer found by scanning.
func (d *directory) adopt(o object) {
	t, _ := o.(dict)
	for _, key := range []name{"Root", "Encrypt", "ID"} {
		if value, ok := t[key]; ok {
			d.trailer[key] = value
		}
	}
}
