package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
)

// A piece is a part of a text with a uniform style. A line break is a separate piece.
type piece struct {
	draw.Span
	src   int  // offset in the text
	plain bool // shown as written, and not enclosed by marks
}

// A look determines how marks are shown; see [Stream]. Rows are allocated from stock.
type look struct {
	marks, links bool
	space        *space
	stock        *draw.RowArena
}

// A space is memory reused from one text to the next.
type space struct {
	nodes    []node
	brackets []int
	pieces   []piece
	row      draw.Row
	lines    lines
	breaks   []draw.Range
	texts    []string
	cells    []draw.Row
	scratch  draw.RowArena // rows that become part of others
	stock    draw.RowArena // rows to return
}

// inline returns the pieces of a text, valid until the next call. Before is the character
// before the text. Text that follows can change the result from offset open on, where an
// unclosed mark begins.
func (l look) inline(text string, before rune) (pieces []piece, open int) {
	if before == 0 {
		before = '\n'
	}
	s := l.space
	if marked(text) == len(text) {
		s.pieces = append(s.pieces[:0], piece{draw.Span{Text: text}, 0, true})
		return s.pieces, len(text)
	}
	p := inlines{text: text, before: before, open: len(text), links: l.links, nodes: s.nodes[:0], brackets: s.brackets[:0]}
	if l.marks {
		p.asWritten()
	} else {
		p.parse()
	}
	s.nodes, s.brackets, s.pieces = p.nodes, p.brackets, p.pieces(s.pieces[:0])
	return s.pieces, p.open
}

// The marks that enclose text.
const (
	strong = 1 << iota
	emphasis
	struck
)

// A node is text, or a run of marks not yet matched.
type node struct {
	text  string
	src   int
	plain bool
	code  bool
	style uint8
	link  string

	mark          byte // character of a run of marks; 0 for text
	left, length  int  // unmatched marks, and the length of the run
	opens, closes bool
	both          bool // can open and close
}

// inlines is the state of the inline parser.
type inlines struct {
	text     string
	before   rune
	links    bool
	open     int
	nodes    []node
	brackets []int // nodes that may begin a link
}

func (p *inlines) asWritten() {
	from := 0
	for {
		end := strings.IndexByte(p.text[from:], '\n')
		if end < 0 {
			p.add(from, len(p.text))
			return
		}
		p.add(from, from+end)
		p.add(from+end, from+end+1)
		from += end + 1
	}
}

// add adds text verbatim.
func (p *inlines) add(from, to int) {
	if to > from {
		p.nodes = append(p.nodes, node{text: p.text[from:to], src: from, plain: true})
	}
}

// special lists the characters that marks begin with.
var special = [256]bool{'\\': true, '`': true, '*': true, '_': true, '~': true, '[': true, ']': true, '!': true, '<': true, '&': true, '\n': true, 'h': true}

// marked returns the offset of the first character that may begin a mark, or the length of the
// text.
func marked(text string) int {
	for i := range len(text) {
		if special[text[i]] {
			return i
		}
	}
	return len(text)
}

func (p *inlines) parse() {
	from := 0 // start of text without marks
	for i := 0; i < len(p.text); {
		if i += marked(p.text[i:]); i == len(p.text) {
			break
		}
		n := p.mark(i, from)
		if n == 0 {
			i++
			continue
		}
		i += n
		from = i
	}
	p.add(from, len(p.text))
	p.enclose(0)
	for _, i := range p.brackets {
		p.open = min(p.open, p.nodes[i].src)
	}
	for _, n := range p.nodes {
		if n.left > 0 && n.opens {
			p.open = min(p.open, n.src)
		}
	}
}

// mark parses the mark at i, and adds the preceding text since from. It returns the length of
// the mark, or 0.
func (p *inlines) mark(i, from int) int {
	rest := p.text[i:]
	switch c := rest[0]; c {
	case '\n':
		p.add(from, i)
		p.add(i, i+1)
		return 1
	case '\\':
		return p.escape(i, from)
	case '`':
		return p.code(i, from)
	case '*', '_', '~':
		return p.delimiters(i, from)
	case '[', '!':
		n := 1
		if c == '!' {
			if !strings.HasPrefix(rest, "![") {
				return 0
			}
			n = 2
		}
		p.add(from, i)
		p.brackets = append(p.brackets, len(p.nodes))
		p.nodes = append(p.nodes, node{text: rest[:n], src: i})
		return n
	case ']':
		return p.bracket(i, from)
	case '<':
		return p.auto(i, from)
	case '&':
		return p.entity(i, from)
	}
	return p.bare(i, from)
}

// entities are the named characters that models use. Others are not decoded: a numeric
// reference could encode any character.
var entities = map[string]string{
	"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'", "#39": "'", "nbsp": " ",
	"mdash": "—", "ndash": "–", "hellip": "...", "rarr": "->", "larr": "<-", "times": "×",
}

// maxEntity is the length of the longest entity name.
const maxEntity = 6

// entity parses the named character at i.
func (p *inlines) entity(i, from int) int {
	name := p.text[i+1 : min(len(p.text), i+2+maxEntity)]
	end := strings.IndexByte(name, ';')
	if end < 0 {
		if len(name) <= maxEntity && !strings.ContainsAny(name, " \n") { // the rest may follow
			p.open = min(p.open, i)
		}
		return 0
	}
	text, ok := entities[name[:end]]
	if !ok {
		return 0
	}
	p.add(from, i)
	p.nodes = append(p.nodes, node{text: text, src: i})
	return len("&") + end + len(";")
}

