package roster

import (
	"fmt"
	"strings"
)

// values looks up variables and plugin options for expansion.
type values struct {
	getenv func(string) string
	option func(string) (string, bool) // may be nil
}

// expand replaces ${NAME} and ${NAME:-default} with variables' values, and ${user_config.NAME}
// with options' values. Inserted values are not expanded again. An error names the missing
// variable or option, and never contains a value.
func expand(text string, v values) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		inner, after, closed := strings.Cut(rest, "}")
		name, usual, hasDefault := strings.Cut(inner, ":-")
		if option, ok := strings.CutPrefix(inner, "user_config."); ok && closed && v.option != nil {
			value, ok := v.option(option)
			if !ok {
				return "", fmt.Errorf("the plugin's option %s is not set", Shown(option))
			}
			b.WriteString(value)
			text = after
			continue
		}
		if !closed || !variable(name) {
			b.WriteString("${")
			text = rest
			continue
		}
		value := v.getenv(name)
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

// Expand replaces ${NAME} and ${NAME:-default} in a text with variables' values. An error names
// the unset variable.
func Expand(text string, getenv func(string) string) (string, error) {
	return expand(text, values{getenv: getenv})
}

func variable(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
