package draw

import (
	"fmt"
	"strconv"
	"strings"

	"adze/internal/platform/term/cells"
	"adze/internal/tool"
	"adze/internal/ui/code"
)

// diff renders a change with line numbers, added and removed markers, and highlighted word
// changes. Unchanged lines and new files are syntax-highlighted.
func (o Options) diff(d tool.Diff) []Row {
	out := []Row{o.diffTitle(d)}
	total, shown := 0, 0
	p := patch{options: o, path: d.Path, whole: d.Created, ends: lineEnds(d.Hunks), digits: digits(d.Hunks)}
	for i, h := range d.Hunks {
		total += len(h.Lines)
		most := len(h.Lines)
		if o.Max > 0 {
			most = min(most, o.Max-shown)
		}
		if most <= 0 {
			continue
		}
		if i > 0 {
			out = append(out, o.cut(Faint, o.marks().More))
		}
		out = append(out, p.hunk(h, most)...)
		shown += most
	}
	if left := total - shown; left > 0 {
		out = append(out, o.cut(Faint, o.marks().More+" "+count(left, "more lines")))
	}
	if d.Partial && o.Proposed {
		out = append(out, o.cut(Warning, "! This is not all of it: the change is too large to be shown."))
	}
	return out
}

// diffTitle describes the change made or proposed to a file.
func (o Options) diffTitle(d tool.Diff) Row {
	path := Spell(o.path(d.Path))
	switch {
	case o.Proposed && d.Created:
		return o.cut(Faint, fmt.Sprintf("would create %s, %s", path, count(d.Added, "lines")))
	case o.Proposed:
		return o.cut(Faint, fmt.Sprintf("would change %s, %d added, %d removed", path, d.Added, d.Removed))
	}
	row := Row{{Role: Strong, Text: Clean(path)}, {Text: "  "}, {Role: Added, Text: fmt.Sprintf("+%d", d.Added)}}
	if d.Created {
		row = append(row, Span{Role: Faint, Text: " new file"})
	} else {
		row = append(row, Span{Role: Removed, Text: fmt.Sprintf(" -%d", d.Removed)})
	}
	if o.Width > 0 {
		return row.Cut(o.Width, o.marks().More)
	}
	return row
}

// digits returns the width of the line numbers in cells, or 0 if they are unknown.
func digits(hunks []tool.Hunk) int {
	last := 0
	for _, h := range hunks {
		if h.OldStart > 0 || h.NewStart > 0 {
			last = max(last, h.OldStart+len(h.Lines), h.NewStart+len(h.Lines))
		}
	}
	if last == 0 {
		return 0
	}
	return max(3, len(strconv.Itoa(last)))
}

// lineEnds returns "\r" if every line of the file ends with it, otherwise "".
func lineEnds(hunks []tool.Hunk) string {
	for _, h := range hunks {
		for _, line := range h.Lines {
			if !strings.HasSuffix(line, "\r") && !strings.HasPrefix(line, `\`) {
				return ""
			}
		}
	}
	return "\r"
}

// A patch renders the hunks of a change.
type patch struct {
	options       Options
	path          string
	whole         bool   // the whole file is new
	ends          string // common line ending, not shown
	digits        int
	before, after code.Lexer // state per hunk; the text between hunks is unknown
}

// hunk renders the first lines of a hunk.
func (p *patch) hunk(h tool.Hunk, most int) []Row {
	before, after := h.OldStart, h.NewStart
	p.before, p.after = code.New(p.path), code.New(p.path)
	lines := make([]string, len(h.Lines))
	for i, line := range h.Lines {
		line = Spell(strings.TrimSuffix(line, p.ends))
		lines[i] = line[:min(1, len(line))] + ExpandTabs(line[min(1, len(line)):])
	}
	changed := changes(lines)
	var out []Row
	for i, line := range lines[:most] {
		mark, text := " ", ""
		if line != "" {
			mark, text = line[:1], line[1:]
		}
		number := after
		var row Row
		switch mark {
		case "-":
			number = before
			before++
			row = changedLine(Highlight(nil, &p.before, text), changed[i], removedLine)
		case "+":
			after++
			if row = Highlight(nil, &p.after, text); p.whole {
				row = row.On(AddedGround, true)
			} else {
				row = changedLine(row, changed[i], addedLine)
			}
		case " ":
			before, after = before+1, after+1
			p.before.Line(nil, text)
			row = Highlight(nil, &p.after, text)
		default: // a remark on the previous line
			number, mark, row = 0, " ", Line(Faint, line)
		}
		row = append(p.head(number, mark), row...)
		if p.options.Width > 0 {
			row = row.Cut(p.options.Width, p.options.marks().More)
		}
		out = append(out, row)
	}
	return out
}

// head returns a line's number and mark.
func (p *patch) head(number int, mark string) Row {
	look := map[string]lineLook{"+": addedLine, "-": removedLine}[mark]
	row := Row{{Role: look.role, Ground: look.ground, Text: mark}}
	if p.digits == 0 {
		return row
	}
	text := ""
	if number > 0 {
		text = strconv.Itoa(number)
	}
	return append(Row{{Role: Faint, Ground: look.ground, Text: cells.Right(text, p.digits) + " "}}, row...)
}

// A lineLook is the look of a changed line: the backgrounds of the line and its changed words,
// and the roles that replace them in themes without backgrounds.
type lineLook struct {
	role, wordRole Role
	ground, word   Ground
}

var (
	addedLine   = lineLook{Added, AddedWord, AddedGround, AddedWordGround}
	removedLine = lineLook{Removed, RemovedWord, RemovedGround, RemovedWordGround}
)

// Highlight returns a syntax-highlighted line of code, allocated from s, which may be nil.
func Highlight(s *RowArena, l *code.Lexer, line string) Row {
	if !l.Known() {
		return s.Line(Text, line)
	}
	var tokens [64]code.Token
	list := l.Line(tokens[:0], line)
	row := s.Row(len(list))
	from := 0
	for _, t := range list {
		row = append(row, Span{Role: codeRoles[t.Class], Text: line[from:t.End]})
		from = t.End
	}
	return row
}

var codeRoles = [...]Role{code.Plain: Text, code.Keyword: Keyword, code.String: String, code.Number: Number, code.Comment: Comment}

// changedLine returns a changed line of code in its look.
func changedLine(code Row, changed []Range, look lineLook) Row {
	size := 0
	for _, s := range code {
		size += len(s.Text)
	}
	row := make(Row, 0, len(code)+2*len(changed)+1)
	add := func(from, to int, ground Ground, role Role) {
		for _, s := range code.Slice(from, to) {
			s.Ground, s.Else = ground, role
			row = append(row, s)
		}
	}
	from := 0
	for _, c := range changed {
		add(from, c.From, look.ground, look.role)
		add(c.From, c.To, look.word, look.wordRole)
		from = c.To
	}
	add(from, size, look.ground, look.role)
	return append(row, Span{Ground: look.ground, Fill: true})
}
