package draw

import (
	"strings"

	"adze/internal/platform/term"
)

// Spell returns a line with all that is not plainly visible as an escape: see [term.Spell]. Tabs become blanks.
func Spell(line string) string {
	return strings.NewReplacer("\t", "    ", "\n", `\x0a`).Replace(term.Spell(line))
}

// Asked returns a line of a question as it is shown: see [Clean]. What a terminal would obey is an escape.
func Asked(line string) string { return Clean(term.SpellControls(line)) }
