package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A book is a notebook file with the places of its cells.
type book struct {
	data  []byte
	root  node
	cells *node
}

// open takes a notebook apart, which is valid JSON.
func open(data []byte) (*book, error) {
	s := scanner{data: data, at: len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff")))}
	b := &book{data: data, root: s.value(1)}
	b.cells = b.root.member("cells")
	if b.cells == nil || b.cells.kind != '[' {
		return nil, errors.New("there is no list of cells in it")
	}
	for i := range b.cells.items {
		if b.cells.items[i].kind != '{' {
			return nil, fmt.Errorf("its cell %d is not an object", i)
		}
	}
	return b, nil
}

// hasIDs reports whether cells of this format have ids.
func (b *book) hasIDs() bool {
	number := func(key string) int {
		n := b.root.member(key)
		if n == nil {
			return 0
		}
		i, _ := strconv.Atoi(string(b.data[n.start:n.end])) // ok: no number is an old format
		return i
	}
	major, minor := number("nbformat"), number("nbformat_minor")
	return major > 4 || major == 4 && minor >= 5
}

// find returns the place of a cell: by its id, or as cell-N, counted from 0.
func (b *book) find(id string) (int, bool) {
	for i := range b.cells.items {
		if n := b.cells.items[i].member("id"); n != nil && n.text(b.data) == id {
			return i, true
		}
	}
	if digits, ok := strings.CutPrefix(id, "cell-"); ok {
		if i, err := strconv.Atoi(digits); err == nil && i >= 0 && i < len(b.cells.items) {
			return i, true
		}
	}
	return 0, false
}

// A patch is bytes to put in the place of a part of the file.
type patch struct {
	start, end int
	text       string
}

// apply carries out patches, which are in order and apart.
func (b *book) apply(patches []patch) [][]byte {
	var pieces [][]byte
	at := 0
	for _, p := range patches {
		pieces = append(pieces, b.data[at:p.start], []byte(p.text))
		at = p.end
	}
	return append(pieces, b.data[at:])
}

// replace gives a cell another source. Of a code cell the outputs are cleared, since they are not those
// of this source.
func (b *book) replace(i int, source string) []patch {
	cell := &b.cells.items[i]
	var patches []patch
	for _, m := range cell.members {
		if cell.member(m.key).start != m.value.start { // there is another one with this key
			continue
		}
		text := ""
		switch m.key {
		case "source":
			text = b.source(source, m.value.kind == '"', b.indentOf(m))
		case "outputs":
			text = "[]"
		case "execution_count":
			text = "null"
		default:
			continue
		}
		patches = append(patches, patch{m.value.start, m.value.end, text})
	}
	if cell.member("source") == nil {
		text := `"source": ` + b.source(source, false, "")
		if len(cell.members) > 0 {
			text += ", "
		}
		patches = append([]patch{{cell.start + 1, cell.start + 1, text}}, patches...)
	}
	return patches
}

// retype replaces a cell by one of another type that keeps its id and metadata.
func (b *book) retype(i int, kind, source string) []patch {
	cell := &b.cells.items[i]
	raw := func(key, otherwise string) string {
		if n := cell.member(key); n != nil {
			return string(b.data[n.start:n.end])
		}
		return otherwise
	}
	text := b.cell(kind, source, raw("id", ""), raw("metadata", "{}"), b.indentAt(cell.start))
	return []patch{{cell.start, cell.end, text}}
}

// insert adds a cell after the one at i; -1 is the top.
func (b *book) insert(i int, kind, source, id string) []patch {
	if id != "" {
		id = quote(id)
	}
	items := b.cells.items
	if len(items) == 0 {
		outer, inner := b.indentAt(b.cells.start), b.indentAt(b.cells.start)
		if outer != "" {
			inner += b.unit()
		}
		return []patch{{b.cells.start, b.cells.end, "[" + inner + b.cell(kind, source, id, "{}", inner) + outer + "]"}}
	}
	indent := b.indentAt(items[0].start)
	text := b.cell(kind, source, id, "{}", indent)
	if i < 0 {
		return []patch{{items[0].start, items[0].start, text + "," + b.gap(indent)}}
	}
	return []patch{{items[i].end, items[i].end, "," + b.gap(indent) + text}}
}

// gap is what is between a comma and the next cell.
func (b *book) gap(indent string) string {
	if indent == "" {
		return " "
	}
	return indent
}

// remove takes a cell out, with the comma that it then does not need.
func (b *book) remove(i int) []patch {
	items := b.cells.items
	switch {
	case len(items) == 1:
		return []patch{{b.cells.start, b.cells.end, "[]"}}
	case i+1 < len(items):
		return []patch{{items[i].start, items[i+1].start, ""}}
	}
	return []patch{{items[i-1].end, items[i].end, ""}}
}

// indentAt returns the line end and the white space before the first thing in the line at p, or nothing
// if the file is not broken into lines.
func (b *book) indentAt(p int) string {
	line := bytes.LastIndexByte(b.data[:p], '\n')
	if line < 0 {
		return ""
	}
	end := line + 1
	for end < p && (b.data[end] == ' ' || b.data[end] == '\t') {
		end++
	}
	if line > 0 && b.data[line-1] == '\r' {
		line--
	}
	return string(b.data[line:end])
}

// indentOf is like indentAt, for a list that is one line if it was one line before.
func (b *book) indentOf(m member) string {
	if list := b.data[m.value.start:m.value.end]; len(list) > len("[]") && !bytes.Contains(list, []byte("\n")) {
		return ""
	}
	return b.indentAt(m.start)
}

// unit is what a line is further in than the one around it.
func (b *book) unit() string {
	if len(b.root.members) > 0 {
		if unit := strings.TrimLeft(b.indentAt(b.root.members[0].start), "\r\n"); unit != "" {
			return unit
		}
	}
	return " "
}

// source writes a source as one string or as a list of lines. Indent begins a line as far in as the key
// is; without it everything is on one line.
func (b *book) source(s string, asString bool, indent string) string {
	if asString {
		return quote(s)
	}
	if s == "" {
		return "[]"
	}
	var lines []string
	for line := range strings.SplitAfterSeq(s, "\n") {
		if line != "" {
			lines = append(lines, quote(line))
		}
	}
	if indent == "" {
		return "[" + strings.Join(lines, ", ") + "]"
	}
	inner := indent + b.unit()
	return "[" + inner + strings.Join(lines, ","+inner) + indent + "]"
}

// cell writes a new cell. ID, if there is one, and metadata are JSON.
func (b *book) cell(kind, source, id, metadata, indent string) string {
	inner := ""
	if indent != "" {
		inner = indent + b.unit()
	}
	var fields []string
	add := func(key, value string) { fields = append(fields, fmt.Sprintf("%q: %s", key, value)) }
	add("cell_type", quote(kind))
	if kind == "code" {
		add("execution_count", "null")
	}
	if id != "" {
		add("id", id)
	}
	add("metadata", metadata)
	if kind == "code" {
		add("outputs", "[]")
	}
	add("source", b.source(source, false, inner))
	separator := ", "
	if inner != "" {
		separator = "," + inner
	}
	return "{" + inner + strings.Join(fields, separator) + indent + "}"
}

// quote writes s as JSON, and leaves characters that need no escape as they are.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // ok: a string can be written
	return strings.TrimSuffix(b.String(), "\n")
}
