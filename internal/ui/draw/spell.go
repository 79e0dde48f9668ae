package draw

import (
	"strings"

	"adze/internal/platform/term"
)

// Spell returns a line with everything that is not plainly visible escaped: see [term.Spell].
// Tabs become blanks.
func Spell(line string) string {
	return strings.NewReplacer("\t", "    ", "\n", `\x0a`).Replace(term.Spell(line))
}

// CleanQuestion returns a line of a question as it is shown: see [Clean]. Anything a terminal would
// interpret is escaped.
func CleanQuestion(line string) string { return Clean(term.SpellControls(line)) }
