package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"adze/internal/tool/schema/draft"
)

// A Schema is a compiled JSON schema. It is immutable and safe for concurrent use.
type Schema struct {
	source json.RawMessage // schema as sent to the model
	draft  *draft.Schema
}

// Compile compiles a schema of draft 2020-12 or draft-07 that describes an object. Its error
// contains the position of the problem.
func Compile(source json.RawMessage) (*Schema, error) {
	source, err := describesObject(source)
	if err != nil {
		return nil, err
	}
	compiled, err := draft.Compile(source)
	if err != nil {
		return nil, err
	}
	return &Schema{source, compiled}, nil
}

// describesObject returns the schema with its type set, which must be object: tool inputs are
// objects.
func describesObject(source json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(source, &fields); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line, column := position(source, int(syntax.Offset))
			return nil, fmt.Errorf("line %d, column %d: %w", line, column, err)
		}
		return nil, errors.New("it is not a JSON object")
	}
	kind, given := fields["type"]
	switch {
	case !given:
		rest := bytes.TrimPrefix(bytes.TrimSpace(source), []byte("{"))
		if len(fields) == 0 {
			return json.RawMessage(`{"type":"object"}`), nil
		}
		return append(json.RawMessage(`{"type":"object",`), rest...), nil
	case string(kind) != `"object"`:
		return nil, fmt.Errorf("/type: it is %s, and the output is always an object; put the value into a property of one", kind)
	}
	return source, nil
}

// position returns the 1-based line and column of an offset in data.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(max(offset-1, 0), len(data))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// Check returns an error for the model if value does not match the schema.
func (s *Schema) Check(value json.RawMessage) error {
	var decoded any
	if err := json.Unmarshal(value, &decoded); err != nil {
		return fmt.Errorf("the value is not JSON: %w", err)
	}
	if _, ok := decoded.(map[string]any); !ok {
		return errors.New("the value is not an object; hand over one object that fits the schema")
	}
	if err := s.draft.Check(value); err != nil {
		return fmt.Errorf("the value does not fit the schema: %w; correct it and call %s again", err, Name)
	}
	return nil
}
