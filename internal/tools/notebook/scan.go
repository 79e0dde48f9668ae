package notebook

import (
	"encoding/json"
	"strings"
)

// A node is a value of a JSON text with its place in it. Values of objects and lists are known down to
// the members of cells; what is deeper is one piece.
type node struct {
	start, end int
	kind       byte // '{', '[', '"', or another for the rest
	members    []member
	items      []node
}

type member struct {
	key   string
	start int // of the key
	value node
}

// member returns the value under a key, or nil. Of two with the same key the last counts, as for every
// reader of JSON.
func (n *node) member(key string) *node {
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].key == key {
			return &n.members[i].value
		}
	}
	return nil
}

// text returns the string, or the list of strings, that n stands for.
func (n *node) text(data []byte) string {
	if n == nil {
		return ""
	}
	var list []string
	if json.Unmarshal(data[n.start:n.end], &list) == nil {
		return strings.Join(list, "")
	}
	var s string
	json.Unmarshal(data[n.start:n.end], &s) // ok: what is no text is empty
	return s
}

// maxDepth is how deep a cell's members are: in the object, the list of cells, the cell.
const maxDepth = 3

// A scanner finds the places of values in a JSON text that is known to be valid.
type scanner struct {
	data []byte
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.data) && strings.IndexByte(" \t\r\n", s.data[s.at]) >= 0 {
		s.at++
	}
}

// value reads the value at the scanner's position.
func (s *scanner) value(depth int) node {
	s.space()
	n := node{start: s.at, kind: s.data[s.at]}
	switch {
	case (n.kind == '{' || n.kind == '[') && depth <= maxDepth:
		s.inside(&n, depth)
	case n.kind == '{' || n.kind == '[':
		s.skip()
	case n.kind == '"':
		s.quoted()
	default:
		for s.at < len(s.data) && strings.IndexByte(",]} \t\r\n", s.data[s.at]) < 0 {
			s.at++
		}
	}
	n.end = s.at
	return n
}

// inside reads the members of an object or the items of a list.
func (s *scanner) inside(n *node, depth int) {
	s.at++
	for {
		s.space()
		switch s.data[s.at] {
		case '}', ']':
			s.at++
			return
		case ',':
			s.at++
			continue
		}
		if n.kind == '[' {
			n.items = append(n.items, s.value(depth+1))
			continue
		}
		m := member{start: s.at}
		s.quoted()
		json.Unmarshal(s.data[m.start:s.at], &m.key) // ok: the text is valid
		s.space()
		s.at++ // the colon
		m.value = s.value(depth + 1)
		n.members = append(n.members, m)
	}
}

// skip passes an object or a list.
func (s *scanner) skip() {
	for depth := 0; ; {
		switch s.data[s.at] {
		case '"':
			s.quoted()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
}

// quoted passes a string.
func (s *scanner) quoted() {
	for s.at++; s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}
