package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

type (
	// Choices asks the user one or more multiple-choice questions. A [Selection] answers it.
	Choices struct {
		From  string // the asker, such as a hook; empty for the model
		Items []Choice
		// Call is the model's call that asks, for hosts that recognize the tool and ask
		// themselves.
		Call QuestionCall
	}

	// A QuestionCall is a call whose only purpose is to ask the user.
	QuestionCall struct {
		Tool, Use string // tool name and tool-use ID
		Input     json.RawMessage
	}

	// A Choice is a single question. Unless it is closed, the user may enter other text.
	Choice struct {
		Header  string // one or two words; may be empty
		Text    string
		Options []Option
		// Multiple allows several options. Closed disallows other text.
		Multiple, Closed bool
	}

	// An Option is a possible answer.
	Option struct {
		Label, Description string
		Preview            string // preview of the result; may be empty
	}

	// Selection answers [Choices]: for each item, the labels of the chosen options or the
	// user's text, or nothing if the item was skipped.
	Selection struct {
		Chosen [][]string
		// Declined is true if the user did not choose at all. Chosen is empty then.
		Declined bool
		// Message is an additional message from the user, or a message in place of choices; may
		// be empty.
		Message string
	}
)

func (Selection) reply() {}

// Unanswered declines to choose.
func (Choices) Unanswered() Reply { return Selection{Declined: true} }

func (c Choices) check(r Reply) error {
	s, ok := r.(Selection)
	if !ok {
		return mismatch(r)
	}
	return c.Check(s)
}

// Check returns an error if s does not answer the question.
func (c Choices) Check(s Selection) error {
	switch {
	case s.Declined:
		return nil
	case len(s.Chosen) != len(c.Items):
		return fmt.Errorf("%d of %d questions are answered", len(s.Chosen), len(c.Items))
	}
	for i, chosen := range s.Chosen {
		item := c.Items[i]
		if len(chosen) > 1 && !item.Multiple {
			return fmt.Errorf("%q has %d answers", item.Text, len(chosen))
		}
		for _, label := range chosen {
			if item.Closed && !offers(item.Options, label) {
				return fmt.Errorf("%q is not an option", label)
			}
		}
	}
	return nil
}

type (
	// Form asks the user for values. A [Filled] answers it.
	Form struct {
		From    string // the asker, such as a server
		Message string
		Fields  []Field
		// Schema is the original schema of the fields, for front ends that draw their own
		// forms; may be nil.
		Schema json.RawMessage
	}

	// A Field is one value of a form.
	Field struct {
		Name        string // key in the answer
		Title       string // may be empty
		Description string
		Type        FieldType
		Format      Format // format of a text; may be empty
		Required    bool
		Options     []Option // options of a choice; their labels are the values
		Default     any      // nil means none
		// Min and Max bound a number, the length of a text in characters, or the number of
		// chosen options; nil means no bound.
		Min, Max *float64
	}

	// Filled answers [Form].
	Filled struct {
		Action Action
		// Values holds the fields' values by name if the action is [Accept]: each a string,
		// float64, int64, bool or []string.
		Values map[string]any
	}
)

// A FieldType is the type of a field's value.
type FieldType string

// The field types.
const (
	TextField    FieldType = "string"
	NumberField  FieldType = "number"
	IntegerField FieldType = "integer"
	BooleanField FieldType = "boolean"
	ChoiceField  FieldType = "enum"  // one option
	ListField    FieldType = "array" // several options
)

// A Format is the format of a text field.
type Format string

// The formats.
const (
	EmailFormat    Format = "email"
	URIFormat      Format = "uri"
	DateFormat     Format = "date"
	DateTimeFormat Format = "date-time"
)

// An Action is the user's response to a form.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline" // the user declined to answer
	Cancel  Action = "cancel"  // the user was absent or left
)

func (Filled) reply() {}

// Unanswered cancels the form.
func (Form) Unanswered() Reply { return Filled{Action: Cancel} }

func (f Form) check(r Reply) error {
	filled, ok := r.(Filled)
	switch {
	case !ok:
		return mismatch(r)
	case filled.Action != Accept:
		return filled.Action.check()
	}
	for _, field := range f.Fields {
		v, ok := filled.Values[field.Name]
		if !ok && field.Required {
			return fmt.Errorf("%s: a value is required", field.Label())
		}
		if ok {
			if err := field.Check(v); err != nil {
				return fmt.Errorf("%s: %w", field.Label(), err)
			}
		}
	}
	for name := range filled.Values {
		if !slices.ContainsFunc(f.Fields, func(field Field) bool { return field.Name == name }) {
			return fmt.Errorf("the form has no field %q", name)
		}
	}
	return nil
}

