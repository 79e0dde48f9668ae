package draw

import (
	"strings"

	"adze/internal/platform/cells"
	"adze/internal/platform/term"
)

// A Markdown draws an answer that arrives in pieces, line by line: prose is wrapped, code is left as it is so that it can
// be copied, tables are aligned. Without styles the marks of Markdown stay, since nothing else could show what they mean.
type Markdown struct {
	// Width is the width of a line of prose.
	Width   int
	Palette Palette

	line  string   // the one that is not complete
	given int      // rows of it that are final
	fence string   // that ends the code, or empty
	table []string // the lines of the table so far
}

// maxTable is how many lines of a table are held back to align them.
const maxTable = 200

// Add takes a piece of text and returns the lines that will not change any more, safe for a terminal.
func (m *Markdown) Add(text string) []string {
	var lines []string
	for {
		piece, rest, whole := strings.Cut(text, "\n")
		m.line += piece
		if !whole {
			break
		}
		lines = append(lines, m.complete()...)
		text = rest
	}
	return append(lines, m.settled()...)
}

// End returns what was held back. The next text begins on a new line.
func (m *Markdown) End() []string {
	var lines []string
	if m.line != "" {
		lines = m.complete()
	}
	lines = append(lines, m.endTable()...)
	m.fence = ""
	return lines
}

// Rows returns what has arrived of the lines that are not complete.
func (m *Markdown) Rows() []string {
	var rows []string
	for _, line := range m.table {
		rows = append(rows, term.SanitizeText(line))
	}
	if m.line == "" {
		return rows
	}
	return append(rows, m.draw(m.line)[m.given:]...)
}

// complete draws the line, which is complete.
func (m *Markdown) complete() []string {
	line, given := m.line, m.given
	m.line, m.given = "", 0
	trimmed := strings.TrimSpace(line)
	if m.fence == "" && strings.HasPrefix(trimmed, "|") && len(m.table) < maxTable {
		m.table = append(m.table, line)
		return nil
	}
	lines := m.endTable()
	switch {
	case m.fence != "" && strings.HasPrefix(trimmed, m.fence) && strings.Trim(trimmed, m.fence[:1]) == "":
		m.fence = ""
		return append(lines, m.marker(line)...)
	case m.fence == "" && opensFence(trimmed):
		m.fence = trimmed[:run(trimmed)]
		return append(lines, m.marker(line)...)
	}
	return append(lines, m.draw(line)[given:]...)
}

func opensFence(trimmed string) bool {
	return strings.HasPrefix(trimmed, "```") && !strings.Contains(trimmed[run(trimmed):], "`") || strings.HasPrefix(trimmed, "~~~")
}

// marker draws the line before or after code. Where styles tell code from prose, it is not needed.
func (m *Markdown) marker(line string) []string {
	if m.Palette.Accent != "" {
		return nil
	}
	return []string{term.SanitizeText(line)}
}

// settledRows is how many rows of a paragraph may change as it arrives.
const settledRows = 4

// settled returns the first rows of a long paragraph that is not complete. What comes does not change them, unless a mark
// is open.
func (m *Markdown) settled() []string {
	if len(m.line) < m.Width*settledRows || m.fence != "" || strings.HasPrefix(strings.TrimSpace(m.line), "|") || open(m.line) {
		return nil
	}
	rows := m.draw(m.line)
	ready := len(rows) - settledRows
	if ready <= m.given {
		return nil
	}
	lines := rows[m.given:ready]
	m.given = ready
	return lines
}

// open reports whether a mark in line has no end yet.
func open(line string) bool {
	return strings.Count(line, "`")%2 != 0 || strings.Count(line, "*")%2 != 0 || strings.Count(line, "_")%2 != 0 ||
		strings.LastIndexByte(line, '[') > strings.LastIndexByte(line, ')') || strings.HasSuffix(line, "]") || strings.HasSuffix(line, "*") || strings.HasSuffix(line, "_")
}

// headingOf returns the text of a heading.
func headingOf(line string) (string, bool) {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n == len(line) || line[n] != ' ' {
		return "", false
	}
	return strings.TrimRight(strings.TrimSpace(line[n:]), " #"), true
}

// itemMark returns the mark of an item of a list, with the blanks around it; empty if the line is none.
func itemMark(line string) string {
	i := len(line) - len(strings.TrimLeft(line, " "))
	end := i
	switch {
	case end < len(line) && strings.IndexByte("-*+", line[end]) >= 0:
		end++
	default:
		for end < len(line) && line[end] >= '0' && line[end] <= '9' {
			end++
		}
		if end == i || end == len(line) || line[end] != '.' && line[end] != ')' {
			return ""
		}
		end++
	}
	if end == len(line) || line[end] != ' ' {
		return ""
	}
	return line[:len(line)-len(strings.TrimLeft(line[end:], " "))]
}

// quoteMark returns the mark of a quotation; empty if the line is none.
func quoteMark(line string) string {
	if !strings.HasPrefix(line, ">") {
		return ""
	}
	return line[:len(line)-len(strings.TrimLeft(line, "> "))]
}

// draw draws one line outside of tables.
func (m *Markdown) draw(line string) []string {
	safe := term.SanitizeText(line)
	styled := m.Palette.Strong != ""
	switch {
	case m.fence != "":
		return []string{m.Palette.Accent.Apply(safe)}
	case strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") && itemMark(safe) == "":
		return []string{safe} // code, too, or text that was laid out
	}
	if text, ok := headingOf(safe); ok && styled {
		return Wrap(m.Palette.Strong.Apply(m.inline(text, false)), m.Width, "")
	}
	head := quoteMark(safe)
	if head == "" {
		head = itemMark(safe)
	}
	hang := strings.Repeat(" ", cells.Width(head))
	if strings.Contains(head, ">") {
		hang = head
	}
	return Wrap(head+m.inline(safe[len(head):], true), m.Width, hang)
}

