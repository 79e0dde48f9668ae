package roster

import (
	"fmt"
	"strings"
)

// expand replaces ${NAME} and ${NAME:-default} by the values of variables. What is put in is not looked at again. An
// error names a variable that is not set, and never a value.
func expand(text string, getenv func(string) string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		inner, after, closed := strings.Cut(rest, "}")
		name, usual, hasDefault := strings.Cut(inner, ":-")
		if !closed || !variable(name) {
			b.WriteString("${")
			text = rest
			continue
		}
		value := getenv(name)
		switch {
		case value != "":
			b.WriteString(value)
		case hasDefault:
			b.WriteString(usual)
		default:
			return "", fmt.Errorf("the variable %s is not set; set it, or write ${%s:-default}", name, name)
		}
		text = after
	}
}

func variable(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