// Decode returns the values of a JSON object, converted to the types of their fields. The error
// names invalid fields.
func (f Form) Decode(content json.RawMessage) (map[string]any, error) {
	values := map[string]any{}
	if len(content) == 0 {
		return values, nil
	}
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	var given map[string]any
	if err := dec.Decode(&given); err != nil {
		return nil, errors.New("the values are not a JSON object")
	}
	var problems []error
	for _, field := range f.Fields {
		v, ok := given[field.Name]
		delete(given, field.Name)
		if !ok || v == nil {
			continue
		}
		v, err := field.typed(v)
		if err == nil {
			err = field.Check(v)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", field.Label(), err))
			continue
		}
		values[field.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		problems = append(problems, fmt.Errorf("the form has no field %q", name))
	}
	return values, errors.Join(problems...)
}

// Fill is like Decode, but adds defaults for missing fields. It returns an error if a required
// field is still missing.
func (f Form) Fill(content json.RawMessage) (map[string]any, error) {
	values, err := f.Decode(content)
	if err != nil {
		return nil, err
	}
	values = f.WithDefaults(values)
	return values, f.check(Filled{Action: Accept, Values: values})
}

// WithDefaults returns the values, with defaults for missing fields.
func (f Form) WithDefaults(values map[string]any) map[string]any {
	all := maps.Clone(values)
	if all == nil {
		all = map[string]any{}
	}
	for _, field := range f.Fields {
		if _, ok := all[field.Name]; !ok && field.Default != nil {
			all[field.Name] = field.Default
		}
	}
	return all
}

// typed converts a decoded value to the field's type.
func (f Field) typed(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Float64()
		if err != nil {
			break
		}
		if f.Type != IntegerField {
			return n, nil
		}
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 { // integral, such as 1e3 or 5.0
			return int64(n), nil
		}
	case []any:
		labels := make([]string, len(v))
		for i, item := range v {
			label, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("%v is not an option", item)
			}
			labels[i] = label
		}
		return labels, nil
	default:
		return v, nil
	}
	return nil, fmt.Errorf("%v is not a value of the type %s", v, f.Type)
}

// Label returns the field's title, or its name if it has none.
func (f Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// Parse returns the value of a text that the user typed. Options can be given by number;
// several options are separated by commas.
func (f Field) Parse(text string) (any, error) {
	var v any = text
	var err error
	switch f.Type {
	case NumberField:
		var n float64
		if n, err = strconv.ParseFloat(text, 64); err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
			err = errors.New("not finite")
		}
		v = n
	case IntegerField:
		v, err = strconv.ParseInt(text, 10, 64)
	case BooleanField:
		v, err = parseBool(text)
	case ChoiceField:
		v = optionNamed(f.Options, text)
	case ListField:
		labels := []string{}
		for part := range strings.SplitSeq(text, ",") {
			labels = append(labels, optionNamed(f.Options, strings.TrimSpace(part)))
		}
		v = labels
	}
	switch {
	case err != nil && f.Type == BooleanField:
		return nil, errors.New("answer yes or no")
	case err != nil:
		return nil, fmt.Errorf("this is not of the type %s", f.Type)
	}
	return v, f.Check(v)
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "y", "yes", "true":
		return true, nil
	case "n", "no", "false":
		return false, nil
	}
	return false, errors.New("neither yes nor no")
}

// optionNamed returns the label of the option with that number, or else text.
func optionNamed(options []Option, text string) string {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(options) {
		return options[n-1].Label
	}
	return text
}

// Check returns an error if v is not a valid value for the field.
func (f Field) Check(v any) error {
	switch v := v.(type) {
	case string:
		switch f.Type {
		case TextField:
			return errors.Join(f.within(float64(utf8.RuneCountInString(v)), "characters"), f.Format.check(v))
		case ChoiceField:
			return f.offered(v)
		}
	case float64:
		if f.Type == NumberField {
			return f.within(v, "")
		}
	case int64:
		if f.Type == IntegerField {
			return f.within(float64(v), "")
		}
	case bool:
		if f.Type == BooleanField {
			return nil
		}
	case []string:
		if f.Type == ListField {
			for _, label := range v {
				if err := f.offered(label); err != nil {
					return err
				}
			}
			return f.within(float64(len(v)), "options")
		}
	}
	return fmt.Errorf("%v is not a value of the type %s", v, f.Type)
}

func (f Field) within(n float64, unit string) error {
	switch {
	case f.Min != nil && n < *f.Min:
		return errors.New(strings.TrimSpace(fmt.Sprintf("at least %v %s", *f.Min, unit)))
	case f.Max != nil && n > *f.Max:
		return errors.New(strings.TrimSpace(fmt.Sprintf("at most %v %s", *f.Max, unit)))
	}
	return nil
}

func (f Field) offered(label string) error {
	if !offers(f.Options, label) {
		return fmt.Errorf("%q is not an option", label)
	}
	return nil
}

// offers reports whether any option has the label.
func offers(options []Option, label string) bool {
	return slices.ContainsFunc(options, func(o Option) bool { return o.Label == label })
}

// check returns an error if text does not have the format.
func (f Format) check(text string) error {
	var err error
	switch f {
	case EmailFormat:
		var a *mail.Address
		if a, err = mail.ParseAddress(text); err == nil && a.Address != text {
			err = errors.New("more than an address")
		}
	case URIFormat:
		var u *url.URL
		if u, err = url.Parse(text); err == nil && u.Scheme == "" {
			err = errors.New("no scheme")
		}
	case DateFormat:
		_, err = time.Parse(time.DateOnly, text)
	case DateTimeFormat:
		_, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return fmt.Errorf("%q is not of the format %s", text, f)
	}
	return nil
}
