// Package schema validates a tool's input against its JSON Schema. It supports the keywords
// adze's own tools use, reports all failures at once in terms a model can act on, and makes
// only lossless, unambiguous repairs.
//
// jsonschema-go, which package draft uses for third-party schemas, is no substitute: it reports
// one failure, with the schema's path and without a suggestion, accepts repeated keys, rounds
// large integers, and takes about three times as long to compile adze's schemas.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// A Schema is a parsed JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	source []byte

	kinds      kind // 0 means any
	properties []property
	required   []string
	closed     bool    // no other properties
	others     *Schema // schema of other properties; nil means any
	items      *Schema

	enum []value // parts of source; const is an enum of one

	minimum, maximum, above, below *float64
	minLength, maxLength           *int
	minItems, maxItems             *int
	pattern                        *regexp.Regexp

	anyOf, oneOf []*Schema
}

type property struct {
	name   string
	schema *Schema
}

// Parse parses a schema; it fails on unknown keywords.
func Parse(data json.RawMessage) (*Schema, error) {
	v, err := read(data)
	if err != nil {
		return nil, err
	}
	return parse(data, v)
}

// parse parses the schema v, a part of data. Its recursion depth is bounded by read.
func parse(data []byte, v value) (*Schema, error) {
	s := &Schema{source: data}
	switch {
	case v.kind == boolean && data[v.start] == 't':
		return s, nil
	case v.kind != object:
		return nil, fmt.Errorf("a schema is an object or true, not %s", v.kind)
	}
	for _, f := range v.fields {
		if f.repeated {
			return nil, fmt.Errorf("%s: given twice", f.key)
		}
		if err := s.keyword(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
	}
	return s, nil
}

func (s *Schema) keyword(f field) (err error) {
	switch f.key {
	case "title", "description", "default", "examples", "format", "$schema", "$comment":
		// ignored: only for people and models
	case "type":
		s.kinds, err = parseKinds(f.value)
	case "properties":
		err = s.parseProperties(f.value)
	case "required":
		s.required, err = parseStrings(f.value)
	case "additionalProperties":
		if f.kind == boolean {
			s.closed = s.source[f.start] == 'f'
			return nil
		}
		s.others, err = parse(s.source, f.value)
	case "items":
		s.items, err = parse(s.source, f.value)
	case "enum":
		if f.kind != array || len(f.items) == 0 {
			return errors.New("expected a list of values")
		}
		s.enum = f.items
	case "const":
		s.enum = []value{f.value}
	case "minimum":
		s.minimum, err = parseNumber(f.value)
	case "maximum":
		s.maximum, err = parseNumber(f.value)
	case "exclusiveMinimum":
		s.above, err = parseNumber(f.value)
	case "exclusiveMaximum":
		s.below, err = parseNumber(f.value)
	case "minLength":
		s.minLength, err = parseCount(f.value)
	case "maxLength":
		s.maxLength, err = parseCount(f.value)
	case "minItems":
		s.minItems, err = parseCount(f.value)
	case "maxItems":
		s.maxItems, err = parseCount(f.value)
	case "pattern":
		s.pattern, err = regexp.Compile(f.text)
	case "anyOf":
		s.anyOf, err = s.parseList(f.value)
	case "oneOf":
		s.oneOf, err = s.parseList(f.value)
	default:
		err = errors.New("unknown keyword")
	}
	return err
}

func parseKinds(v value) (kind, error) {
	list, err := []string{v.text}, error(nil)
	if v.kind != text {
		if list, err = parseStrings(v); err != nil {
			return 0, err
		}
	}
	var k kind
	for _, name := range list {
		i := slices.Index(names(), name)
		if i < 0 {
			return 0, fmt.Errorf("unknown type %q", name)
		}
		k |= 1 << i
	}
	return k, nil
}

func (s *Schema) parseProperties(v value) error {
	if v.kind != object {
		return errors.New("expected an object")
	}
	for _, f := range v.fields {
		sub, err := parse(s.source, f.value)
		if err == nil && f.repeated {
			err = errors.New("given twice")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.key, err)
		}
		s.properties = append(s.properties, property{f.key, sub})
	}
	return nil
}

func (s *Schema) parseList(v value) ([]*Schema, error) {
	if v.kind != array || len(v.items) == 0 {
		return nil, errors.New("expected a list of schemas")
	}
	var list []*Schema
	for i, item := range v.items {
		sub, err := parse(s.source, item)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		list = append(list, sub)
	}
	return list, nil
}

func parseStrings(v value) ([]string, error) {
	var list []string
	for _, item := range v.items {
		if item.kind != text {
			return nil, errors.New("expected strings")
		}
		list = append(list, item.text)
	}
	if v.kind != array {
		return nil, errors.New("expected a list of strings")
	}
	return list, nil
}

func parseNumber(v value) (*float64, error) {
	if v.kind != number {
		return nil, errors.New("expected a number")
	}
	f := v.float()
	return &f, nil
}

func parseCount(v value) (*int, error) {
	n, err := strconv.Atoi(v.text)
	if v.kind != number || err != nil || n < 0 {
		return nil, errors.New("expected a whole number, 0 or more")
	}
	return &n, nil
}

// names returns the declared property names in order.
func (s *Schema) names() []string {
	list := make([]string, len(s.properties))
	for i, p := range s.properties {
		list[i] = p.name
	}
	return list
}

// property returns the schema of the named property, or nil.
func (s *Schema) property(name string) *Schema {
	for _, p := range s.properties {
		if p.name == name {
			return p.schema
		}
	}
	return nil
}
