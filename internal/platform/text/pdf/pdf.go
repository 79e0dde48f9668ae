// Package pdf reads PDF documents: the number of pages, the text and scanned images of each
// page, and page ranges as new documents. It does not render. Documents are untrusted: time is
// bounded by a context, and memory by fixed limits.
package pdf

import (
	"bytes"
	"context"
	"errors"
)

// Errors of [Open].
var (
	ErrNotPDF    = errors.New("this is not a PDF document: it does not begin with %PDF")
	ErrEncrypted = errors.New("the PDF document is encrypted, and cannot be opened without a password")
	ErrDamaged   = errors.New("the PDF document is damaged: no pages were found in it")
)

// IsPDF reports whether head is the beginning of a PDF document.
func IsPDF(head []byte) bool { return start(head) >= 0 }

// start returns the offset of the document's header. Some files have other data before it.
func start(data []byte) int { return bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-")) }

// A Document is an open document. It is not safe for concurrent use.
type Document struct {
	directory
	pages []page
	sound bool
}

// A directory looks up a document's objects by number.
type directory struct {
	data    []byte
	xref    map[int]entry
	trailer dict
	cache   map[int]object
	loading map[int]bool
	inner   map[int][]packedObject
	decoded int        // bytes decompressed so far
	lock    *decrypter // nil if not encrypted
}

// Open parses the structure of a document. data must not be modified afterwards.
func Open(ctx context.Context, data []byte) (*Document, error) {
	at := start(data)
	if at < 0 {
		return nil, ErrNotPDF
	}
	d := &Document{directory: directory{
		data: data[at:], xref: map[int]entry{}, trailer: dict{}, cache: map[int]object{},
		loading: map[int]bool{}, inner: map[int][]packedObject{},
	}}
	if d.readXref() && (d.trailer["Encrypt"] == nil || d.unlock()) {
		if err := d.findPages(ctx); err != nil {
			return nil, err
		}
		d.sound = at == 0 && d.lock == nil && len(d.pages) > 0
	}
	locked := func() bool { return d.trailer["Encrypt"] != nil && d.lock == nil }
	if len(d.pages) == 0 && !locked() {
		if err := d.rebuild(ctx); err != nil {
			return nil, err
		}
		if err := d.findPages(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case locked():
		return nil, ErrEncrypted
	case len(d.pages) == 0:
		return nil, ErrDamaged
	}
	return d, nil
}

// Sound reports whether the document can be passed on unchanged: it is not encrypted, nothing
// precedes its header, and its cross-reference table is correct.
func (d *Document) Sound() bool { return d.sound }

// Pages returns the number of pages, at least 1.
func (d *Document) Pages() int { return len(d.pages) }

// objectAt parses the object at an offset and returns it with its number.
func (d *directory) objectAt(offset int) (num int, o object) {
	if offset < 0 || offset >= len(d.data) {
		return 0, nil
	}
	l := &lexer{data: d.data, pos: offset, refs: true}
	n, _ := l.next(0)
	num, ok := n.(int)
	g, _ := l.next(0)
	gen, isInt := g.(int)
	if !ok || !isInt {
		return 0, nil
	}
	if obj, _ := l.next(0); obj != keyword("obj") {
		return 0, nil
	}
	o, err := l.next(0)
	if err != nil {
		return 0, nil
	}
	if dct, ok := o.(dict); ok {
		if l.skipSpace(); bytes.HasPrefix(l.data[l.pos:], []byte("stream")) {
			o = &stream{dct, d.body(dct, l.pos+len("stream"))}
		}
	}
	return num, d.lock.open(num, gen, o)
}

// body returns the stream data at pos. It uses the dictionary's length if that is correct.
func (d *directory) body(dct dict, pos int) []byte {
	rest := d.data[pos:]
	rest = bytes.TrimPrefix(rest, []byte("\r"))
	rest = bytes.TrimPrefix(rest, []byte("\n"))
	end := []byte("endstream")
	if n := d.int(dct["Length"], -1); n >= 0 && n <= len(rest) {
		if bytes.HasPrefix(bytes.TrimLeft(rest[n:min(len(rest), n+32)], "\r\n \t"), end) {
			return rest[:n]
		}
	}
	if n := bytes.Index(rest, end); n >= 0 {
		rest = rest[:n]
		rest = bytes.TrimSuffix(rest, []byte("\n"))
		return bytes.TrimSuffix(rest, []byte("\r"))
	}
	return rest
}

// load returns the object with the given number, or nil.
func (d *directory) load(num int) object {
	if o, ok := d.cache[num]; ok {
		return o
	}
	e, ok := d.xref[num]
	if !ok || d.loading[num] {
		return nil
	}
	d.loading[num] = true
	defer delete(d.loading, num)
	var o object
	if e.within > 0 {
		if packed := d.packed(e.within); e.index >= 0 && e.index < len(packed) && packed[e.index].num == num {
			o = packed[e.index].object
		}
	} else if found, at := d.objectAt(e.offset); found == num {
		o = at
	}
	d.cache[num] = o
	return o
}

type packedObject struct {
	num    int
	object object
}

// packed returns the objects in an object stream.
func (d *directory) packed(num int) []packedObject {
	if objects, ok := d.inner[num]; ok {
		return objects
	}
	d.inner[num] = nil
	if d.xref[num].within > 0 {
		return nil // nested object streams are invalid and could be cyclic
	}
	s, ok := d.load(num).(*stream)
	if !ok {
		return nil
	}
	data, err := d.decode(s)
	first := d.int(s.dict["First"], -1)
	if err != nil || first < 0 || first > len(data) {
		return nil
	}
	var objects []packedObject
	head := &lexer{data: data[:first]}
	for range d.int(s.dict["N"], 0) {
		n, err1 := head.next(0)
		at, err2 := head.next(0)
		num, ok1 := n.(int)
		offset, ok2 := at.(int)
		if err1 != nil || err2 != nil || !ok1 || !ok2 || offset < 0 || offset > len(data)-first {
			break
		}
		o, err := (&lexer{data: data, pos: first + offset, refs: true}).next(0)
		if err != nil {
			o = nil
		}
		objects = append(objects, packedObject{num, o})
	}
	d.inner[num] = objects
	return objects
}

// resolve follows references.
func (d *directory) resolve(o object) object {
	for range maxDepth {
		r, ok := o.(ref)
		if !ok {
			return o
		}
		o = d.load(r.num)
	}
	return nil
}

func (d *directory) dict(o object) dict {
	switch o := d.resolve(o).(type) {
	case dict:
		return o
	case *stream:
		return o.dict
	}
	return nil
}

// list returns an array. A single object is treated as an array of one.
func (d *directory) list(o object) array {
	switch o := d.resolve(o).(type) {
	case nil:
		return nil
	case array:
		return o
	default:
		return array{o}
	}
}

func (d *directory) int(o object, missing int) int {
	switch o := d.resolve(o).(type) {
	case int:
		return o
	case float64:
		return int(o)
	}
	return missing
}

func (d *directory) float(o object, missing float64) float64 {
	switch o := d.resolve(o).(type) {
	case int:
		return float64(o)
	case float64:
		return o
	}
	return missing
}
