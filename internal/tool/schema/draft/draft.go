// Package draft validates values against third-party JSON Schemas of draft 2020-12 or draft-07.
// It never resolves external references, and bounds the time of a check for any schema and
// value. Package schema handles adze's own tool schemas.
package draft

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"adze/internal/tool/schema"
)

// A Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	exact *jsonschema.Resolved
	// plain reports all failures at once; nil if it does not know a keyword of the schema.
	plain *schema.Schema
	parts *inspector
}

// Limits on a schema.
const (
	maxSource = 512 << 10
	maxDepth  = 100
)

// Compile compiles a schema. Its error gives the location of the mistake.
func Compile(source json.RawMessage) (*Schema, error) {
	if len(source) > maxSource {
		return nil, fmt.Errorf("the schema has %d bytes, and at most %d are read", len(source), maxSource)
	}
	if Deep(source) {
		return nil, fmt.Errorf("the schema is nested deeper than %d levels", maxDepth)
	}
	in, err := inspect(source)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(source, &s); err != nil {
		return nil, fmt.Errorf("it is not a JSON Schema: %w", err)
	}
	exact, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("it is not a JSON Schema: %w", err)
	}
	// The version is checked only during a check.
	if in.cost(map[string]any{}) > maxCost {
		return nil, ErrCost
	}
	if err := exact.Validate(map[string]any{}); err != nil && strings.Contains(err.Error(), "cannot validate version") {
		return nil, err
	}
	plain, err := schema.Parse(source)
	if err != nil {
		plain = nil
	}
	return &Schema{exact: exact, plain: plain, parts: in}, nil
}

// Deep reports whether JSON is nested deeper than supported.
func Deep(source []byte) bool {
	now, quoted := 0, false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if now++; now > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			now--
		}
	}
	return false
}

// ErrCost is returned if the check would take too long.
var ErrCost = errors.New("the schema is too complex to be checked")

// Check returns an error for the model listing all failures, or nil. The error is [ErrCost] if
// the check would take too long.
func (s *Schema) Check(value json.RawMessage) error {
	err := s.check(value)
	if err == nil || s.plain == nil || errors.Is(err, ErrCost) {
		return err
	}
	if _, all := s.plain.Check(value); all != nil {
		err = all
	}
	return err
}

func (s *Schema) check(value json.RawMessage) error {
	if Deep(value) {
		return fmt.Errorf("the value is nested deeper than %d levels", maxDepth)
	}
	var decoded any
	if err := json.Unmarshal(value, &decoded); err != nil {
		return fmt.Errorf("the value is not JSON: %w", err)
	}
	if s.parts.cost(decoded) > maxCost {
		return ErrCost
	}
	return s.exact.Validate(decoded)
}

// Repair converts a value so that it fits, if it has exactly one interpretation, such as a
// number in quotes.
func (s *Schema) Repair(value json.RawMessage) (json.RawMessage, bool) {
	if s.plain == nil {
		return nil, false
	}
	fixed, err := s.plain.Check(value)
	if err != nil || s.check(fixed) != nil {
		return nil, false
	}
	return fixed, true
}
