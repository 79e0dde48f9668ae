package screen

import "adze/internal/platform/term/cells"

// A cluster tracks characters that a terminal may draw as one.
type cluster struct {
	last   rune
	uneven bool // terminals differ in its width
	ended  bool // the previous cluster was uneven
	flags  int  // number of consecutive flag letters
}

// next adds a character and reports whether it begins a new cluster.
func (c *cluster) next(r rune) bool {
	if r < 0x300 {
		c.ended = c.uneven
		c.last, c.uneven, c.flags = r, false, 0
		return true
	}
	joined := c.joins(r)
	if !joined {
		c.ended, c.uneven = c.uneven, false
	}
	if c.flags++; !isFlag(r) {
		c.flags = 0
	}
	c.last, c.uneven = r, c.uneven || differs(r)
	return !joined
}

// joins reports whether r may be drawn together with the preceding character.
func (c *cluster) joins(r rune) bool {
	switch {
	case c.last == 0:
		return false
	case cells.Of(r) == 0, isTone(r), c.last == joiner:
		return true
	case isFlag(r) && isFlag(c.last):
		return c.flags%2 == 1
	}
	return composes(r) && composes(c.last)
}

const joiner = 0x200d

// isTone reports whether r is a skin tone modifier.
func isTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// isFlag reports whether r is a regional indicator, two of which form a flag.
func isFlag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// composes reports whether r belongs to a script whose letters change their form, and so their
// width, with their neighbors: the scripts of India and Southeast Asia, and the parts of Korean
// syllables.
func composes(r rune) bool {
	switch {
	case r < 0x900:
		return false
	case r < 0xe00, r >= 0xf00 && r < 0x1200, r >= 0x1700 && r < 0x1800, r >= 0x1900 && r < 0x1d00:
		return true
	}
	return r >= 0xa800 && r < 0xac00 || r >= 0xd7b0 && r < 0xd800 || r >= 0x11000 && r < 0x12000
}

// differs reports whether terminals differ in how wide r is: old terminals' tables lack emoji,
// and new terminals draw several characters as one.
func differs(r rune) bool {
	switch {
	case r < 0x900:
		return false
	case r == joiner, r == 0x200c, r == 0x20e3, r == 0xfe0e, r == 0xfe0f, r >= 0x1f000 && r < 0x20000, r >= 0xe0000:
		return true
	case r >= 0x2300 && r < 0x2c00:
		return cells.Of(r) == 2
	}
	return composes(r)
}
