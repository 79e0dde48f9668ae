package messages

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// looseKeywords lists the keywords not allowed in an enforced schema.
var looseKeywords = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems",
	"uniqueItems", "minProperties", "maxProperties", "oneOf", "not", "if", "patternProperties", "propertyNames", "contains",
}

// checkStrict checks that a schema can be enforced: its objects are closed, and it has no size
// keywords.
func checkStrict(place string, raw json.RawMessage) error {
	var schema any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return checkClosed(place, schema)
}

func checkClosed(place string, schema any) error {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	for _, keyword := range looseKeywords {
		if _, found := s[keyword]; found {
			return fmt.Errorf("%s: property %q is not supported in a strict schema", place, keyword)
		}
	}
	if n, ok := s["minItems"].(float64); ok && n > 1 {
		return fmt.Errorf("%s.minItems: must be 0 or 1 in a strict schema", place)
	}
	if s["type"] == "object" && s["additionalProperties"] != false {
		return fmt.Errorf("%s.additionalProperties: must be false in a strict schema", place)
	}
	for _, keyword := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			if err := checkClosed(place+"."+keyword+"."+name, inner[name]); err != nil {
				return err
			}
		}
	}
	for _, keyword := range []string{"anyOf", "allOf"} {
		list, _ := s[keyword].([]any)
		for i, inner := range list {
			if err := checkClosed(fmt.Sprintf("%s.%s.%d", place, keyword, i), inner); err != nil {
				return err
			}
		}
	}
	return checkClosed(place+".items", s["items"])
}