// inline draws the marks in a line of safe text. Marked says that parts of it may have styles of their own.
func (m *Markdown) inline(text string, marked bool) string {
	if m.Palette.Strong == "" || !strings.ContainsAny(text, "`*[") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		style, shown, n := m.span(text, i)
		if n == 0 {
			n = run(text[i:])
			shown = text[i : i+n]
		}
		if !marked {
			style = m.Palette.None
		}
		b.WriteString(style.Apply(shown))
		i += n
	}
	return b.String()
}

// run returns the length of the same bytes that text begins with.
func run(text string) int {
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

// span returns how the marked part of text that begins at i is shown, and its length; 0 if none does.
func (m *Markdown) span(text string, i int) (style Style, shown string, n int) {
	rest := text[i:]
	switch {
	case rest[0] == '`':
		mark := rest[:run(rest)]
		for end := len(mark); end < len(rest); {
			if rest[end] != '`' {
				end++
				continue
			}
			if run(rest[end:]) == len(mark) {
				return m.Palette.Accent, strings.TrimSpace(rest[len(mark):end]), end + len(mark)
			}
			end += run(rest[end:])
		}
	case strings.HasPrefix(rest, "**") && run(rest) == 2:
		if inner, ok := enclosed(rest[2:], "**"); ok {
			return m.Palette.Strong, strings.ReplaceAll(inner, "`", ""), len(inner) + 4
		}
	case rest[0] == '*' && run(rest) == 1:
		if inner, ok := enclosed(rest[1:], "*"); ok && !wordAround(text, i, i+len(inner)+2) {
			return m.Palette.Emphasis, strings.ReplaceAll(inner, "`", ""), len(inner) + 2
		}
	case rest[0] == '[':
		name, target, ok := link(rest)
		switch {
		case ok && name == target:
			return m.Palette.None, target, len(name) + len(target) + 4
		case ok:
			return m.Palette.None, name + " (" + target + ")", len(name) + len(target) + 4
		}
	}
	return "", "", 0
}

// enclosed returns the text up to a mark, if it may be marked: without blanks at its ends and other marks in it.
func enclosed(text, mark string) (string, bool) {
	inner, _, ok := strings.Cut(text, mark)
	return inner, ok && inner != "" && strings.TrimSpace(inner) == inner && !strings.Contains(inner, "*")
}

// link returns the parts of a link that text begins with.
func link(text string) (name, target string, ok bool) {
	name, rest, ok := strings.Cut(text[1:], "](")
	if !ok || strings.ContainsAny(name, "[]") {
		return "", "", false
	}
	target, _, ok = strings.Cut(rest, ")")
	return name, target, ok && strings.HasPrefix(target, "http") && !strings.ContainsAny(target, " (")
}

// wordAround reports whether the part of text touches a letter or a digit: then it is no mark, as in 2*3*4.
func wordAround(text string, from, to int) bool {
	letter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z')
	}
	return letter(from-1) || letter(to)
}

// delimits reports whether a line separates the head of a table from its rows.
func delimits(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, "|-: \t") == ""
}

// endTable draws the table that was held back: aligned, or as it was written if it is no table or does not fit.
func (m *Markdown) endTable() []string {
	lines := m.table
	m.table = nil
	if len(lines) == 0 {
		return nil
	}
	if len(lines) < 2 || !delimits(lines[1]) {
		return m.asWritten(lines)
	}
	var rows [][]string
	var widths []int
	for i, line := range lines {
		if i == 1 {
			continue
		}
		row := tableCells(term.SanitizeText(line))
		for j := range row {
			row[j] = m.inline(row[j], i > 1)
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], styledWidth(row[j]))
		}
		rows = append(rows, row)
	}
	total := -2
	for _, w := range widths {
		total += w + 2
	}
	if total > m.Width {
		return m.records(rows)
	}
	var out []string
	for i, row := range rows {
		line := ""
		for j, cell := range row {
			style := m.Palette.None
			if i == 0 {
				style = m.Palette.Strong
			}
			line += style.Apply(cell) + strings.Repeat(" ", widths[j]-styledWidth(cell)+2)
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return out
}

// records draws a table that is too wide as lines of names and values.
func (m *Markdown) records(rows [][]string) []string {
	var out []string
	for i, row := range rows[1:] {
		if i > 0 {
			out = append(out, "")
		}
		for j, cell := range row {
			name := ""
			if j < len(rows[0]) && rows[0][j] != "" {
				name = m.Palette.Strong.Apply(rows[0][j]) + ": "
			}
			out = append(out, Wrap(name+cell, m.Width, "  ")...)
		}
	}
	return out
}

func (m *Markdown) asWritten(lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, term.SanitizeText(line))
	}
	return out
}

// tableCells returns the cells of a line of a table. A bar after a backslash, or in code, is part of a cell.
func tableCells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	var row []string
	cell, code := "", false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell += "|"
			i++
		case c == '|' && !code:
			row = append(row, strings.TrimSpace(cell))
			cell = ""
		default:
			code = code != (c == '`')
			cell += string(line[i : i+1])
		}
	}
	if strings.TrimSpace(cell) != "" {
		row = append(row, strings.TrimSpace(cell))
	}
	return row
}

// styledWidth returns how many cells a text takes, not counting its styles.
func styledWidth(text string) int {
	w := 0
	for text != "" {
		if n := styleLen(text); n > 0 {
			text = text[n:]
			continue
		}
		i := strings.IndexByte(text[1:], '\x1b') + 1
		if i == 0 {
			i = len(text)
		}
		w += cells.Width(text[:i])
		text = text[i:]
	}
	return w
}
