package draw

import (
	"strings"

	"adze/internal/platform/term"
)

// Spell returns a line with all that is not plainly visible as an escape: see [term.Spell]. Tabs become blanks.
func Spell(line string) string {
	return strings.NewReplacer("\t", "    ", "\n", `\x0a`).Replace(term.Spell(line))
}
