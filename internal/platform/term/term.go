// Package term knows terminals: which text is safe to write to one, and how large one is. It draws
// nothing; what is shown is left to the front ends.
package term

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/cells"
)

// Sanitize returns s as it may be written to a terminal: control sequences and control characters are
// gone except for line feeds and tabs, of a line that was overwritten the last state is left, and
// characters that reorder or hide text are spelled out, as ‹U+202E›.
func Sanitize(s string) string { return clean(s, true) }

// SanitizeText is [Sanitize] for text to be read, such as an answer. It leaves joiners where they change how the
// characters around them look; see [cells.Joins]. Names and commands need [Sanitize]: two of them must not look the same.
func SanitizeText(s string) string {
	if simple(s) {
		return s
	}
	var out []byte
	start := 0
	for i, before := 0, rune(0); i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		after, _ := utf8.DecodeRuneInString(s[i+n:])
		if cells.Joins(before, r, after) {
			out = append(append(out, Sanitize(s[start:i])...), s[i:i+n]...)
			start = i + n
		}
		before = r
		i += n
	}
	if start == 0 {
		return Sanitize(s)
	}
	return string(append(out, Sanitize(s[start:])...))
}

// Strip returns s, which a program wrote for a terminal, as the text that would be read there.
// Unlike [Sanitize] it leaves characters that are merely invisible: they belong to the text.
func Strip(s string) string { return clean(s, false) }

// simple reports whether s is ASCII without control characters.
func simple(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

func clean(s string, spell bool) string {
	if simple(s) || !strings.ContainsFunc(s, func(r rune) bool { return suspect(r, spell) }) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	c := Cleaner{w: &b, spell: spell}
	io.WriteString(&c, s) // ok: a strings.Builder never fails
	c.Close()             // ok: as above
	return b.String()
}

// suspect reports whether r cannot stay as it is.
func suspect(r rune, spell bool) bool {
	if r < utf8.RuneSelf {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}
	return r < 0xa0 || spell && invisible(r)
}

// invisible reports whether r reorders text, takes no room in it, or is a letter without a shape.
func invisible(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0,
		r == 0x00ad, r == 0x061c, r == 0x180e, r == 0xfeff,
		r >= 0x200b && r <= 0x200f,
		r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f,
		r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return r > 0xffff && unicode.Is(unicode.Cf, r)
}

// A Cleaner is [Strip] for a stream: it writes to another writer what is left of each line once the
// line has ended. It belongs to one goroutine.
type Cleaner struct {
	w     io.Writer
	spell bool

	state   state
	line    []byte // what may still be overwritten
	pending []byte // the beginning of a character
	ended   bool   // a carriage return was seen: what follows overwrites the line
	out     []byte
}

// NewCleaner returns a Cleaner that writes to w.
func NewCleaner(w io.Writer) *Cleaner { return &Cleaner{w: w} }

// maxLine bounds what is held back of one line.
const maxLine = 64 << 10

// Write cleans p and writes the lines that it completes.
func (c *Cleaner) Write(p []byte) (int, error) {
	rest := p
	if len(c.pending) > 0 {
		rest = append(c.pending, p...)
		c.pending = nil
	}
	for len(rest) > 0 {
		if c.state == plain {
			if n := ordinary(rest); n > 0 {
				c.bulk(rest[:n])
				rest = rest[n:]
				continue
			}
		}
		if !utf8.FullRune(rest) {
			c.pending = bytes.Clone(rest)
			break
		}
		r, size := utf8.DecodeRune(rest) // U+FFFD for a byte outside UTF-8, which no terminal takes for a control character then
		c.rune(r)
		rest = rest[size:]
	}
	if err := c.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what was held back. It does not close the writer below.
func (c *Cleaner) Close() error {
	for range c.pending {
		c.rune(utf8.RuneError)
	}
	c.pending = nil
	c.out = append(c.out, c.line...)
	c.line = c.line[:0]
	return c.flush()
}

func (c *Cleaner) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.w.Write(c.out)
	c.out = c.out[:0]
	return err
}

// put adds r to the text.
func (c *Cleaner) put(r rune) {
	switch {
	case r == '\n':
		c.out = append(append(c.out, c.line...), '\n')
		c.line, c.ended = c.line[:0], false
		return
	case r == '\r':
		c.ended = true
		return
	case r != '\t' && suspect(r, false):
		return
	}
	if c.ended {
		c.line, c.ended = c.line[:0], false
	}
	if c.spell && invisible(r) {
		c.line = fmt.Appendf(c.line, "‹U+%04X›", r)
	} else {
		c.line = utf8.AppendRune(c.line, r)
	}
	if len(c.line) > maxLine {
		c.out = append(c.out, c.line...)
		c.line = c.line[:0]
	}
}
