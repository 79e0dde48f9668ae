package markdown

import (
	"strings"

	"adze/internal/platform/term"
)

// match strips the marks of continued containers from a line, and returns how many continue.
func (s stack) match(line string) (rest string, n int) {
	rest = line
	for _, c := range s {
		switch {
		case c.bar:
			inner, ok := unquote(rest)
			if !ok {
				return rest, n
			}
			rest = inner
		case strings.TrimSpace(rest) == "":
			rest = ""
		case indentOf(rest) < c.indent:
			return rest, n
		default:
			rest = dedent(rest, c.indent)
		}
		n++
	}
	return rest, n
}

// open returns the container that a line begins, if any, and the line without its mark.
func open(line string) (rest string, c container, ok bool) {
	indent := indentOf(line)
	if indent >= 4 || rule(line) {
		return line, c, false
	}
	if inner, ok := unquote(line); ok {
		return inner, container{mark: "> ", bar: true}, true
	}
	text := trimLeft(line)
	mark := itemMark(text)
	if mark == "" {
		return line, c, false
	}
	behind := dedent(line, indent)[len(mark):]
	blanks := indentOf(behind)
	if strings.TrimSpace(behind) == "" || blanks > 4 {
		blanks = 1
	}
	c = container{mark: text[:min(len(text), len(mark)+1)], indent: indent + len(mark) + blanks}
	if !strings.HasPrefix(behind, " ") { // a tab, or nothing
		c.mark = mark + " "
	}
	return dedent(behind, blanks), c, true
}

// interrupts reports whether the mark that a line begins with ends a paragraph: a number may be
// part of a sentence.
func interrupts(line string) bool {
	text := trimLeft(line)
	mark := itemMark(text)
	if mark == "" {
		return true // a quote
	}
	return strings.TrimSpace(text[len(mark):]) != "" && (len(mark) == 1 || mark == "1." || mark == "1)")
}

// starts reports whether a line begins a new block.
func starts(line string) bool {
	if _, _, ok := open(line); ok {
		return true
	}
	if _, ok := heading(line); ok {
		return true
	}
	return indentOf(line) < 4 && (fenceMark(strings.TrimSpace(line)) != "" || rule(line))
}

// unquote strips the quote mark from a line.
func unquote(line string) (rest string, ok bool) {
	if indentOf(line) >= 4 {
		return line, false
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(line, " "), ">")
	if !ok {
		return line, false
	}
	if indentOf(rest) > 0 {
		rest = dedent(rest, 1)
	}
	return rest, true
}

// itemMark returns the list item mark that text begins with: a bullet, or a number followed by
// a dot or parenthesis.
func itemMark(text string) string {
	end := 0
	switch {
	case text == "":
		return ""
	case strings.IndexByte("-*+", text[0]) >= 0:
		end = 1
	default:
		for end < len(text) && end < 9 && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		if end == 0 || end == len(text) || text[end] != '.' && text[end] != ')' {
			return ""
		}
		end++
	}
	if end < len(text) && text[end] != ' ' && text[end] != '\t' {
		return ""
	}
	return text[:end]
}

// heading returns the text of a heading.
func heading(line string) (title string, ok bool) {
	if indentOf(line) >= 4 {
		return "", false
	}
	text := strings.TrimSpace(line)
	n := len(text) - len(strings.TrimLeft(text, "#"))
	if n == 0 || n > 6 || n < len(text) && text[n] != ' ' && text[n] != '\t' {
		return "", false
	}
	title = strings.TrimSpace(text[n:])
	if end := strings.TrimRight(title, "#"); end == "" || strings.HasSuffix(end, " ") || strings.HasSuffix(end, "\t") {
		title = strings.TrimSpace(end)
	}
	return title, true
}

// rule reports whether a line is a horizontal rule.
func rule(line string) bool {
	if indentOf(line) >= 4 {
		return false
	}
	text := strings.TrimSpace(line)
	if text == "" || strings.IndexByte("-*_", text[0]) < 0 {
		return false
	}
	return strings.Count(text, text[:1]) >= 3 && strings.Trim(text, text[:1]+" \t") == ""
}

// fenceMark returns the fence that text begins with, or "".
func fenceMark(text string) string {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return ""
	}
	n := run(text)
	if n < 3 || text[0] == '`' && strings.IndexByte(text[n:], '`') >= 0 {
		return ""
	}
	return text[:n]
}

// run returns the length of the run of equal bytes that text begins with.
func run(text string) int {
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

// tabStop is the distance between tab stops in Markdown.
const tabStop = 4

// indentOf returns the indentation of a line in columns.
func indentOf(line string) int {
	n := 0
	for _, c := range []byte(line) {
		switch c {
		case ' ':
			n++
		case '\t':
			n += tabStop - n%tabStop
		default:
			return n
		}
	}
	return n
}

// dedent removes n columns of indentation from a line. The remainder of a split tab becomes
// blanks.
func dedent(line string, n int) string {
	column := 0
	for i := 0; i < len(line) && column < n; i++ {
		switch line[i] {
		case ' ':
			column++
		case '\t':
			column += tabStop - column%tabStop
		default:
			return line[i:]
		}
		if column >= n {
			return strings.Repeat(" ", column-n) + line[i+1:]
		}
	}
	if n <= 0 {
		return line
	}
	return ""
}

// trim returns text without leading and trailing blanks, and trimLeft without leading ones.
func trim(text string) string {
	to := len(text)
	for to > 0 && blank(text[to-1]) {
		to--
	}
	return trimLeft(text[:to])
}

func trimLeft(text string) string {
	from := 0
	for from < len(text) && blank(text[from]) {
		from++
	}
	return text[from:]
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// clean returns text as it is measured. A carriage return becomes a blank, so that it does not
// overwrite text in a terminal.
func clean(text string) string {
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", " ").Replace(strings.TrimSuffix(text, "\r"))
	}
	return term.SanitizeText(text)
}
