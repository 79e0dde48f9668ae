package frontmatter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Typing specifies how to convert text that looks like a number or boolean.
type Typing bool

// Typings.
const (
	AsTexts Typing = false // keep text as a string
	AsTyped Typing = true  // convert to a JSON number or boolean
)

// JSON returns the value in a form suitable for [json.Marshal].
func (v Value) JSON(t Typing) any {
	switch {
	case v.Fields != nil:
		object := map[string]any{}
		for name, item := range v.Fields {
			object[name] = item.JSON(t)
		}
		return object
	case v.List != nil:
		list := make([]any, len(v.List))
		for i, item := range v.List {
			list[i] = item.JSON(t)
		}
		return list
	case t == AsTyped && v.Text != "" && strings.IndexByte("tf-0123456789", v.Text[0]) >= 0 && json.Valid([]byte(v.Text)):
		return json.RawMessage(v.Text)
	}
	return v.Text
}

// ParseJSON converts a JSON object to Fields.
func ParseJSON(data []byte) (Fields, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("something follows the object")
	}
	return valueOf(object).Fields, nil
}

func valueOf(from any) Value {
	switch from := from.(type) {
	case map[string]any:
		fields := Fields{}
		for name, item := range from {
			fields[name] = valueOf(item)
		}
		return Value{Fields: fields}
	case []any:
		list := make([]Value, len(from))
		for i, item := range from {
			list[i] = valueOf(item)
		}
		return Value{List: list}
	case nil:
		return Value{}
	}
	return Value{Text: fmt.Sprint(from)}
}
