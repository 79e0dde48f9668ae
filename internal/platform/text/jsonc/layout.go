package jsonc

import (
	"bytes"
	"slices"
)

// A splice replaces a range of a text.
type splice struct {
	start, end int
	text       []byte
}

// apply applies splices that do not overlap.
func apply(data []byte, splices []splice) []byte {
	slices.SortStableFunc(splices, func(a, b splice) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, s := range splices {
		out = append(append(out, data[at:s.start]...), s.text...)
		at = s.end
	}
	return append(out, data[at:]...)
}

// A layout is a text's line ending and indentation.
type layout struct{ newline, unit string }

func layoutOf(data []byte, root *Node) layout {
	lay := layout{"\n", "  "}
	if bytes.Contains(data, []byte("\r\n")) {
		lay.newline = "\r\n"
	}
	if root == nil {
		return lay
	}
	for _, e := range root.elements() {
		if indent, ok := ownLine(data, e); ok && indent != "" {
			lay.unit = indent
			break
		}
	}
	return lay
}

// ownLine reports whether an element is the first on its line, and returns the line's
// indentation.
func ownLine(data []byte, e *Node) (indent string, ok bool) {
	start := bytes.LastIndexByte(data[:e.name], '\n') + 1
	before := data[start:e.name]
	return string(before), start > 0 && len(bytes.Trim(before, " \t")) == 0
}

// lineIndent returns the indentation of the line that contains at.
func lineIndent(data []byte, at int) string {
	line := data[bytes.LastIndexByte(data[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// restOfLine returns the end of the line after at, skipping comments that end on it. If
// anything else is on the line, ok is false and end is where it begins.
func restOfLine(data []byte, at int) (end int, ok bool) {
	end = at
	for at < len(data) {
		switch c := data[at]; {
		case c == ' ' || c == '\t':
			at++
		case c == '\n' || c == '\r' && at+1 < len(data) && data[at+1] == '\n':
			return at, true
		case c == '/':
			n := commentLen(data[at:])
			if n == 0 || bytes.IndexByte(data[at:at+n], '\n') >= 0 {
				return end, false
			}
			at += n
			end = at
		default:
			return end, false
		}
	}
	return at, true
}

// insert adds an element at the end of an object or array, formatted like its last element.
func (n *Node) insert(data []byte, lay layout, element func(indent string) ([]byte, error)) ([]splice, error) {
	all := n.elements()
	if len(all) == 0 {
		return n.insertFirst(data, lay, element)
	}
	last := all[len(all)-1]
	indent, own := ownLine(data, last)
	if !own {
		text, err := element(lineIndent(data, last.name))
		if last.comma >= 0 {
			return []splice{{last.comma + 1, last.comma + 1, slices.Concat([]byte(" "), text, []byte(","))}}, err
		}
		return []splice{{last.End, last.End, slices.Concat([]byte(", "), text)}}, err
	}
	text, err := element(indent)
	text = slices.Concat([]byte(lay.newline+indent), text)
	if last.comma >= 0 {
		end, _ := restOfLine(data, last.comma+1)
		return []splice{{end, end, append(text, ',')}}, err
	}
	end, _ := restOfLine(data, last.End)
	if end == last.End {
		return []splice{{end, end, slices.Concat([]byte(","), text)}}, err
	}
	return []splice{{last.End, last.End, []byte(",")}, {end, end, text}}, err
}

// insertFirst adds the first element. Comments between the brackets stay before it.
func (n *Node) insertFirst(data []byte, lay layout, element func(indent string) ([]byte, error)) ([]splice, error) {
	outer := lineIndent(data, n.name)
	text, err := element(outer + lay.unit)
	inner := bytes.TrimRight(data[n.Start+1:n.End-1], " \t\r\n")
	at := n.Start + 1 + len(inner)
	return []splice{{at, n.End - 1, slices.Concat([]byte(lay.newline+outer+lay.unit), text, []byte(lay.newline+outer))}}, err
}

// cut removes the element at index i, including its comma and the comment on its line.
func (n *Node) cut(data []byte, i int) []splice {
	all := n.elements()
	e := all[i]
	start, end := e.name, e.End
	if e.comma >= 0 {
		end = e.comma + 1
	}
	last := e.comma < 0 && i > 0 // the comma before it is removed, too
	indent, own := ownLine(data, e)
	if rest, alone := restOfLine(data, end); own && alone && rest < len(data) {
		start -= len(indent)
		end = rest + bytes.IndexByte(data[rest:], '\n') + 1
		if last {
			return []splice{{all[i-1].comma, all[i-1].comma + 1, nil}, {start, end, nil}}
		}
		return []splice{{start, end, nil}}
	}
	if last {
		comma := all[i-1].comma
		if len(bytes.TrimSpace(data[comma+1:start])) == 0 {
			return []splice{{comma, end, nil}}
		}
		return []splice{{comma, comma + 1, nil}, {start, end, nil}}
	}
	for end < len(data) && (data[end] == ' ' || data[end] == '\t') && i+1 < len(all) {
		end++
	}
	return []splice{{start, end, nil}}
}
