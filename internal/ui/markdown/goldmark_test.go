package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"adze/internal/ui/draw"
)

// A reference renders goldmark's parse result, without wrapping and empty rows.
type reference struct{ source []byte }

func byGoldmark(source string) []draw.Row {
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough))
	r := reference{[]byte(source)}
	return r.blocks(md.Parser().Parse(text.NewReader(r.source)))
}

func (r reference) blocks(parent ast.Node) []draw.Row {
	var rows []draw.Row
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		rows = append(rows, r.block(n)...)
	}
	return rows
}

func (r reference) block(n ast.Node) []draw.Row {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		return r.lines(n)
	case *ast.Heading:
		rows := r.lines(n)
		for i := range rows {
			rows[i] = rows[i].In(draw.Heading)
		}
		return rows
	case *ast.Blockquote:
		bar := draw.Line(draw.Faint, "> ")
		return draw.Indent(r.blocks(n), bar, bar)
	case *ast.List:
		var rows []draw.Row
		number := n.Start
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			mark := string(n.Marker) + " "
			if n.IsOrdered() {
				mark = fmt.Sprintf("%d%c ", number, n.Marker)
				number++
			}
			inner := r.blocks(item)
			if len(inner) == 0 {
				inner = []draw.Row{nil}
			}
			rows = append(rows, draw.Indent(inner, draw.Line(draw.Text, mark), draw.Blanks(len(mark)))...)
		}
		return rows
	case *ast.FencedCodeBlock:
		var rows []draw.Row
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			rows = append(rows, draw.Line(draw.Text, strings.TrimSuffix(string(line.Value(r.source)), "\n")))
		}
		return rows
	case *ast.ThematicBreak:
		return []draw.Row{draw.Line(draw.Faint, "---")}
	case *extast.Table:
		return r.table(n)
	}
	return []draw.Row{draw.Line(draw.Text, "unexpected "+n.Kind().String())}
}

func (r reference) table(n *extast.Table) []draw.Row {
	var rows []draw.Row
	for line := n.FirstChild(); line != nil; line = line.NextSibling() {
		var row draw.Row
		for cell := line.FirstChild(); cell != nil; cell = cell.NextSibling() {
			if len(row) > 0 {
				row = append(row, draw.Span{Text: "  "})
			}
			for _, inner := range r.lines(cell) {
				if line.Kind() == extast.KindTableHeader {
					inner = inner.In(draw.Strong)
				}
				row = append(row, inner...)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// lines renders the inline content of a block.
func (r reference) lines(n ast.Node) []draw.Row {
	var nodes []node
	r.inline(n, 0, "", &nodes)
	p := inlines{nodes: nodes}
	var rows []draw.Row
	for _, line := range split(p.pieces(nil)) {
		rows = append(rows, joined(nil, line))
	}
	return rows
}

func split(pieces []piece) [][]piece {
	out := [][]piece{nil}
	for _, p := range pieces {
		if p.Text == "\n" {
			out = append(out, nil)
			continue
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}

func (r reference) inline(parent ast.Node, style uint8, link string, out *[]node) {
	add := func(text string, code bool) {
		if text != "" {
			*out = append(*out, node{text: text, style: style, link: link, code: code})
		}
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			add(unescape(string(n.Segment.Value(r.source))), false)
			if n.SoftLineBreak() || n.HardLineBreak() {
				add("\n", false)
			}
		case *ast.String:
			add(string(n.Value), false)
		case *ast.CodeSpan:
			inner := ""
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				inner += string(c.(*ast.Text).Segment.Value(r.source))
			}
			add(strings.ReplaceAll(inner, "\n", " "), true)
		case *ast.Emphasis:
			r.inline(n, style|map[int]uint8{1: emphasis, 2: strong}[n.Level], link, out)
		case *extast.Strikethrough:
			r.inline(n, style|struck, link, out)
		case *ast.Link:
			r.inline(n, style, string(n.Destination), out)
		case *ast.AutoLink:
			*out = append(*out, node{text: string(n.URL(r.source)), style: style, link: string(n.URL(r.source))})
		default:
			add("unexpected "+n.Kind().String(), false)
		}
	}
}

var escaped = regexp.MustCompile("\\\\([!-/:-@[-`{-~])")

func unescape(text string) string { return escaped.ReplaceAllString(text, "$1") }

// bare returns rows as lines with tags, without empty lines, and with columns two blanks apart.
func bare(rows []draw.Row) string {
	gaps := regexp.MustCompile(`(\S)   *`)
	var out []string
	for _, row := range rows {
		line := show([]draw.Row{row})
		if plain := strings.Trim(row.String(), "> "); plain == "" {
			continue
		}
		out = append(out, strings.TrimRight(gaps.ReplaceAllString(line, "$1  "), " "))
	}
	return strings.Join(out, "\n")
}

// TestDocumentsAsGoldmark checks that text, roles and nesting agree with goldmark.
//
// Proves X-123.
func TestDocumentsAsGoldmark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(blocks(t, 0), "\n") + "\n"
		compare(t, source)
	})
}

func compare(t *rapid.T, source string) {
	got := bare(drawn(Stream{Links: true}, source, rapid.IntRange(1, 300).Draw(t, "size")))
	if diff := cmp.Diff(bare(byGoldmark(source)), got); diff != "" {
		t.Fatalf("%s\n(-goldmark +drawn)\n%s", source, diff)
	}
}

// TestInlineAsGoldmark checks that inline marks are parsed as by goldmark, in any position.
func TestInlineAsGoldmark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "word", " ", " ", "*", "**", "***", "_", "__", "`", "``", "~~", "[", "]", ".", "(", ")", "\\", "\\*", "\n", "é", "[x](file:///y)"})
		source := "x" + strings.Join(rapid.SliceOfN(part, 1, 24).Draw(t, "parts"), "")
		compare(t, regexp.MustCompile(`(?m)^\s+|\s+$|^([^a-z\[]*)$`).ReplaceAllString(source, "q$1"))
	})
}

