package frontmatter

import (
	"fmt"
	"slices"
	"strings"
)

// SplitFile separates the front matter of a file, of at most max bytes, from its text. Marks of byte order and line ends
// of other systems do not count, and bytes that are not UTF-8 are replaced.
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

// Line returns the line of the file in which a name of a head is, from 1; 0 if it is not found.
func Line(head, name string) int {
	n := 1 // the dashes
	for line := range strings.Lines(head) {
		n++
		if found, _, ok := strings.Cut(line, ":"); ok && strings.Trim(found, `"' `) == name && line[0] != ' ' {
			return n
		}
	}
	return 0
}

// Texts returns the items of a list of texts, or those that split makes of a text, without blanks and quotes around them.
// It reports whether the value is either.
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
