package roster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxName limits a server's name, in characters.
const maxName = 64

// reserved returns names that configured servers cannot have: names adze uses itself, and names
// other programs give to their own servers, for which users may have written rules.
func reserved() []string {
	return []string{"adze", "ide", "workspace", "claude-ai", "claude-in-chrome", "computer-use"}
}

// Name returns a server's name in tools and rules. Characters other than letters, digits, '-'
// and '_' become '_'. A name never has two consecutive underscores, or an underscore at either
// end: "mcp__a__b" must be the tool b of server a, never a tool of a server "a__b", to which
// rules for a would apply.
func Name(given string) string {
	var b strings.Builder
	for _, r := range given {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-':
			b.WriteRune(r)
		case b.Len() > 0 && b.String()[b.Len()-1] != '_':
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}

// checkName returns the reason a server cannot have a name, or nil.
func checkName(given, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name %s has no letter or digit", Shown(given))
	case len(name) > maxName || len(given) > 4*maxName:
		return fmt.Errorf("the name is longer than %d characters", maxName)
	case slices.Contains(reserved(), strings.ToLower(name)):
		return fmt.Errorf("the name %s is reserved; choose another one", name)
	}
	return nil
}

// Shown returns a file's text without anything that could control a terminal or be mistaken for
// something else.
func Shown(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strconv.QuoteToASCII(text)
}
