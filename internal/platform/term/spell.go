package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/term/cells"
)

// Spell escapes everything in a text that is not plainly visible, except line feeds and tabs.
// It is used for texts that the user must approve and for names, because [Sanitize] removes
// parts that a terminal would overwrite or interpret.
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

// maxBlanks is the number of consecutive blanks that are shown as they are.
const maxBlanks = 16

// SpellLine is [Spell] for a text on one line. It replaces long runs of blanks by their count,
// because they could push the rest off the screen.
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

// SpellControls escapes control characters, except line feeds, tabs and carriage returns at
// line ends, so that nothing a terminal would interpret is removed. It is used for prose that
// the user must approve, where [Spell] would escape too much.
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
