package markdown

import (
	"fmt"
	"html"
	"strings"

	"adze/internal/ui/code"
	"adze/internal/ui/draw"
)

// HTML returns a text as HTML elements. Its own markup is escaped, and only web addresses are
// linked. Code is highlighted with the classes k, s, n and c for keywords, strings, numbers and
// comments, and lines of diffs have the classes add and del.
func HTML(text string) string {
	p := page{look: look{links: true, space: &space{}}}
	p.look.stock = &p.look.space.stock
	p.blocks(strings.Split(clean(strings.ReplaceAll(text, "\r\n", "\n")), "\n"), 0)
	return p.out.String()
}

// maxDepth is the maximum depth of quotes and lists; deeper ones are text.
const maxDepth = 16

// A page is HTML being written.
type page struct {
	out  strings.Builder
	look look
}

func (p *page) print(parts ...string) {
	for _, s := range parts {
		p.out.WriteString(s)
	}
}

// blocks writes lines as blocks. Depth is the number of containers around them.
func (p *page) blocks(lines []string, depth int) {
	for len(lines) > 0 {
		lines = lines[max(1, p.block(lines, depth)):]
	}
}

// block writes the block that lines begin with, and returns the number of its lines.
func (p *page) block(lines []string, depth int) int {
	line := lines[0]
	text := strings.TrimSpace(line)
	title, isHeading := heading(line)
	switch {
	case text == "":
		return 1
	case indentOf(line) >= 4:
		return p.indentedCode(lines)
	case fenceMark(text) != "":
		return p.fence(lines)
	case isHeading:
		level := min(6, 2+len(text)-len(strings.TrimLeft(text, "#")))
		p.print(fmt.Sprintf("<h%d>", level))
		p.inline(title)
		p.print(fmt.Sprintf("</h%d>\n", level))
		return 1
	case rule(line):
		p.print("<hr>\n")
		return 1
	case depth < maxDepth && strings.HasPrefix(text, ">"):
		return p.quote(lines, depth)
	case depth < maxDepth && itemMark(trimLeft(line)) != "":
		return p.list(lines, depth)
	case len(lines) > 1 && strings.Contains(line, "|") && delimits(lines[1]) && len(tableCells(line)) == len(tableCells(lines[1])):
		return p.table(lines)
	}
	n := 1
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" && !(starts(lines[n]) && (itemMark(trimLeft(lines[n])) == "" || interrupts(lines[n]))) {
		n++
	}
	p.print("<p>")
	p.paragraph(lines[:n])
	p.print("</p>\n")
	return n
}

