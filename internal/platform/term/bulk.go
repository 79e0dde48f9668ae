package term

import (
	"bytes"
	"encoding/binary"
)

// ordinary returns how many bytes at the beginning of p are printable ASCII, tabs and line feeds, which
// need no cleaning. Most of what programs print is: a gigabyte of it has to pass as fast as it is printed.
func ordinary(p []byte) int {
	n := 0
	for ; len(p)-n >= 32; n += 32 {
		q := p[n : n+32 : n+32]
		if (odd(binary.LittleEndian.Uint64(q))|odd(binary.LittleEndian.Uint64(q[8:]))|
			odd(binary.LittleEndian.Uint64(q[16:]))|odd(binary.LittleEndian.Uint64(q[24:])))&(0x80*ones) != 0 {
			break
		}
	}
	for n < len(p) && (p[n] >= ' ' && p[n] < 0x7f || p[n] == '\n' || p[n] == '\t') {
		n++
	}
	return n
}

// ones has the lowest bit of each byte set.
const ones = 0x0101010101010101

// odd returns a word with the highest bit set in each byte that is not ordinary in the given one. Sums of
// seven bits do not carry over, and tell by their highest bit whether a byte is at least so much.
func odd(word uint64) uint64 {
	seven := word & (0x7f * ones)
	printable := (seven + (0x80-' ')*ones) &^ (seven + (0x80-0x7f)*ones)
	blank := (seven + (0x80-'\t')*ones) &^ (seven + (0x80-'\n'-1)*ones)
	return word | ^(printable | blank)
}

// bulk takes ordinary text in the plain state, as [Cleaner.put] would take its characters.
func (c *Cleaner) bulk(p []byte) {
	if c.ended {
		if p[0] != '\n' {
			c.line = c.line[:0]
		}
		c.ended = false
	}
	if last := bytes.LastIndexByte(p, '\n'); last >= 0 {
		c.out = append(append(c.out, c.line...), p[:last+1]...)
		c.line, p = c.line[:0], p[last+1:]
	}
	for len(c.line)+len(p) > maxLine {
		n := maxLine + 1 - len(c.line)
		c.out = append(append(c.out, c.line...), p[:n]...)
		c.line, p = c.line[:0], p[n:]
	}
	c.line = append(c.line, p...)
}
