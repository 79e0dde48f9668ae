package term

// A state is a Cleaner's position in a control sequence.
type state uint8

const (
	plain     state = iota
	escape          // after ESC
	charset         // after ESC and an intermediate byte
	control         // inside a control sequence, after ESC [
	text            // inside a string sequence: OSC, DCS, SOS, PM or APC
	textEnded       // after an ESC in a string sequence
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
)

// rune processes the next character. A line feed ends any sequence, so an unterminated one
// hides no more than its line.
func (c *Cleaner) rune(r rune) {
	if r == '\n' || r == can || r == sub {
		c.state = plain
		c.put(r)
		return
	}
	switch c.state {
	case plain:
		c.plain(r)
	case escape:
		c.escape(r)
	case charset:
		if r < 0x20 || r > 0x2f {
			c.end(r, 0x30)
		}
	case control:
		if r < 0x20 || r > 0x3f {
			c.end(r, 0x40)
		}
	case text:
		switch r {
		case esc:
			c.state = textEnded
		case bel, 0x9c:
			c.state = plain
		}
	case textEnded:
		c.state = plain
		if r != '\\' { // another sequence begins instead of the terminator
			c.escape(r)
		}
	}
}

func (c *Cleaner) plain(r rune) {
	switch r {
	case esc:
		c.state = escape
	case 0x9b:
		c.state = control
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		c.state = text
	default:
		c.put(r)
	}
}

func (c *Cleaner) escape(r rune) {
	switch {
	case r == '[':
		c.state = control
	case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
		c.state = text
	case r >= 0x20 && r <= 0x2f:
		c.state = charset
	default:
		c.end(r, 0x30)
	}
}

// end ends a sequence whose last byte is between first and '~'. Any other character is not part
// of the sequence, which is then incomplete.
func (c *Cleaner) end(r, first rune) {
	c.state = plain
	if r < first || r > '~' {
		c.plain(r)
	}
}
