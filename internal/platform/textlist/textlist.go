// Package textlist keeps many texts in one, so that each is found by its place without reading the others. Where the whole is
// kept, and what the texts say, is left to others.
package textlist

import "encoding/binary"

// A List is texts one after the other, behind their number and where each ends. One that is damaged has no texts, or other
// ones.
type List string

// size is how many bytes a number has.
const size = 4

// Of returns a list of texts.
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

// Len returns how many texts there are.
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

// At returns the text at a place, which is below Len. It is a part of the list.
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

// number returns the number at a place.
func (l List) number(i int) int {
	b := l[size*i : size*(i+1)]
	return int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}
