package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/tool/schema"
)

// A Def is a tool's definition. Only Name, Doc and Schema are required.
type Def struct {
	Name string
	// Doc is the description for the model, and Schema the JSON Schema of the input; both are
	// sent unchanged.
	Doc    string
	Schema json.RawMessage
	Strict bool
	// Foreign converts an input in another program's format for the same call so that it fits
	// the schema, or returns an error with advice. It returns nil and nil for any other input.
	// If nil, only field names are repaired.
	Foreign func(map[string]json.RawMessage) (map[string]json.RawMessage, error)
	Traits
}

// New returns a tool with input type In. It panics on a name or schema that could never work.
func New[In any](d Def, run func(context.Context, In, func(Progress)) (Result, error)) Tool {
	return NewBound(d, func(in In) (Call, error) { return &typedCall[In]{in, run}, nil })
}

// NewBound is like [New] for a tool whose calls hold more than their input, such as the base
// directory of a relative path. Bind returns the call for an input that fits the schema; like
// [Tool].Bind it touches no file, and its error is shown to the model.
func NewBound[In any](d Def, bind func(In) (Call, error)) Tool {
	if err := CheckName(d.Name); err != nil {
		panic("tool.New: " + err.Error())
	}
	return &typedTool[In]{def: d, bind: bind, schema: sync.OnceValues(func() (*schema.Schema, error) {
		return schema.Parse(d.Schema)
	})}
}

// InChinese returns a [Traits].Translate function for a file of Chinese texts; see
// [texts.Parse].
func InChinese(file string) func(texts.Language) map[string]string {
	return func(l texts.Language) map[string]string {
		if l != texts.Chinese {
			return nil
		}
		return texts.Parse(file)
	}
}

// CheckName returns the reason name is not a valid tool name, or nil.
func CheckName(name string) error {
	legal := len(name) >= 1 && len(name) <= 64
	for i := 0; legal && i < len(name); i++ {
		c := name[i]
		legal = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	if !legal {
		return fmt.Errorf("tool name %q is not 1 to 64 letters, digits, '_' or '-'", name)
	}
	return nil
}

type typedTool[In any] struct {
	def    Def
	bind   func(In) (Call, error)
	schema func() (*schema.Schema, error)
}

func (t *typedTool[In]) Spec() msg.ToolSpec {
	return msg.ToolSpec{Name: t.def.Name, Description: t.def.Doc, Schema: t.def.Schema, Strict: t.def.Strict}
}

func (t *typedTool[In]) Traits() Traits { return t.def.Traits }

func (t *typedTool[In]) Bind(input json.RawMessage) (Call, error) {
	s, err := t.schema()
	if err != nil {
		return nil, Fatal(fmt.Errorf("schema of tool %s: %w", t.def.Name, err))
	}
	fixed, err := s.Check(input)
	if err != nil && t.def.Foreign != nil {
		if input, err = t.ours(input, err); err == nil {
			fixed, err = s.Check(input)
		}
	}
	if err != nil {
		if repaired, ok := s.Repair(input, otherNames); ok {
			fixed, err = s.Check(repaired)
		}
	}
	if err != nil {
		return nil, &InputError{fmt.Errorf("invalid input for %s: %w", t.def.Name, err)}
	}
	var in In
	dec := json.NewDecoder(bytes.NewReader(fixed))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return nil, &InputError{fmt.Errorf("invalid input for %s: %s", t.def.Name, decodeError(err))}
	}
	c, err := t.bind(in)
	if err != nil {
		return nil, err
	}
	if v, ok := As[Validator](c); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// ours converts a refused input to the tool's format, or returns it with the reason it was
// refused.
func (t *typedTool[In]) ours(input json.RawMessage, refused error) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return input, refused
	}
	rewritten, err := t.def.Foreign(fields)
	if err != nil {
		return input, err
	}
	if rewritten == nil {
		return input, refused
	}
	out, err := json.Marshal(rewritten)
	if err != nil {
		return input, refused
	}
	return out, nil
}

// otherNames returns other programs' names for a field, which models remember.
func otherNames(field string) []string {
	switch field {
	case "file_path":
		return []string{"path", "file", "filename", "absolute_path", "target_file"}
	case "notebook_path":
		return []string{"path", "file", "filename", "file_path", "notebook"}
	case "command":
		return []string{"cmd", "command_line"}
	case "pattern":
		return []string{"query", "regex", "regexp", "glob", "glob_pattern"}
	case "old_string":
		return []string{"old_str", "old_text", "old", "search"}
	case "new_string":
		return []string{"new_str", "new_text", "new", "replace", "replacement"}
	case "content":
		return []string{"contents", "text", "file_text", "file_content"}
	case "new_source":
		return []string{"source", "new_content", "content"}
	case "glob":
		return []string{"include", "include_pattern", "file_pattern"}
	case "edits":
		return []string{"changes", "replacements"}
	case "task_id":
		return []string{"id", "task", "shell_id", "bash_id"}
	}
	return nil
}

// decodeError explains to the model why an input that fits the schema could not be decoded.
func decodeError(err error) string {
	var unfit *json.UnmarshalTypeError
	if !errors.As(err, &unfit) {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	if strings.HasPrefix(unfit.Value, "number") {
		return fmt.Sprintf("%s: the %s is too large, or no integer", unfit.Field, unfit.Value)
	}
	return fmt.Sprintf("%s: a %s is not possible here", unfit.Field, unfit.Value)
}

type typedCall[In any] struct {
	in  In
	run func(context.Context, In, func(Progress)) (Result, error)
}

func (c *typedCall[In]) Input() any { return c.in }

func (c *typedCall[In]) Run(ctx context.Context, report func(Progress)) (Result, error) {
	return c.run(ctx, c.in, report)
}
