// Package term handles terminals: sanitizing text, raw mode, size, capabilities and
// notifications. It does not draw.
package term

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/term/cells"
)

// Sanitize makes s safe to write to a terminal. It removes control sequences and control
// characters except line feeds and tabs, keeps the final state of overwritten lines, and spells
// out characters that reorder or hide text, as ‹U+202E›.
func Sanitize(s string) string { return clean(s, true) }

// SanitizeText is [Sanitize] for prose, such as an answer. It keeps joiners that change how the
// adjacent characters look; see [cells.Joins]. Names and commands need [Sanitize], because two
// of them must not look the same.
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

// Strip converts terminal output to the text that would be visible. Unlike [Sanitize], it keeps
// characters that are merely invisible, because they belong to the text.
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

// suspect reports whether r must be removed or replaced.
func suspect(r rune, spell bool) bool {
	if r < utf8.RuneSelf {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}
	return r < 0xa0 || spell && invisible(r)
}

// invisible reports whether r reorders text, takes no space, or is a letter without a shape.
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

// A Cleaner is [Strip] for a stream: it writes each cleaned line to another writer once the
// line has ended. It is not safe for concurrent use.
type Cleaner struct {
	w     io.Writer
	spell bool

	state   state
	line    []byte // may still be overwritten
	pending []byte // incomplete character
	ended   bool   // after a carriage return: the next character overwrites the line
	out     []byte
}

// NewCleaner returns a Cleaner that writes to w.
func NewCleaner(w io.Writer) *Cleaner { return &Cleaner{w: w} }

// maxLine limits how much of a line is buffered.
const maxLine = 64 << 10

// Write cleans p and writes completed lines.
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
		r, size := utf8.DecodeRune(rest) // U+FFFD for invalid UTF-8, which no terminal interprets as a control character
		c.rune(r)
		rest = rest[size:]
	}
	if err := c.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes buffered text. It does not close the underlying writer.
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
