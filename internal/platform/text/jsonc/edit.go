package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A path lists the member names that lead to a value. A file may join names with a dot, as in
// "read.maxBytes": 1. Existing values are found in either form; new values are nested.

// Set sets the value at path. The error is a [*SyntaxError] if data is not valid.
func Set(data []byte, path []string, value any) ([]byte, error) {
	return edit(data, func(data []byte, root *Node, lay layout) ([]splice, error) {
		if found := root.find(data, path); len(found) > 0 {
			n := found[len(found)-1]
			text, err := render(value, lineIndent(data, n.name), lay)
			return []splice{{n.Start, n.End, text}}, err
		}
		return create(data, root, path, value, lay)
	})
}

// Delete removes the value at path.
func Delete(data []byte, path []string) ([]byte, error) {
	for {
		root, err := Parse(data)
		if err != nil || root == nil {
			return data, err
		}
		found := root.find(data, path)
		if len(found) == 0 {
			return data, nil
		}
		holder, i := root.holder(found[0])
		if data, err = checked(apply(data, holder.cut(data, i))); err != nil {
			return nil, err
		}
	}
}

// Add appends strings to the list at path, skipping duplicates.
func Add(data []byte, path []string, texts ...string) ([]byte, error) {
	for i, text := range texts {
		if slices.Contains(texts[:i], text) {
			continue
		}
		var err error
		if data, err = add(data, path, text); err != nil {
			return nil, err
		}
	}
	return data, nil
}

func add(data []byte, path []string, text string) ([]byte, error) {
	return edit(data, func(data []byte, root *Node, lay layout) ([]splice, error) {
		found := root.find(data, path)
		if len(found) == 0 {
			return create(data, root, path, []string{text}, lay)
		}
		for _, list := range found {
			if list.Kind != Array {
				return nil, fmt.Errorf("%s is not a list", strings.Join(path, "."))
			}
			if slices.ContainsFunc(list.Items, func(v *Node) bool { return v.Kind == String && Text(data, v) == text }) {
				return nil, nil
			}
		}
		return found[len(found)-1].insert(data, lay, func(indent string) ([]byte, error) { return render(text, indent, lay) })
	})
}

// Remove removes the strings for which drop returns true from the list at path.
func Remove(data []byte, path []string, drop func(text string) bool) ([]byte, error) {
	for {
		root, err := Parse(data)
		if err != nil || root == nil {
			return data, err
		}
		list, i := root.pick(data, path, drop)
		if list == nil {
			return data, nil
		}
		if data, err = checked(apply(data, list.cut(data, i))); err != nil {
			return nil, err
		}
	}
}

// pick returns the position of the last string for which drop returns true.
func (n *Node) pick(data []byte, path []string, drop func(string) bool) (list *Node, i int) {
	for _, list := range slices.Backward(n.find(data, path)) {
		for i, v := range slices.Backward(list.Items) {
			if v.Kind == String && drop(Text(data, v)) {
				return list, i
			}
		}
	}
	return nil, 0
}

// edit parses data, applies the changes that plan returns, and verifies that the result is
// valid.
func edit(data []byte, plan func(data []byte, root *Node, lay layout) ([]splice, error)) ([]byte, error) {
	root, err := Parse(data)
	if err != nil {
		return nil, err
	}
	lay := layoutOf(data, root)
	if root == nil {
		if s := bytes.TrimRight(data, " \t\r\n"); len(s) > 0 && len(s) > len(bom(data)) {
			data = append(slices.Clone(s), lay.newline...)
		}
		data = append(slices.Clone(data), "{}"+lay.newline...)
		return edit(data, plan)
	}
	if root.Kind != Object {
		return nil, &SyntaxError{root.Start, "it is not an object"}
	}
	splices, err := plan(data, root, lay)
	if err != nil {
		return nil, err
	}
	return checked(apply(data, splices))
}

// checked guards against bugs in the editor: it returns an error if data is not valid.
func checked(data []byte) ([]byte, error) {
	if _, err := Parse(data); err != nil {
		return nil, fmt.Errorf("the text cannot be changed without breaking it: %w", err)
	}
	return data, nil
}

// find returns the values at path in order. There may be several because names can be repeated.
func (n *Node) find(data []byte, path []string) (found []*Node) {
	if len(path) == 0 {
		return []*Node{n}
	}
	if n.Kind != Object {
		return nil
	}
	for _, m := range n.Members {
		for i := range path {
			if m.Name == strings.Join(path[:i+1], ".") {
				found = append(found, m.Value.find(data, path[i+1:])...)
			}
		}
	}
	return found
}

// holder returns the object or array that contains v, and v's index in it.
func (n *Node) holder(v *Node) (*Node, int) {
	for i, e := range n.elements() {
		if e == v {
			return n, i
		}
		if h, i := e.holder(v); h != nil {
			return h, i
		}
	}
	return nil, 0
}

func (n *Node) elements() []*Node {
	if n.Kind != Object {
		return n.Items
	}
	list := make([]*Node, len(n.Members))
	for i, m := range n.Members {
		list[i] = m.Value
	}
	return list
}

// create adds a new value, with any missing parent objects.
func create(data []byte, root *Node, path []string, value any, lay layout) ([]splice, error) {
	at := root
	for len(path) > 1 {
		found := at.find(data, path[:1])
		if len(found) == 0 {
			break
		}
		at = found[len(found)-1]
		if at.Kind != Object {
			return nil, fmt.Errorf("%s is not an object", path[0])
		}
		path = path[1:]
	}
	for _, name := range slices.Backward(path[1:]) {
		value = map[string]any{name: value}
	}
	return at.insert(data, lay, func(indent string) ([]byte, error) {
		name, err := render(path[0], indent, lay)
		if err != nil {
			return nil, err
		}
		text, err := render(value, indent, lay)
		return append(append(name, ": "...), text...), err
	})
}

// render formats a value. The first line is not indented.
func render(value any, indent string, lay layout) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, lay.unit)
	if err := enc.Encode(value); err != nil {
		return nil, errors.New("the value cannot be written as JSON")
	}
	text := bytes.TrimRight(b.Bytes(), "\n")
	return bytes.ReplaceAll(text, []byte("\n"), []byte(lay.newline)), nil
}
