package responses

import (
	"encoding/json"
	"maps"
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
	return json.Unmarshal(schema, &s) == nil && loose(s) == ""
}

// looseKeywords lists the keywords not allowed in an enforced schema.
var looseKeywords = []string{
	"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties", "propertyNames",
	"minProperties", "maxProperties", "uniqueItems", "contains", "unevaluatedProperties", "unevaluatedItems",
}

// loose returns the reason a schema cannot be enforced, or "".
func loose(schema any) string {
	s, ok := schema.(map[string]any)
	if !ok {
		return ""
	}
	for _, keyword := range looseKeywords {
		if _, found := s[keyword]; found {
			return "'" + keyword + "' is not permitted"
		}
	}
	properties, _ := s["properties"].(map[string]any)
	if _, isObject := s["properties"]; isObject || s["type"] == "object" {
		if s["additionalProperties"] != false {
			return "'additionalProperties' is required to be supplied and to be false"
		}
		required, _ := s["required"].([]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !slices.Contains(required, any(name)) {
				return "'required' is required to be supplied and to be an array including every key in properties. Missing '" + name + "'"
			}
		}
	}
	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			if why := loose(inner[name]); why != "" {
				return why
			}
		}
	}
	list, _ := s["anyOf"].([]any)
	for _, inner := range list {
		if why := loose(inner); why != "" {
			return why
		}
	}
	return loose(s["items"])
}