// blocks generates a document as lines, nested up to three deep.
func blocks(t *rapid.T, depth int) []string {
	var lines []string
	for i := range rapid.IntRange(1, 4).Draw(t, "blocks") {
		if i > 0 {
			lines = append(lines, "")
		}
		kinds := 6
		if depth < 3 {
			kinds = 9
		}
		lines = append(lines, block(t, rapid.IntRange(0, kinds-1).Draw(t, "kind"), depth)...)
	}
	return lines
}

func block(t *rapid.T, kind, depth int) []string {
	switch kind {
	case 0:
		return []string{strings.Repeat("#", rapid.IntRange(1, 6).Draw(t, "level")) + " " + phrase(t)}
	case 1:
		return fencedCode(t)
	case 2:
		return tableOf(t)
	case 3:
		return []string{"***"}
	case 6:
		return behind("> ", "> ", blocks(t, depth+1))
	case 7:
		return items(t, depth, func(int) string { return "- " })
	case 8:
		start := rapid.IntRange(1, 120).Draw(t, "start")
		return items(t, depth, func(i int) string { return fmt.Sprintf("%d. ", start+i) })
	}
	var lines []string
	for range rapid.IntRange(1, 3).Draw(t, "lines") {
		lines = append(lines, phrase(t))
	}
	return lines
}

func items(t *rapid.T, depth int, mark func(int) string) []string {
	var lines []string
	for i := range rapid.IntRange(1, 3).Draw(t, "items") {
		m := mark(i)
		if i > 0 && rapid.Bool().Draw(t, "loose") {
			lines = append(lines, "")
		}
		lines = append(lines, behind(m, strings.Repeat(" ", len(m)), blocks(t, depth+1))...)
	}
	return append(lines, "", "text after the list") // otherwise the next list would continue this one
}

func behind(head, hang string, lines []string) []string {
	var out []string
	for i, line := range lines {
		if i > 0 {
			head = hang
		}
		out = append(out, strings.TrimRight(head+line, " "))
	}
	return out
}

func fencedCode(t *rapid.T) []string {
	mark := rapid.SampledFrom([]string{"```", "````", "~~~"}).Draw(t, "fence")
	lines := []string{mark + rapid.SampledFrom([]string{"", "unknown"}).Draw(t, "language")}
	lines = append(lines, rapid.SliceOfN(rapid.SampledFrom([]string{"x = 1", "    indented", "- no item", "# no heading", "| no | table |", "**no** `marks`", ""}), 1, 4).Draw(t, "code")...)
	return append(lines, mark)
}

func tableOf(t *rapid.T) []string {
	n := rapid.IntRange(1, 4).Draw(t, "columns")
	row := func(cell func() string) string {
		line := "|"
		for range n {
			line += " " + cell() + " |"
		}
		return line
	}
	lines := []string{row(func() string { return phrase(t) }), row(func() string { return rapid.SampledFrom([]string{"---", ":-", ":-:"}).Draw(t, "align") })}
	for range rapid.IntRange(0, 3).Draw(t, "rows") {
		lines = append(lines, row(func() string { return phrase(t) }))
	}
	return lines
}

// phrase generates words with marks that do not begin a block.
func phrase(t *rapid.T) string {
	word := rapid.SampledFrom([]string{"one", "two", "three.", "*em*", "**strong**", "***both***", "_under_", "snake_case_name", "`code`", "``a ` b``", "~~gone~~", "[text](https://a.b/c)", "[**bold** `c`](http://d.e)", "<https://f.g>", "2*3", "a*b*c", "**open", "[open", "\\*no\\*", "字符", "(x)", "*a **b** c*", "1."})
	return "w " + strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), " ") + " w"
}
