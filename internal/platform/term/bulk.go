package term

import (
	"bytes"
	"encoding/binary"
)

// ordinary returns the length of the prefix of p that is printable ASCII, tabs and line feeds,
// which need no cleaning. Most output is, and a gigabyte of it must pass as fast as it is
// printed.
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

// odd sets the highest bit of each byte that is not ordinary. Sums of seven bits do not carry
// into the next byte, and their highest bit shows whether a byte reaches a threshold.
func odd(word uint64) uint64 {
	seven := word & (0x7f * ones)
	printable := (seven + (0x80-' ')*ones) &^ (seven + (0x80-0x7f)*ones)
	blank := (seven + (0x80-'\t')*ones) &^ (seven + (0x80-'\n'-1)*ones)
	return word | ^(printable | blank)
}

// bulk processes ordinary text in the plain state, with the same effect as [Cleaner.put] for
// each character.
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