// paragraph writes lines of prose, which keep their breaks.
func (p *page) paragraph(lines []string) {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimSuffix(trim(line), `\`))
	}
	p.inline(b.String())
}

// inline writes text with its marks as elements. Marks do not enclose more than maxPara bytes.
func (p *page) inline(text string) {
	for len(text) > maxPara {
		n := strings.LastIndexAny(text[:maxPara], " \n") + 1
		if n == 0 {
			n = whole([]byte(text[:maxPara]))
		}
		p.inline(text[:n])
		text = text[n:]
	}
	pieces, _ := p.look.inline(text, 0)
	for _, s := range joined(nil, pieces) {
		body := strings.ReplaceAll(html.EscapeString(s.Text), "\n", "<br>\n")
		if tag := roleTags[s.Role]; tag != "" {
			body = "<" + tag + ">" + body + "</" + tag + ">"
		}
		if strings.HasPrefix(s.Link, "https://") || strings.HasPrefix(s.Link, "http://") {
			body = `<a href="` + html.EscapeString(s.Link) + `" rel="noreferrer">` + body + "</a>"
		}
		p.print(body)
	}
}

// roleTags are the elements of text roles.
var roleTags = map[draw.Role]string{draw.Strong: "strong", draw.Emphasis: "em", draw.Struck: "del", draw.Code: "code"}

// fence writes a fenced code block.
func (p *page) fence(lines []string) int {
	text := strings.TrimSpace(lines[0])
	mark, indent := fenceMark(text), indentOf(lines[0])
	language, _, _ := strings.Cut(strings.TrimSpace(text[len(mark):]), " ")
	n := 1
	for n < len(lines) {
		end := strings.TrimSpace(lines[n])
		if indentOf(lines[n]) < 4 && strings.HasPrefix(end, mark) && strings.Trim(end, mark[:1]) == "" {
			break
		}
		n++
	}
	p.print("<pre")
	if language != "" {
		p.print(` data-language="`, html.EscapeString(language), `"`)
	}
	p.print("><code>")
	p.code(lines[1:n], indent, strings.ToLower(language))
	p.print("</code></pre>\n")
	return min(n+1, len(lines))
}

// indentedCode writes code that is indented by four columns.
func (p *page) indentedCode(lines []string) int {
	n := 1
	for n < len(lines) && indentOf(lines[n]) >= 4 {
		n++
	}
	p.print("<pre><code>")
	p.code(lines[:n], 4, "")
	p.print("</code></pre>\n")
	return n
}

// code writes lines of code without up to indent columns of indentation.
func (p *page) code(lines []string, indent int, language string) {
	lexer, isDiff := code.New(language), language == "diff" || language == "patch"
	for _, line := range lines {
		line = dedent(line, min(indent, indentOf(line)))
		if class := diffClass(line); isDiff && class != "" {
			p.print(`<span class="`, class, `">`, html.EscapeString(line), "</span>\n")
			continue
		}
		for _, s := range draw.Highlight(nil, &lexer, line) {
			if class := codeClasses[s.Role]; class != "" {
				p.print(`<span class="`, class, `">`, html.EscapeString(s.Text), "</span>")
			} else {
				p.print(html.EscapeString(s.Text))
			}
		}
		p.print("\n")
	}
}

var codeClasses = map[draw.Role]string{draw.Keyword: "k", draw.String: "s", draw.Number: "n", draw.Comment: "c"}

// diffClass returns the class of a line of a diff, or "".
func diffClass(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return ""
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return ""
}

// quote writes a quote, with the lines that lazily continue its paragraph.
func (p *page) quote(lines []string, depth int) int {
	var inner []string
	for _, line := range lines {
		rest, ok := unquote(line)
		last := len(inner) - 1
		if !ok && (strings.TrimSpace(line) == "" || starts(line) || last < 0 || strings.TrimSpace(inner[last]) == "") {
			break
		}
		inner = append(inner, rest)
	}
	p.print("<blockquote>\n")
	p.blocks(inner, depth+1)
	p.print("</blockquote>\n")
	return len(inner)
}

// list writes consecutive items of one kind.
func (p *page) list(lines []string, depth int) int {
	first := itemMark(trimLeft(lines[0]))
	tag := "ul"
	if len(first) > 1 {
		tag = "ol"
		p.print(fmt.Sprintf("<ol start=\"%s\">\n", first[:len(first)-1]))
	} else {
		p.print("<ul>\n")
	}
	n := 0
	for n < len(lines) {
		mark := itemMark(trimLeft(lines[n]))
		if mark == "" || indentOf(lines[n]) >= 4 || mark[len(mark)-1] != first[len(first)-1] || rule(lines[n]) {
			break
		}
		n += p.item(lines[n:], depth)
		for next := n; next < len(lines); next++ { // empty lines between items
			if strings.TrimSpace(lines[next]) != "" {
				if itemMark(trimLeft(lines[next])) != "" {
					n = next
				}
				break
			}
		}
	}
	p.print("</", tag, ">\n")
	return n
}

// item writes a list item and returns the number of its lines.
func (p *page) item(lines []string, depth int) int {
	rest, c, _ := open(lines[0])
	inner := []string{rest}
	for n := 1; n < len(lines); n++ {
		line := lines[n]
		switch {
		case strings.TrimSpace(line) == "":
			line = ""
		case indentOf(line) >= c.indent:
			line = dedent(line, c.indent)
		case inner[n-1] == "" || starts(line):
			return p.itemBody(inner, depth)
		}
		inner = append(inner, line)
	}
	return p.itemBody(inner, depth)
}

// itemBody writes an item with its lines. A single paragraph has no element of its own.
func (p *page) itemBody(lines []string, depth int) int {
	n := len(lines)
	for len(lines) > 1 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	p.print("<li")
	for mark, box := range map[string]string{"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"} {
		if rest, ok := strings.CutPrefix(lines[0], mark); ok {
			p.print(` class="task"><span>`, box, "</span")
			lines = append([]string{rest}, lines[1:]...)
			break
		}
	}
	p.print(">")
	end := 1 // lines of the first paragraph
	for end < len(lines) && lines[end] != "" && !starts(lines[end]) {
		end++
	}
	if starts(lines[0]) || indentOf(lines[0]) >= 4 {
		end = 0
	}
	p.paragraph(lines[:end])
	if end < len(lines) {
		p.print("\n")
		p.blocks(lines[end:], depth+1)
	}
	p.print("</li>\n")
	return n
}

// table writes a table.
func (p *page) table(lines []string) int {
	head, marks := tableCells(lines[0]), tableCells(lines[1])
	row := func(cells []string, tag string) {
		p.print("<tr>")
		for i := range head {
			p.print("<", tag)
			if m := marks[i]; strings.HasSuffix(m, ":") && !strings.HasPrefix(m, ":") {
				p.print(` class="right"`)
			}
			p.print(">")
			if i < len(cells) {
				p.inline(cells[i])
			}
			p.print("</", tag, ">")
		}
		p.print("</tr>\n")
	}
	p.print("<div class=\"table\"><table>\n<thead>")
	row(head, "th")
	p.print("</thead>\n<tbody>\n")
	n := 2
	for ; n < len(lines) && strings.TrimSpace(lines[n]) != "" && strings.Contains(lines[n], "|"); n++ {
		row(tableCells(lines[n]), "td")
	}
	p.print("</tbody>\n</table></div>\n")
	return n
}
