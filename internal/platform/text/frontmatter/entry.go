package frontmatter

import (
	"cmp"
	"fmt"
	"strings"
)

// An entry is a name with its value: a line and the more deeply indented lines and list items
// below it.
type entry struct {
	number int // number of the first line
	lines  []string
}

// parseEntries parses front matter that is not valid YAML as a whole, entry by entry. Invalid
// entries are parsed loosely: users write "description: this: that" and "paths: *.go".
func parseEntries(head string) (Fields, error) {
	fields := Fields{}
	entries, first := split(head)
	for _, e := range entries {
		own, err := parseYAML(strings.Join(e.lines, "\n"))
		if own == nil {
			own, err = e.loose()
		}
		first = cmp.Or(first, err)
		for name, v := range own {
			if _, twice := fields[name]; twice {
				first = cmp.Or(first, e.errorf(0, "says %s again", name))
				continue
			}
			fields[name] = v
		}
	}
	return fields, first
}

// split splits front matter into entries.
func split(head string) (entries []*entry, err error) {
	for i, line := range strings.Split(head, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#':
			if len(entries) > 0 { // could be part of a block
				e := entries[len(entries)-1]
				e.lines = append(e.lines, line)
			}
		case line[0] != ' ' && line[0] != '\t' && line[0] != '-':
			entries = append(entries, &entry{i + 1, []string{line}})
		case len(entries) == 0:
			err = cmp.Or(err, (&entry{number: i + 1}).errorf(0, "belongs to no name"))
		default:
			e := entries[len(entries)-1]
			e.lines = append(e.lines, line)
		}
	}
	return entries, err
}

// loose parses an entry as it was probably meant.
func (e *entry) loose() (Fields, error) {
	name, value, ok := strings.Cut(e.lines[0], ":")
	name = strings.Trim(name, `"' `)
	if !ok || name == "" || value != "" && value[0] != ' ' && value[0] != '\t' {
		return nil, e.errorf(0, "is not a name with a value")
	}
	if value = uncomment(value); value != "" {
		v, ok := looseValue(value)
		if !ok {
			return nil, e.errorf(0, "has a value that is not closed")
		}
		for i, line := range e.lines[1:] {
			if uncomment(line) != "" {
				return Fields{name: v}, e.errorf(i+1, "is indented for no reason")
			}
		}
		return Fields{name: v}, nil
	}
	var list []Value
	for i, line := range e.lines[1:] {
		line = uncomment(line)
		if line == "" {
			continue
		}
		item, isItem := strings.CutPrefix(line, "-")
		v, ok := looseValue(strings.TrimSpace(item))
		if !ok || !isItem {
			return nil, e.errorf(i+1, "cannot be read")
		}
		list = append(list, v)
	}
	return Fields{name: {List: list}}, nil
}

func (e *entry) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("line %d of the front matter "+format, append([]any{e.number + line}, args...)...)
}

// looseValue parses a single-line value that is not valid YAML: a list in brackets, or the line
// itself.
func looseValue(value string) (Value, bool) {
	switch {
	case value == "":
		return Value{}, true
	case value[0] == '[':
		inner, closed := strings.CutSuffix(value[1:], "]")
		if !closed && strings.Contains(inner, "]") { // words in brackets, and more: [file] or all
			return Value{Text: value}, true
		}
		list := []Value{}
		for _, item := range SplitList(inner) {
			if item = strings.Trim(strings.TrimSpace(item), `"'`); item != "" {
				list = append(list, Value{Text: item})
			}
		}
		return Value{List: list}, closed
	case value[0] == '"' || value[0] == '\'':
		text, closed := strings.CutSuffix(value[1:], value[:1])
		if strings.Contains(text, value[:1]) { // words in quotes, and more: "file" [options]
			return Value{Text: value}, true
		}
		return Value{Text: text}, closed
	case value[0] == '{' && strings.Contains(value, ":"):
		return Value{}, false
	}
	return Value{Text: value}, true
}

// SplitList splits s at commas that are not inside braces.
func SplitList(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		return r == ',' && depth <= 0
	})
}

// uncomment returns a line without its comment and surrounding blanks.
func uncomment(line string) string {
	if i := strings.Index(" "+line, " #"); i >= 0 {
		line = line[:max(0, i-1)]
	}
	return strings.TrimSpace(line)
}
