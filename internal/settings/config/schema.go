package config

import (
	"encoding/json"
	"slices"
	"strings"
)

// Schema returns a JSON Schema of settings files for editors. It accepts unknown keys, because
// they are preserved.
func Schema(id, title string, keys []Key) json.RawMessage {
	root := &schemaNode{Schema: "https://json-schema.org/draft/2020-12/schema", ID: id, Title: title, Type: "object"}
	root.child("$schema").Type = "string"
	for i := range keys {
		k := &keys[i]
		for _, name := range append([]string{k.Name}, k.Aliases...) {
			if name != "" {
				k.describe(root.at(name), name)
			}
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("config: " + err.Error())
	}
	return json.RawMessage(b.String())
}

type schemaNode struct {
	Schema      string                 `json:"$schema,omitempty"`
	ID          string                 `json:"$id,omitempty"`
	Title       string                 `json:"title,omitempty"`
	Description string                 `json:"description,omitempty"`
	Type        any                    `json:"type,omitempty"`
	Enum        []string               `json:"enum,omitempty"`
	Default     any                    `json:"default,omitempty"`
	AnyOf       []*schemaNode          `json:"anyOf,omitempty"`
	Const       *int                   `json:"const,omitempty"`
	Minimum     *float64               `json:"minimum,omitempty"`
	Maximum     *float64               `json:"maximum,omitempty"`
	Items       *schemaNode            `json:"items,omitempty"`
	Values      *schemaNode            `json:"additionalProperties,omitempty"`
	Properties  map[string]*schemaNode `json:"properties,omitempty"`
}

func (n *schemaNode) child(name string) *schemaNode {
	if n.Properties == nil {
		n.Properties = map[string]*schemaNode{}
	}
	if n.Properties[name] == nil {
		n.Properties[name] = &schemaNode{}
	}
	return n.Properties[name]
}

// at returns the node for a dotted name, creating parent objects.
func (n *schemaNode) at(name string) *schemaNode {
	for level := range strings.SplitSeq(name, ".") {
		n.Type = "object"
		n = n.child(level)
	}
	return n
}

func (k *Key) describe(n *schemaNode, name string) {
	n.Description = k.Doc
	if name != k.Name {
		n.Description = "the same as " + k.Name + ": " + k.Doc
	}
	if k.Default != "" {
		n.Default = k.mustDefault()
	}
	switch k.Kind {
	case Bool:
		n.Type = "boolean"
	case Int, Float:
		n.Type = map[Kind]string{Int: "integer", Float: "number"}[k.Kind]
		if k.Min == 0 && k.Max == 0 {
			return
		}
		n.Minimum, n.Maximum = &k.Min, &k.Max
		if k.OrZero && k.Min > 0 {
			bounds := &schemaNode{Minimum: n.Minimum, Maximum: n.Maximum}
			n.Minimum, n.Maximum = nil, nil
			n.AnyOf = []*schemaNode{{Const: new(int)}, bounds}
		}
	case Text:
		n.Type, n.Enum = "string", slices.Clone(k.Choices)
	case List, Rules, Dirs:
		n.Type, n.Items = "array", &schemaNode{Type: "string", Enum: slices.Clone(k.Choices)}
	case Vars:
		n.Type, n.Values = "object", &schemaNode{Type: []string{"string", "number", "boolean"}}
	}
}
