package notebook

import (
	"encoding/json"
	"strings"
)

// A node is a JSON value with its position. Objects and lists are parsed down to the members of
// cells; deeper values are opaque.
type node struct {
	start, end int
	kind       byte // '{', '[', '"', or anything else
	members    []member
	items      []node
}

type member struct {
	key   string
	start int // position of the key
	value node
}

// member returns the value of a key, or nil. Of duplicate keys the last counts, as in every
// JSON reader.
func (n *node) member(key string) *node {
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].key == key {
			return &n.members[i].value
		}
	}
	return nil
}

// text returns the string, or the joined list of strings, of n.
func (n *node) text(data []byte) string {
	if n == nil {
		return ""
	}
	var list []string
	if json.Unmarshal(data[n.start:n.end], &list) == nil {
		return strings.Join(list, "")
	}
	var s string
	json.Unmarshal(data[n.start:n.end], &s) // ok: anything else is empty
	return s
}

// maxDepth is the depth of a cell's members: object, list of cells, cell.
const maxDepth = 3

// A scanner locates the values in valid JSON.
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

// skip skips an object or a list.
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

// quoted skips a string.
func (s *scanner) quoted() {
	for s.at++; s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}
