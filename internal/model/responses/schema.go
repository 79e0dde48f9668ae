package responses

import (
	"encoding/json"
	"slices"

	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// unions lists the keywords that a server rejects at the top level of a schema.
var unions = []string{"anyOf", "oneOf", "allOf", "not", "enum"}

// objectSchema returns a tool's input schema as an object with properties, as servers require,
// and a note for the tool's description with the information that does not fit.
func objectSchema(schema json.RawMessage) (fit json.RawMessage, note string) {
	var kept []byte
	typed, listed, changed := false, false, false
	err := jsonscan.Object(schema, func(name, value []byte) error {
		switch string(name) {
		case "type":
			if typed = jsonscan.Is(value, "object"); !typed {
				changed = true
				return nil
			}
		case "properties":
			listed = true
		}
		if slices.Contains(unions, string(name)) {
			changed = true
			note += "\n\nThe input also fits the JSON Schema " + string(msg.AppendString(nil, string(name))) + ": " + string(value)
			return nil
		}
		kept = append(kept, ',')
		kept = msg.AppendString(kept, string(name))
		kept = append(append(kept, ':'), value...)
		return nil
	})
	if err == nil && typed && listed && !changed {
		return schema, ""
	}
	if err != nil {
		kept = nil
	}
	head := ""
	if err != nil || !typed {
		head += `,"type":"object"`
	}
	if err != nil || !listed {
		head += `,"properties":{}`
	}
	kept = append([]byte(head), kept...)
	kept[0] = '{'
	return append(kept, '}'), note
}

// isStrict reports whether a server can enforce a schema: all of its objects are closed, and
// all their properties required.
func isStrict(schema json.RawMessage) bool {
	var s any
	return json.Unmarshal(schema, &s) == nil && !isLoose(s)
}

// looseKeywords lists the keywords not allowed in an enforced schema.
var looseKeywords = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties", "propertyNames",
	"minProperties", "maxProperties", "uniqueItems", "contains", "unevaluatedProperties", "unevaluatedItems",
}

// isLoose reports whether a schema cannot be enforced.
func isLoose(schema any) bool {
	s, ok := schema.(map[string]any)
	if !ok {
		return false
	}
	for _, keyword := range looseKeywords {
		if _, found := s[keyword]; found {
			return true
		}
	}
	properties, _ := s["properties"].(map[string]any)
	if _, isObject := s["properties"]; isObject || s["type"] == "object" {
		if s["additionalProperties"] != false {
			return true
		}
		required, _ := s["required"].([]any)
		for name := range properties {
			if !slices.Contains(required, any(name)) {
				return true
			}
		}
	}
	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[keyword].(map[string]any)
		for _, s := range inner {
			if isLoose(s) {
				return true
			}
		}
	}
	list, _ := s["anyOf"].([]any)
	return slices.ContainsFunc(list, isLoose) || isLoose(s["items"])
}
