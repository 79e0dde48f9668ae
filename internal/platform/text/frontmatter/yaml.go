package frontmatter

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits for alias expansion: growth times the size of the front matter, and at most maxBytes.
const (
	minBytes = 1 << 12
	growth   = 4
	maxBytes = 1 << 20
	maxDepth = 100
)

var errLarge = errors.New("the front matter becomes too large, or repeats itself")

// parseYAML parses front matter that is a YAML mapping. It returns nil fields if it is not one.
// If a name occurs twice, the first value counts and the second is an error.
func parseYAML(head string) (Fields, error) {
	var doc, more yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(head))
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) { // only comments
		return Fields{}, nil
	}
	if err != nil || !errors.Is(decoder.Decode(&more), io.EOF) {
		return nil, err
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, nil
	}
	r := reader{left: min(minBytes+growth*len(head), maxBytes)}
	fields := r.fields(root, 0)
	if r.left < 0 {
		return Fields{}, errLarge
	}
	return fields, r.err
}

// A reader converts nodes to values.
type reader struct {
	left int // remaining bytes
	err  error
}

// value converts a node. Nodes that are too deep or too large yield an empty value.
func (r *reader) value(n *yaml.Node, depth int) Value {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if r.left -= len(n.Value) + 1; depth > maxDepth {
		r.left = -1
	}
	switch {
	case r.left < 0:
		return Value{}
	case n.Kind == yaml.SequenceNode:
		list := make([]Value, 0, len(n.Content))
		for _, item := range n.Content {
			list = append(list, r.value(item, depth+1))
		}
		return Value{List: list}
	case n.Kind == yaml.MappingNode:
		if text, ok := braces(n); ok {
			return Value{Text: text}
		}
		return Value{Fields: r.fields(n, depth)}
	}
	return Value{Text: scalar(n)}
}

func (r *reader) fields(n *yaml.Node, depth int) Fields {
	fields, merged := Fields{}, []*yaml.Node(nil)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		name := key.Value
		if _, twice := fields[name]; twice {
			if r.err == nil {
				r.err = fmt.Errorf("line %d of the front matter says %s again", key.Line, name)
			}
			continue
		}
		fields[name] = r.value(value, depth+1)
	}
	for _, value := range merged {
		for name, v := range r.value(value, depth+1).Fields {
			if _, own := fields[name]; !own {
				fields[name] = v
			}
		}
	}
	return fields
}

// scalar returns a node's text. A YAML tag is treated as a pattern that begins with an
// exclamation mark.
func scalar(n *yaml.Node) string {
	switch {
	case n.Tag == "!!null" && n.Style == 0:
		return ""
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		return strings.TrimSpace(n.Tag + " " + n.Value)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return strings.TrimRight(n.Value, "\n")
	}
	return n.Value
}

// braces returns a mapping without values, such as {a,b}, as the pattern it was meant to be.
func braces(n *yaml.Node) (string, bool) {
	if n.Style&yaml.FlowStyle == 0 || len(n.Content) == 0 {
		return "", false
	}
	var names []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind != yaml.ScalarNode || n.Content[i+1].Tag != "!!null" || n.Content[i+1].Value != "" {
			return "", false
		}
		names = append(names, n.Content[i].Value)
	}
	return "{" + strings.Join(names, ",") + "}", true
}
