// Package jsonc parses JSON with comments and trailing commas, and edits such text in place.
// Unchanged parts keep every byte.
package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Kind is the type of a value.
type Kind uint8

// Kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// A Node is a value in a text.
type Node struct {
	Kind       Kind
	Start, End int      // byte offsets in the text
	Members    []Member // object members in order; names may repeat
	Items      []*Node  // array items

	name  int // start of the element: its name in an object, its value in an array
	comma int // offset of the comma after it, or -1
}

// A Member is a name and its value.
type Member struct {
	Name  string
	Value *Node
}

// A SyntaxError describes a syntax error and its offset.
type SyntaxError struct {
	Offset int
	Text   string
}

// Error returns the message without the position, which callers can format together with the
// file name.
func (e *SyntaxError) Error() string { return e.Text }

// maxDepth limits the nesting depth.
const maxDepth = 200

// Parse parses a single value. It returns nil if data contains only whitespace and comments.
// The error is a [*SyntaxError].
func Parse(data []byte) (*Node, error) {
	p := &parser{data: data, at: len(bom(data))}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at == len(data) {
		return nil, nil
	}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(data) {
		return nil, p.fail("there is something after the end")
	}
	return n, nil
}

// bom returns the byte order mark that data begins with, if any.
func bom(data []byte) []byte {
	const mark = "\ufeff"
	if bytes.HasPrefix(data, []byte(mark)) {
		return data[:len(mark)]
	}
	return nil
}

type parser struct {
	data []byte
	at   int
}

func (p *parser) fail(text string) error { return &SyntaxError{p.at, text} }

// unexpected returns a syntax error that names the token expected at the current position.
func (p *parser) unexpected(what string) error {
	if p.at >= len(p.data) {
		return p.fail("it ends where " + what + " is expected")
	}
	r := []rune(string(p.data[p.at:min(p.at+8, len(p.data))]))[0]
	return p.fail(fmt.Sprintf("%q stands where %s is expected", r, what))
}

func (p *parser) peek() byte {
	if p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

// space skips whitespace and comments.
func (p *parser) space() error {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		case '/':
			n := commentLen(p.data[p.at:])
			if n == 0 {
				return p.fail("a comment is not closed, or begins with a single '/'")
			}
			p.at += n
		default:
			return nil
		}
	}
	return nil
}

// commentLen returns the length of the comment at the start of data, or 0. The line ending is
// not part of the comment.
func commentLen(data []byte) int {
	switch {
	case bytes.HasPrefix(data, []byte("//")):
		if n := bytes.IndexByte(data, '\n'); n >= 0 {
			return len(bytes.TrimSuffix(data[:n], []byte("\r")))
		}
		return len(data)
	case bytes.HasPrefix(data, []byte("/*")):
		if n := bytes.Index(data[2:], []byte("*/")); n >= 0 {
			return n + 4
		}
	}
	return 0
}

func (p *parser) value(depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, p.fail(fmt.Sprintf("values lie more than %d deep in each other", maxDepth))
	}
	switch p.peek() {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		return p.text()
	}
	return p.word()
}

// word parses a number or a literal.
func (p *parser) word() (*Node, error) {
	end := p.at
	for end < len(p.data) && strings.IndexByte(" \t\r\n,:/\"[]{}", p.data[end]) < 0 {
		end++
	}
	word := p.data[p.at:end]
	n := &Node{Kind: Number, Start: p.at, End: end, name: p.at, comma: -1}
	switch string(word) {
	case "null":
		n.Kind = Null
	case "true", "false":
		n.Kind = Bool
	default:
		if !json.Valid(word) {
			return nil, p.unexpected("a value")
		}
	}
	p.at = end
	return n, nil
}

func (p *parser) text() (*Node, error) {
	plain := true // no escapes or invalid bytes so far
	for end := p.at + 1; end < len(p.data); end++ {
		switch c := p.data[end]; {
		case c == '\\':
			plain = false
			end++
		case c == '\n':
			return nil, p.fail("a text is not closed on its line")
		case c < ' ':
			plain = false
		case c == '"':
			end++
			if !plain && !json.Valid(p.data[p.at:end]) {
				return nil, p.fail("a text has a wrong escape or a control character")
			}
			n := &Node{Kind: String, Start: p.at, End: end, name: p.at, comma: -1}
			p.at = end
			return n, nil
		}
	}
	return nil, p.fail("a text is not closed")
}

func (p *parser) object(depth int) (*Node, error) {
	n := &Node{Kind: Object, Start: p.at, name: p.at, comma: -1}
	err := p.elements('}', func() (*Node, error) {
		if p.peek() != '"' {
			return nil, p.unexpected("a name in quotes")
		}
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.peek() != ':' {
			return nil, p.unexpected("a colon")
		}
		p.at++
		if err := p.space(); err != nil {
			return nil, err
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.name = name.Start
		n.Members = append(n.Members, Member{Text(p.data, name), v})
		return v, nil
	})
	n.End = p.at
	return n, err
}

func (p *parser) array(depth int) (*Node, error) {
	n := &Node{Kind: Array, Start: p.at, name: p.at, comma: -1}
	err := p.elements(']', func() (*Node, error) {
		v, err := p.value(depth + 1)
		if err == nil {
			n.Items = append(n.Items, v)
		}
		return v, err
	})
	n.End = p.at
	return n, err
}

// elements parses the elements between two brackets.
func (p *parser) elements(closing byte, element func() (*Node, error)) error {
	p.at++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == closing {
			p.at++
			return nil
		}
		v, err := element()
		if err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			v.comma = p.at
			p.at++
		case closing:
		default:
			return p.unexpected(fmt.Sprintf("a comma or %q", closing))
		}
	}
}

// Text returns the value of a String node.
func Text(data []byte, n *Node) string {
	if n.Kind != String {
		return ""
	}
	if inside := data[n.Start+1 : n.End-1]; !slices.ContainsFunc(inside, func(c byte) bool { return c == '\\' || c >= utf8.RuneSelf }) {
		return string(inside)
	}
	var s string
	if err := json.Unmarshal(data[n.Start:n.End], &s); err != nil {
		return "" // the text has changed
	}
	return s
}

// Plain returns a value as compact JSON, without comments and trailing commas.
func Plain(data []byte, n *Node) json.RawMessage { return appendPlain(nil, data, n) }

func appendPlain(out, data []byte, n *Node) []byte {
	switch n.Kind {
	case Object:
		out = append(out, '{')
		for i, m := range n.Members {
			if i > 0 {
				out = append(out, ',')
			}
			name := data[m.Value.name:]
			out = append(out, name[:stringLen(name)]...)
			out = append(out, ':')
			out = appendPlain(out, data, m.Value)
		}
		return append(out, '}')
	case Array:
		out = append(out, '[')
		for i, v := range n.Items {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendPlain(out, data, v)
		}
		return append(out, ']')
	}
	return append(out, data[n.Start:n.End]...)
}

// stringLen returns the length of the quoted string at the start of data.
func stringLen(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}
