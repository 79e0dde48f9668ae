package pdf

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Extract returns the pages from first to last, counted from 1, as a new document. The pages
// look the same; links, outlines and the like are dropped.
func (d *Document) Extract(ctx context.Context, first, last int) ([]byte, error) {
	w := writer{d: d, ctx: ctx, numbers: map[int]int{}}
	w.buf.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	catalog, tree := w.reserve(), w.reserve()
	var kids array
	for _, p := range d.pages[first-1 : last] {
		num := w.reserve()
		kids = append(kids, ref{num: num})
		if err := w.object(num, pageOnly(p.dict, ref{num: tree})); err != nil {
			return nil, err
		}
	}
	for len(w.queue) > 0 { // writing an object may queue objects it refers to
		old := w.queue[0]
		w.queue = w.queue[1:]
		if err := w.object(w.numbers[old], d.load(old)); err != nil {
			return nil, err
		}
	}
	w.plain = true
	if err := w.object(tree, dict{"Type": name("Pages"), "Kids": kids, "Count": len(kids)}); err != nil {
		return nil, err
	}
	if err := w.object(catalog, dict{"Type": name("Catalog"), "Pages": ref{num: tree}}); err != nil {
		return nil, err
	}
	return w.finish(catalog), nil
}

// pageOnly returns a page without references to the rest of the document.
func pageOnly(p dict, parent ref) dict {
	own := dict{"Type": name("Page"), "Parent": plainRef(parent)}
	for _, key := range []name{"Contents", "Resources", "MediaBox", "CropBox", "Rotate", "UserUnit", "Group"} {
		if value, ok := p[key]; ok {
			own[key] = value
		}
	}
	return own
}

// A plainRef is a reference with a number in the new document.
type plainRef ref

// A writer writes objects with new numbers.
type writer struct {
	d       *Document
	ctx     context.Context
	buf     bytes.Buffer
	offsets []int       // indexed by new number, from 1
	numbers map[int]int // old to new numbers
	queue   []int       // old numbers of objects to write
	plain   bool        // references use new numbers
}

func (w *writer) reserve() int {
	w.offsets = append(w.offsets, 0)
	return len(w.offsets)
}

// renumber returns an object's new number and queues it for writing.
func (w *writer) renumber(old int) int {
	num, ok := w.numbers[old]
	if !ok {
		num = w.reserve()
		w.numbers[old] = num
		w.queue = append(w.queue, old)
	}
	return num
}

func (w *writer) object(num int, o object) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.offsets[num-1] = w.buf.Len()
	fmt.Fprintf(&w.buf, "%d 0 obj\n", num)
	if s, ok := o.(*stream); ok {
		own := maps.Clone(s.dict)
		own["Length"] = len(s.raw)
		w.value(own, 0)
		w.buf.WriteString("\nstream\n")
		w.buf.Write(s.raw)
		w.buf.WriteString("\nendstream")
	} else {
		w.value(o, 0)
	}
	w.buf.WriteString("\nendobj\n")
	return nil
}

// value writes an object inline.
func (w *writer) value(o object, depth int) {
	if depth > 2*maxDepth {
		o = nil
	}
	switch o := o.(type) {
	case bool:
		w.buf.WriteString(strconv.FormatBool(o))
	case int:
		w.buf.WriteString(strconv.Itoa(o))
	case float64:
		w.buf.WriteString(strconv.FormatFloat(o, 'f', -1, 64))
	case str:
		fmt.Fprintf(&w.buf, "<%x>", string(o))
	case name:
		w.name(o)
	case plainRef:
		fmt.Fprintf(&w.buf, "%d 0 R", o.num)
	case ref:
		num := o.num
		if !w.plain {
			num = w.renumber(o.num)
		}
		fmt.Fprintf(&w.buf, "%d 0 R", num)
	case array:
		w.buf.WriteByte('[')
		for _, item := range o {
			w.value(item, depth+1)
			w.buf.WriteByte(' ')
		}
		w.buf.WriteByte(']')
	case dict:
		w.buf.WriteString("<<")
		for _, key := range slices.Sorted(maps.Keys(o)) {
			w.name(key)
			w.buf.WriteByte(' ')
			w.value(o[key], depth+1)
		}
		w.buf.WriteString(">>")
	default:
		w.buf.WriteString("null")
	}
}

func (w *writer) name(n name) {
	w.buf.WriteByte('/')
	for i := range len(n) {
		if c := n[i]; c <= ' ' || c >= 0x7f || c == '#' || isDelimiter(c) {
			fmt.Fprintf(&w.buf, "#%02x", c)
		} else {
			w.buf.WriteByte(c)
		}
	}
}

// finish writes the cross-reference table.
func (w *writer) finish(catalog int) []byte {
	at := w.buf.Len()
	fmt.Fprintf(&w.buf, "xref\n0 %d\n0000000000 65535 f \n", len(w.offsets)+1)
	for _, offset := range w.offsets {
		fmt.Fprintf(&w.buf, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&w.buf, "trailer\n<</Size %d/Root %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(w.offsets)+1, catalog, at)
	return w.buf.Bytes()
}
