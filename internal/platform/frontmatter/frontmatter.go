// Package frontmatter reads what stands before the text of a Markdown file, between two lines of dashes:
// names with values in YAML. Files that are nearly YAML are read as their authors meant them. What the names
// mean, and what to do with a file that is written badly, is left to others.
package frontmatter

import (
	"errors"
	"strings"
)

// ErrOpen says that front matter begins and does not end. The text is all of it then.
var ErrOpen = errors.New("the front matter is not closed by a line of three dashes; it is read as text")

// Split separates the front matter, without its dashes, from the text. A file without any has an empty
// head. Blanks may follow the dashes.
func Split(text string) (head, body string, err error) {
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || !isRule(first) {
		return "", text, nil
	}
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		next := min(at+len(line)+1, len(rest))
		if isRule(line) {
			return strings.TrimSuffix(rest[:at], "\n"), strings.TrimSpace(rest[next:]), nil
		}
		at = next
	}
	return "", text, ErrOpen
}

// isRule reports whether a line is three dashes.
func isRule(line string) bool {
	return strings.HasPrefix(line, "---") && strings.Trim(line[3:], " \t") == ""
}

// Fields are values by name.
type Fields map[string]Value

// A Value is what stands behind a name. At most one of its fields is set.
type Value struct {
	Text   string // of a number or a date too, as it is written
	List   []Value
	Fields Fields
}

// String returns the text, or the texts of a list with commas between them.
func (v Value) String() string {
	if v.List == nil {
		return v.Text
	}
	texts := make([]string, len(v.List))
	for i, item := range v.List {
		texts[i] = item.Text
	}
	return strings.Join(texts, ", ")
}

// Parse returns the values of a head. The error names the first line that is not understood; what stands in
// the others counts.
func Parse(head string) (Fields, error) {
	if fields, ok := parsePlain(head); ok {
		return fields, nil
	}
	fields, err := parseYAML(head)
	if fields == nil { // it is not YAML as a whole
		return parseEntries(head)
	}
	return fields, err
}

// parsePlain reads a head whose lines are all names with plain text, which needs no YAML parser: most heads
// are, and there may be hundreds of them.
func parsePlain(head string) (Fields, bool) {
	fields := Fields{}
	for line := range strings.Lines(head) {
		name, value, ok := strings.Cut(strings.TrimRight(line, " \n"), ": ")
		value = strings.TrimLeft(value, " ")
		if _, twice := fields[name]; twice || !ok || !isName(name) || !isPlain(value) {
			return nil, false
		}
		fields[name] = Value{Text: value}
	}
	return fields, true
}

func isName(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && (i == 0 || s[i] != '-' && s[i] != '_' && (s[i] < '0' || s[i] > '9')) {
			return false
		}
	}
	return s != ""
}

// isPlain reports whether YAML takes a line for nothing but its text.
func isPlain(s string) bool {
	if s == "" || strings.EqualFold(s, "null") || !isLetter(s[0]) || strings.HasSuffix(s, ":") || strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