func (p *inlines) escape(i, from int) int {
	if i+1 == len(p.text) {
		p.open = min(p.open, i)
		return 0
	}
	c := p.text[i+1]
	if c == '\n' {
		p.add(from, i)
		p.nodes = append(p.nodes, node{src: i})
		return 1
	}
	if c <= ' ' || c >= 0x7f || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
		return 0
	}
	p.add(from, i)
	p.nodes = append(p.nodes, node{text: p.text[i+1 : i+2], src: i})
	return 2
}

// code parses code between backquotes.
func (p *inlines) code(i, from int) int {
	n := run(p.text[i:])
	for end := i + n; end < len(p.text); {
		k := strings.IndexByte(p.text[end:], '`')
		if k < 0 {
			break
		}
		end += k
		m := run(p.text[end:])
		if m == n {
			if end+m == len(p.text) {
				p.open = min(p.open, i) // more backquotes may follow
			}
			p.add(from, i)
			inner := strings.ReplaceAll(p.text[i+n:end], "\n", " ")
			if len(inner) > 1 && inner[0] == ' ' && inner[len(inner)-1] == ' ' && strings.TrimSpace(inner) != "" {
				inner = inner[1 : len(inner)-1]
			}
			p.nodes = append(p.nodes, node{text: inner, src: i, code: true})
			return end + m - i
		}
		end += m
	}
	p.open = min(p.open, i)
	p.add(from, i+n)
	return n
}

// delimiters parses a run of marks that may enclose text.
func (p *inlines) delimiters(i, from int) int {
	c, n := p.text[i], run(p.text[i:])
	if i+n == len(p.text) {
		p.open = min(p.open, i)
	}
	if c == '~' && n != 2 {
		p.add(from, i+n)
		return n
	}
	before, after := p.before, rune('\n')
	if i > 0 {
		before, _ = utf8.DecodeLastRuneInString(p.text[:i])
	}
	if i+n < len(p.text) {
		after, _ = utf8.DecodeRuneInString(p.text[i+n:])
	}
	left := !unicode.IsSpace(after) && (!punct(after) || unicode.IsSpace(before) || punct(before) || wide(before))
	right := !unicode.IsSpace(before) && (!punct(before) || unicode.IsSpace(after) || punct(after) || wide(after))
	opens, closes := left, right
	if c == '_' {
		opens, closes = left && (!right || punct(before)), right && (!left || punct(after))
	}
	p.add(from, i)
	p.nodes = append(p.nodes, node{src: i, mark: c, left: n, length: n, opens: opens, closes: closes, both: opens && closes})
	return n
}

func punct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// wide reports whether r belongs to a script written without blanks, in which marks directly
// adjoin letters.
func wide(r rune) bool { return cells.Of(r) == 2 }

// enclose matches the marks among the nodes from index from on.
func (p *inlines) enclose(from int) {
	for c := from; c < len(p.nodes); c++ {
		for p.nodes[c].mark != 0 && p.nodes[c].closes && p.nodes[c].left > 0 {
			o := p.opener(from, c)
			if o < 0 {
				p.nodes[c].closes = false
				break
			}
			p.pair(o, c)
		}
	}
	for i := from; i < len(p.nodes); i++ {
		p.nodes[i].closes = false
	}
}

// opener returns the node closed by the marks of node c, or -1.
func (p *inlines) opener(from, c int) int {
	closer := &p.nodes[c]
	for o := c - 1; o >= from; o-- {
		n := &p.nodes[o]
		if n.mark != closer.mark || !n.opens || n.left == 0 {
			continue
		}
		if (n.both || closer.both) && (n.length+closer.length)%3 == 0 && closer.length%3 != 0 {
			continue
		}
		return o
	}
	return -1
}

// pair matches the marks of two nodes and applies their style to the nodes in between.
func (p *inlines) pair(o, c int) {
	n, style := 1, uint8(emphasis)
	switch {
	case p.nodes[o].mark == '~':
		n, style = 2, struck
	case p.nodes[o].left >= 2 && p.nodes[c].left >= 2:
		n, style = 2, strong
	}
	p.nodes[o].left -= n
	p.nodes[c].left -= n
	for i := o + 1; i < c; i++ {
		p.nodes[i].style |= style
		p.nodes[i].opens, p.nodes[i].closes = false, false
	}
}

// pieces appends the nodes as they are shown.
func (p *inlines) pieces(out []piece) []piece {
	for i := range p.nodes {
		n := &p.nodes[i]
		text := n.text
		if n.mark != 0 {
			text = p.text[n.src : n.src+n.left]
		}
		if text == "" {
			continue
		}
		role := draw.Text
		switch {
		case n.code:
			role = draw.Code
		case n.style&strong != 0:
			role = draw.Strong
		case n.style&emphasis != 0:
			role = draw.Emphasis
		case n.style&struck != 0:
			role = draw.Struck
		}
		out = append(out, piece{draw.Span{Role: role, Text: text, Link: n.link}, n.src, n.plain && n.style == 0 && n.link == ""})
	}
	return out
}
