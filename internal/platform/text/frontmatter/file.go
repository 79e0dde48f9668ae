package frontmatter

import (
	"fmt"
	"slices"
	"strings"
)

// SplitFile separates a file's front matter from its body. The front matter may have at most
// max bytes. Byte order marks are removed, line endings normalized and invalid UTF-8 replaced.
func SplitFile(file string, max int) (head, body string, err error) {
	file = strings.TrimPrefix(file, "\ufeff")
	if strings.IndexByte(file, 0) >= 0 {
		return "", "", fmt.Errorf("it is not a text file in UTF-8")
	}
	if strings.IndexByte(file, '\r') >= 0 {
		file = strings.ReplaceAll(file, "\r\n", "\n")
	}
	head, body, err = Split(file)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("the front matter is not closed: end it with a line of three dashes")
	case len(head) > max:
		return "", "", fmt.Errorf("the front matter has %d bytes, which is more than %d", len(head), max)
	}
	return strings.ToValidUTF8(head, "\uFFFD"), body, nil
}

// Line returns the 1-based line number of a name within the file, or 0 if it is not in head.
func Line(head, name string) int {
	n := 1 // the opening dashes
	for line := range strings.Lines(head) {
		n++
		if found, _, ok := strings.Cut(line, ":"); ok && strings.Trim(found, `"' `) == name && line[0] != ' ' {
			return n
		}
	}
	return 0
}

// Texts returns the items of a list of strings, or the result of split for a string, without
// surrounding blanks and quotes. It reports false if the value is neither.
func (v Value) Texts(split func(string) []string) ([]string, bool) {
	if v.Fields != nil || slices.ContainsFunc(v.List, func(item Value) bool { return item.List != nil || item.Fields != nil }) {
		return nil, false
	}
	list := split(v.Text)
	for _, item := range v.List {
		list = append(list, item.Text)
	}
	var items []string
	for _, item := range list {
		if item = strings.Trim(strings.TrimSpace(item), `"'`); item != "" {
			items = append(items, item)
		}
	}
	return items, true
}
