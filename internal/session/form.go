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
	// Choices asks the user to choose, in one or several matters. A [Selection] answers it.
	Choices struct {
		From  string // who asks, such as a hook; empty if the model does
		Items []Choice
		// Call is the call of the model that asks, for hosts that know the tool and ask on their own.
		Call AskingCall
	}

	// An AskingCall is a call that does nothing but ask the user.
	AskingCall struct {
		Tool, Use string // the names of the tool and of the use
		Input     json.RawMessage
	}

	// A Choice is one matter. The user may write something else than the options, unless it is closed.
	Choice struct {
		Header  string // one or two words; it may be empty
		Text    string
		Options []Option
		// Multiple lets the user choose several options. Closed lets them choose nothing but options.
		Multiple, Closed bool
	}

	// An Option can be chosen.
	Option struct {
		Label, Description string
		Preview            string // what it looks like; it may be empty
	}

	// Selection answers [Choices]: for each item the labels of the options, or what the user wrote instead; nothing if
	// the item was skipped.
	Selection struct {
		Chosen [][]string
		// Declined says that the user did not choose at all. Chosen is empty then.
		Declined bool
		// Message is what the user says beside the choices or in place of them; it may be empty.
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

// Check reports why s does not answer the question.
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
				return fmt.Errorf("%q is not one of the options", label)
			}
		}
	}
	return nil
}

type (
	// Form asks the user for values. A [Filled] answers it.
	Form struct {
		From    string // who asks, such as a server
		Message string
		Fields  []Field
		// Schema is what the fields were made of, for front ends that draw forms of their own; it may be nil.
		Schema json.RawMessage
	}

	// A Field is one value of a form.
	Field struct {
		Name        string // its key in the answer
		Title       string // it may be empty
		Description string
		Type        FieldType
		Format      Format // of a text; it may be empty
		Required    bool
		Options     []Option // of a choice, whose values are the labels
		Default     any      // nil means none
		// Min and Max bound a number, or the characters of a text, or how many options are chosen; nil means
		// no bound.
		Min, Max *float64
	}

	// Filled answers [Form].
	Filled struct {
		Action Action
		// Values are those of the fields, by name, if the action is [Accept]: a string, a float64, an int64, a
		// bool or a []string.
		Values map[string]any
	}
)

// A FieldType is what a field takes.
type FieldType string

// The types of fields.
const (
	TextField    FieldType = "string"
	NumberField  FieldType = "number"
	IntegerField FieldType = "integer"
	BooleanField FieldType = "boolean"
	ChoiceField  FieldType = "enum"  // one option
	ListField    FieldType = "array" // several options
)

// A Format is what a text looks like.
type Format string

// The formats.
const (
	EmailFormat    Format = "email"
	URIFormat      Format = "uri"
	DateFormat     Format = "date"
	DateTimeFormat Format = "date-time"
)

// An Action is what the user does with a form.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline" // the user does not want to answer
	Cancel  Action = "cancel"  // the user was not there to answer, or left
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

// Decode returns the values of a JSON object, each as its field has it. The error names the fields that do not fit.
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

// Fill returns the values of a JSON object with the defaults of fields that it leaves out. All that are required must
// be there then.
func (f Form) Fill(content json.RawMessage) (map[string]any, error) {
	values, err := f.Decode(content)
	if err != nil {
		return nil, err
	}
	values = f.WithDefaults(values)
	return values, f.check(Filled{Action: Accept, Values: values})
}

// WithDefaults returns the values with the defaults of fields that have none.
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

// typed returns a decoded value as the field has it.
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
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 { // such as 1e3 or 5.0
			return int64(n), nil
		}
	case []any:
		labels := make([]string, len(v))
		for i, item := range v {
			label, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("%v is not one of the options", item)
			}
			labels[i] = label
		}
		return labels, nil
	default:
		return v, nil
	}
	return nil, fmt.Errorf("%v is not a value of the type %s", v, f.Type)
}

// Label returns what to call the field.
func (f Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// Parse returns the value that a text stands for, as the user types it. Options can be given by number,
// several of them between commas.
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

// optionNamed returns the label of the option with that number, or else the text.
func optionNamed(options []Option, text string) string {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(options) {
		return options[n-1].Label
	}
	return text
}

// Check reports why v cannot be a value of the field.
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
		return fmt.Errorf("%q is not one of the options", label)
	}
	return nil
}

// offers reports whether one of the options has the label.
func offers(options []Option, label string) bool {
	return slices.ContainsFunc(options, func(o Option) bool { return o.Label == label })
}

// check reports why a text does not have the format.
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
