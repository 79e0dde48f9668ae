package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/cells"
)

// Spell returns a text with all that is not plainly visible as an escape, but for line feeds and tabs. What the user is asked
// to approve, and what is called by its name, is shown so: [Sanitize] leaves out what a terminal would overwrite or obey.
func Spell(text string) string {
	if simple(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError && text[i] != '\xef':
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r < 0x80 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case r != ' ' && (invisible(r) || !unicode.IsGraphic(r) || unicode.IsSpace(r) || cells.Of(r) == 0 && !unicode.Is(unicode.M, r)):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return Sanitize(b.String())
}

// maxBlanks is how many blanks in a row are shown as they are.
const maxBlanks = 16

// SpellLine is [Spell] for a text on one line. Long runs of blanks are counted, since they could push what follows off the
// screen.
func SpellLine(text string) string {
	text = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Spell(text))
	var b strings.Builder
	for text != "" {
		rest := strings.TrimLeft(text, " ")
		switch n := len(text) - len(rest); {
		case n > maxBlanks:
			fmt.Fprintf(&b, "‹%d blanks›", n)
		default:
			b.WriteString(text[:n])
		}
		next := strings.IndexByte(rest, ' ')
		if next < 0 {
			next = len(rest)
		}
		b.WriteString(rest[:next])
		text = rest[next:]
	}
	return b.String()
}

// SpellControls returns a text with its control characters as escapes, but for line feeds, tabs and the carriage returns at
// the ends of lines: nothing is left out of it that a terminal would obey. It is for words to be decided about, in which
// [Spell] would spell out more than helps to read them.
func SpellControls(text string) string {
	if simple(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\r' && (i+1 == len(text) || text[i+1] == '\n'):
		case r == '\n', r == '\t', !unicode.IsControl(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
