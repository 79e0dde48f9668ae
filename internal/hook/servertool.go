package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// callTool runs a hook implemented by a server's tool. The text of its result is treated like
// command output.
func (r *Runner) callTool(ctx context.Context, j *job) ending {
	return call(ctx, func(ctx context.Context) (json.RawMessage, error) {
		if r.cfg.CallTool == nil {
			return nil, errors.New("no server is connected")
		}
		input, err := fillIn(j.hook.handler.input, j.input)
		if err != nil {
			return nil, err
		}
		text, err := r.cfg.CallTool(ctx, j.server, j.tool, input)
		return json.RawMessage(text), err
	})
}

// fillIn returns a tool's input with ${name} or ${name.of.member} replaced by the event's
// values. A string consisting of a single placeholder becomes the value itself, of any type; a
// missing value is an error.
func fillIn(input, event json.RawMessage) (json.RawMessage, error) {
	if absent(input) {
		return json.RawMessage("{}"), nil
	}
	var template, values any
	if err := unmarshalNumbers(input, &template); err != nil {
		return nil, err
	}
	if err := unmarshalNumbers(event, &values); err != nil {
		return nil, err
	}
	filled, err := fill(template, values)
	if err != nil {
		return nil, err
	}
	return encode(filled)
}

// unmarshalNumbers decodes data, keeping numbers as written.
func unmarshalNumbers(data json.RawMessage, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(v)
}

func fill(template, values any) (any, error) {
	var err error
	switch t := template.(type) {
	case map[string]any:
		for name, v := range t {
			if t[name], err = fill(v, values); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, v := range t {
			if t[i], err = fill(v, values); err != nil {
				return nil, err
			}
		}
	case string:
		return fillText(t, values)
	}
	return template, nil
}

func fillText(text string, values any) (any, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			b.WriteString(text)
			return b.String(), nil
		}
		v, err := member(values, name)
		if err != nil {
			return nil, err
		}
		if before == "" && after == "" && b.Len() == 0 {
			return v, nil
		}
		b.WriteString(before)
		if s, ok := v.(string); ok {
			b.WriteString(s)
		} else {
			data, err := encode(v)
			if err != nil {
				return nil, err
			}
			b.Write(data)
		}
		text = after
	}
}

// member returns the member of an object at a path of names.
func member(v any, path string) (any, error) {
	for name := range strings.SplitSeq(path, ".") {
		fields, ok := v.(map[string]any)
		if !ok || fields[name] == nil {
			return nil, fmt.Errorf("the event has no %q, which its input is to hold", path)
		}
		v = fields[name]
	}
	return v, nil
}
