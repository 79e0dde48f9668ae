// Package frontmatter parses the YAML front matter of Markdown files. It tolerates files that
// are not quite YAML and reads them as their authors meant them.
package frontmatter

import (
	"errors"
	"strings"
)

// ErrUnterminated means that front matter is not terminated. The whole file is then the body.
var ErrUnterminated = errors.New("the front matter is not closed by a line of three dashes; it is read as text")

// Split separates the front matter, without its dashes, from the body. Without front matter,
// head is empty. The dashes may be followed by blanks.
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
	return "", text, ErrUnterminated
}

// isRule reports whether a line consists of three dashes.
func isRule(line string) bool {
	return strings.HasPrefix(line, "---") && strings.Trim(line[3:], " \t") == ""
}

// Fields maps names to values.
type Fields map[string]Value

// A Value is a field's value. Text, List and Fields are mutually exclusive.
type Value struct {
	Text   string // verbatim, also for numbers and dates
	List   []Value
	Fields Fields
}

// String returns the text, or the comma-separated texts of a list.
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

// Parse parses front matter. The error names the first invalid line; the values of the other
// lines are returned nevertheless.
func Parse(head string) (Fields, error) {
	if fields, ok := parsePlain(head); ok {
		return fields, nil
	}
	fields, err := parseYAML(head)
	if fields == nil { // invalid YAML
		return parseEntries(head)
	}
	return fields, err
}

// parsePlain parses front matter that consists only of names with plain text, without a YAML
// parser. Most front matter does, and there may be hundreds of files.
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

// isPlain reports whether YAML reads s as plain text.
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
