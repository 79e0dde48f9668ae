package bash

import (
	"fmt"
	"os"
	"strings"

	"adze/internal/platform/shell"
)

// aliases returns the aliases that the command's shell reads from the snapshot.
func (c *call) aliases() (map[string]string, error) {
	if c.config.dialect() != shell.Bash {
		return nil, nil
	}
	file := c.snapshot()
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return readAliases(string(data))
}

// readAliases parses the output of "alias -p" at the start of text: consecutive aliases with
// single-quoted values.
func readAliases(text string) (map[string]string, error) {
	all := map[string]string{}
	for {
		rest, ok := strings.CutPrefix(text, "alias ")
		if !ok {
			return all, nil
		}
		name, rest, ok := strings.Cut(strings.TrimPrefix(rest, "-- "), "=")
		if !ok || strings.ContainsAny(name, "\n '") {
			return nil, fmt.Errorf("the alias %.40q is not understood", text)
		}
		var value strings.Builder
		for rest != "" && rest[0] != '\n' {
			switch {
			case rest[0] == '\'':
				part, after, ok := strings.Cut(rest[1:], "'")
				if !ok {
					return nil, fmt.Errorf("the alias %s does not end", name)
				}
				value.WriteString(part)
				rest = after
			case strings.HasPrefix(rest, `\'`):
				value.WriteByte('\'')
				rest = rest[2:]
			default:
				return nil, fmt.Errorf("the alias %s is not understood", name)
			}
		}
		all[name] = value.String()
		text = strings.TrimPrefix(rest, "\n")
	}
}
