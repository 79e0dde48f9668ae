package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"adze/internal/mcp"
	"adze/internal/session"
)

// Limits of a form.
const (
	maxFields  = 64
	maxOptions = 512
)

// FormOf returns the form that a server asks the user to fill in. The error explains why the
// schema is not supported: it must be a flat object of strings, numbers, booleans and enums.
func FormOf(e mcp.Elicitation) (session.Form, error) {
	f := session.Form{From: e.Server, Message: e.Message, Schema: e.Schema}
	var schema struct {
		Type       string
		Properties json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(e.Schema, &schema); err != nil || schema.Type != "object" {
		return f, errors.New("the requested schema is not an object")
	}
	err := eachMember(schema.Properties, func(name string, data json.RawMessage) error {
		if len(f.Fields) == maxFields {
			return fmt.Errorf("it asks for more than %d values", maxFields)
		}
		field, err := fieldOf(name, data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		field.Required = slices.Contains(schema.Required, name)
		f.Fields = append(f.Fields, field)
		return nil
	})
	if err != nil {
		return f, err
	}
	for _, name := range schema.Required {
		if !slices.ContainsFunc(f.Fields, func(field session.Field) bool { return field.Name == name }) {
			return f, fmt.Errorf("%q is required and not described", name)
		}
	}
	return f, nil
}

// eachMember calls f with the members of an object, in order.
func eachMember(object json.RawMessage, f func(name string, value json.RawMessage) error) error {
	if len(object) == 0 || string(object) == "null" {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return errors.New("its properties are not an object")
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		name := token.(string) // keys are strings
		if seen[name] {
			return fmt.Errorf("%s is there twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := f(name, value); err != nil {
			return err
		}
	}
	return nil
}

// A property is a field's schema.
type property struct {
	Type, Title, Description, Format string
	Default                          json.RawMessage
	Minimum, Maximum                 *float64
	MinLength, MaxLength             *float64
	MinItems, MaxItems               *float64
	choice
	Items *choice
}

// A choice is a list of values with optional titles.
type choice struct {
	Enum         []json.RawMessage
	EnumNames    []string
	OneOf, AnyOf []struct {
		Const *string
		Title string
	}
}

// options returns the options of a choice; ok reports whether c is a choice.
func (c *choice) options() (options []session.Option, ok bool, err error) {
	titled := append(slices.Clone(c.OneOf), c.AnyOf...)
	for _, o := range titled {
		if o.Const == nil {
			return nil, true, errors.New("it has alternatives that are not texts")
		}
		options = append(options, option(*o.Const, o.Title))
	}
	for i, data := range c.Enum {
		var value, title string
		if err := json.Unmarshal(data, &value); err != nil {
			return nil, true, errors.New("it has options that are not texts")
		}
		if i < len(c.EnumNames) {
			title = c.EnumNames[i]
		}
		options = append(options, option(value, title))
	}
	if len(options) > maxOptions {
		return nil, true, fmt.Errorf("it has more than %d options", maxOptions)
	}
	return options, len(options) > 0, nil
}

// option returns the option for a value. The value is shown first, so that a title cannot hide
// it.
func option(value, title string) session.Option {
	if title == value {
		title = ""
	}
	return session.Option{Label: value, Description: title}
}

func fieldOf(name string, data json.RawMessage) (session.Field, error) {
	var p property
	if err := json.Unmarshal(data, &p); err != nil {
		return session.Field{}, errors.New("its description cannot be read")
	}
	f := session.Field{Name: name, Title: p.Title, Description: p.Description, Type: session.FieldType(p.Type)}
	options, chosen, err := p.options()
	switch {
	case err != nil:
		return f, err
	case chosen && (p.Type == "string" || p.Type == ""):
		f.Type, f.Options = session.ChoiceField, options
	case p.Type == "string":
		f.Min, f.Max = p.MinLength, p.MaxLength
		switch format := session.Format(p.Format); format {
		case session.EmailFormat, session.URIFormat, session.DateFormat, session.DateTimeFormat:
			f.Format = format
		}
	case p.Type == "number", p.Type == "integer":
		f.Min, f.Max = p.Minimum, p.Maximum
	case p.Type == "boolean":
	case p.Type == "array" && p.Items != nil:
		if f.Options, chosen, err = p.Items.options(); err != nil || !chosen {
			return f, errors.Join(err, errors.New("a list is possible only of options"))
		}
		f.Min, f.Max = p.MinItems, p.MaxItems
	default:
		return f, fmt.Errorf("unsupported value type %q", p.Type)
	}
	f.Default = defaultOf(f, p.Default)
	return f, nil
}

// defaultOf returns a field's default, or nil if it is missing or invalid.
func defaultOf(f session.Field, data json.RawMessage) any {
	if len(data) == 0 {
		return nil
	}
	content, err := json.Marshal(map[string]json.RawMessage{f.Name: data})
	if err != nil {
		return nil
	}
	values, err := session.Form{Fields: []session.Field{f}}.Decode(content)
	if err != nil {
		return nil
	}
	return values[f.Name]
}
