// Package textlist encodes a list of strings in a single string with random access.
package textlist

import "encoding/binary"

// A List is the count of strings and their end offsets, followed by the strings. A damaged list
// is safe to use, but has no strings or wrong ones.
type List string

// size is the size of an encoded number, in bytes.
const size = 4

// Of returns a list of strings.
func Of(all ...string) List {
	n := size * (1 + len(all))
	for _, text := range all {
		n += len(text)
	}
	data := binary.LittleEndian.AppendUint32(make([]byte, 0, n), uint32(len(all)))
	end := 0
	for _, text := range all {
		end += len(text)
		data = binary.LittleEndian.AppendUint32(data, uint32(end))
	}
	for _, text := range all {
		data = append(data, text...)
	}
	return List(data)
}

// Len returns the number of strings.
func (l List) Len() int {
	if len(l) < size {
		return 0
	}
	n := l.number(0)
	if n > (len(l)-size)/size {
		return 0
	}
	return n
}

// At returns the i-th string, which shares the list's memory. i must be less than Len.
func (l List) At(i int) string {
	texts := l[size*(1+l.Len()):]
	from, to := 0, l.number(1+i)
	if i > 0 {
		from = l.number(i)
	}
	if from > to || to > len(texts) {
		return ""
	}
	return string(texts[from:to])
}

// number returns the i-th encoded number.
func (l List) number(i int) int {
	b := l[size*i : size*(i+1)]
	return int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}
