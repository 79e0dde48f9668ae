package roster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxName bounds the name of a server, in characters.
const maxName = 64

// reserved are names that servers of files cannot have: those that the program gives itself, and those that other
// programs give to servers of their own, about which users may have written rules.
func reserved() []string {
	return []string{"adze", "ide", "workspace", "claude-ai", "claude-in-chrome", "computer-use"}
}

// Name returns what a server is called in tools and rules. Characters other than letters, digits, '-' and '_' become
// '_'. No name has two underscores in a row, or one at an end: "mcp__a__b" must be a tool b of the server a, and cannot
// be one of a server "a__b", to which rules about a would apply.
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

// checkName returns why a server cannot have a name, or nil.
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

// Shown returns a text of a file so that nothing in it can control a terminal or look like something else.
func Shown(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strconv.QuoteToASCII(text)
}
