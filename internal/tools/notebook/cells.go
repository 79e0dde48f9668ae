package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A book is a notebook file with the positions of its cells.
type book struct {
	data  []byte
	root  node
	cells *node
}

// open parses a notebook, which must be valid JSON.
func open(data []byte) (*book, error) {
	s := scanner{data: data, at: len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff")))}
	b := &book{data: data, root: s.value(1)}
	b.cells = b.root.member("cells")
	if b.cells == nil || b.cells.kind != '[' {
		return nil, errors.New("no list of cells in it")
	}
	for i := range b.cells.items {
		if b.cells.items[i].kind != '{' {
			return nil, fmt.Errorf("its cell %d is not an object", i)
		}
	}
	return b, nil
}

// hasIDs reports whether cells have IDs in this version of the format.
func (b *book) hasIDs() bool {
	number := func(key string) int {
		n := b.root.member(key)
		if n == nil {
			return 0
		}
		i, _ := strconv.Atoi(string(b.data[n.start:n.end])) // ok: without a number it is an old format
		return i
	}
	major, minor := number("nbformat"), number("nbformat_minor")
	return major > 4 || major == 4 && minor >= 5
}

// find returns the index of a cell by its ID, or as cell-N, counting from 0.
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

// A patch replaces a part of the file.
type patch struct {
	start, end int
	text       string
}

// apply applies patches, which are ordered and disjoint.
func (b *book) apply(patches []patch) [][]byte {
	var pieces [][]byte
	at := 0
	for _, p := range patches {
		pieces = append(pieces, b.data[at:p.start], []byte(p.text))
		at = p.end
	}
	return append(pieces, b.data[at:])
}

// replace replaces a cell's source. The outputs of a code cell are cleared, because they belong
// to the old source.
func (b *book) replace(i int, source string) []patch {
	cell := &b.cells.items[i]
	var patches []patch
	for _, m := range cell.members {
		if cell.member(m.key).start != m.value.start { // a later member has the same key
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

// retype replaces a cell with a cell of another type that keeps its ID and metadata.
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

// insert adds a cell after index i; -1 is the top.
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

// gap returns the whitespace between a comma and the next cell.
func (b *book) gap(indent string) string {
	if indent == "" {
		return " "
	}
	return indent
}

// remove deletes a cell and its comma.
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

// indentAt returns the newline and the indentation of the line at p, or "" if the file is not
// split into lines.
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

// indentOf is like indentAt, for a list that stays on a single line if it was before.
func (b *book) indentOf(m member) string {
	if list := b.data[m.value.start:m.value.end]; len(list) > len("[]") && !bytes.Contains(list, []byte("\n")) {
		return ""
	}
	return b.indentAt(m.start)
}

// unit returns the indentation of a nesting level.
func (b *book) unit() string {
	if len(b.root.members) > 0 {
		if unit := strings.TrimLeft(b.indentAt(b.root.members[0].start), "\r\n"); unit != "" {
			return unit
		}
	}
	return " "
}

// source encodes a source as a string or as a list of lines. Indent is the newline and
// indentation of the key; if empty, everything is on one line.
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

// cell encodes a new cell. The id, which may be empty, and metadata are JSON.
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

// quote encodes s as JSON without unnecessary escapes.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // ok: a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
