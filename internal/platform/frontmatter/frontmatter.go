// Package frontmatter reads what stands before the text of a Markdown file, between two lines of dashes:
// names with values, in the small part of YAML that people write there. What the names mean, and what to
// do with a file that is written badly, is left to others.
package frontmatter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrOpen says that front matter begins and does not end. The text is all of it then.
var ErrOpen = errors.New("the front matter is not closed by a line of three dashes; it is read as text")

// Split separates the front matter, without its dashes, from the text. A file without any has an empty
// head.
func Split(text string) (head, body string, err error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text, nil
	}
	head, body, ok = strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		if head, ok = strings.CutSuffix("\n"+rest, "\n---"); !ok {
			return "", text, ErrOpen
		}
	}
	return strings.TrimPrefix(head, "\n"), strings.TrimSpace(body), nil
}

// Parse returns the texts of a head by name. A name below another one has both, with a dot between them. A
// list is its items, a comma after each but the last. The error names the first line that is not
// understood; what stands in the others counts.
func Parse(head string) (map[string]string, error) {
	p := parser{lines: strings.Split(head, "\n"), fields: map[string]string{}}
	for p.at < len(p.lines) {
		p.field("", 0)
	}
	return p.fields, p.err
}

type parser struct {
	lines  []string
	at     int
	fields map[string]string
	err    error
}

// field reads one name with its value, which may go on in deeper lines.
func (p *parser) field(above string, depth int) {
	line := p.lines[p.at]
	p.at++
	if blank(line) {
		return
	}
	if indent(line) != depth {
		p.fail("is indented for no reason")
		return
	}
	name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
	name = strings.Trim(name, `"' `)
	if !ok || name == "" || value != "" && value[0] != ' ' && value[0] != '\t' {
		p.fail("is not a name with a value")
		return
	}
	if above != "" {
		name = above + "." + name
	}
	if _, twice := p.fields[name]; twice {
		p.fail("says " + name + " again")
		return
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "" || strings.HasPrefix(value, "#"):
		p.nested(name, depth)
	case value[0] == '|' || value[0] == '>':
		p.fields[name] = p.block(depth, value[0] == '>')
	default:
		if p.fields[name], ok = scalar(value); !ok {
			delete(p.fields, name)
			p.fail("has a value that is not closed")
		}
	}
}

// nested reads what stands below a name: a list, further names, or nothing.
func (p *parser) nested(name string, depth int) {
	p.fields[name] = ""
	var items []string
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		item, isItem := strings.CutPrefix(strings.TrimSpace(line), "-")
		switch {
		case blank(line):
			p.at++
		case isItem && indent(line) >= depth:
			p.at++
			text, ok := scalar(strings.TrimSpace(item))
			if !ok {
				p.fail("has a value that is not closed")
			}
			items = append(items, text)
		case indent(line) > depth && depth == 0 && items == nil:
			delete(p.fields, name)
			p.field(name, indent(line))
		default:
			if items != nil {
				p.fields[name] = strings.Join(items, ", ")
			}
			return
		}
	}
	if items != nil {
		p.fields[name] = strings.Join(items, ", ")
	}
}

// block reads the deeper lines that follow, joined by blanks if they are folded.
func (p *parser) block(depth int, folded bool) string {
	var lines []string
	for p.at < len(p.lines) && (blank(p.lines[p.at]) || indent(p.lines[p.at]) > depth) {
		lines = append(lines, strings.TrimSpace(p.lines[p.at]))
		p.at++
	}
	if folded {
		return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// fail keeps the first thing that is wrong.
func (p *parser) fail(what string) {
	if p.err == nil {
		p.err = fmt.Errorf("line %d of the front matter %s", p.at, what)
	}
}

// scalar returns what a value on one line says.
func scalar(value string) (string, bool) {
	if value == "" {
		return "", true
	}
	switch value[0] {
	case '"':
		quoted, err := strconv.QuotedPrefix(value)
		if err != nil || !comment(value[len(quoted):]) {
			return "", false
		}
		text, err := strconv.Unquote(quoted)
		return text, err == nil
	case '\'':
		for i := 1; i < len(value); i++ {
			switch {
			case value[i] != '\'':
			case i+1 < len(value) && value[i+1] == '\'':
				i++
			default:
				return strings.ReplaceAll(value[1:i], "''", "'"), comment(value[i+1:])
			}
		}
		return "", false
	case '[':
		inner, _, closed := strings.Cut(value[1:], "]")
		var items []string
		for item := range strings.SplitSeq(inner, ",") {
			if text, ok := scalar(strings.TrimSpace(item)); ok && text != "" {
				items = append(items, text)
			}
		}
		return strings.Join(items, ", "), closed
	case '{':
		return "", false
	}
	if i := strings.Index(value, " #"); i >= 0 {
		value = value[:i]
	}
	return strings.TrimSpace(value), true
}

// comment reports whether nothing but a comment follows a value.
func comment(rest string) bool {
	rest = strings.TrimSpace(rest)
	return rest == "" || rest[0] == '#'
}

func blank(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
