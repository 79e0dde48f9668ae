package workflow

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A Result is an agent's output.
type Result struct {
	Text  string          `json:"text,omitempty"`
	Value json.RawMessage `json:"value,omitempty"` // matches the step's schema
}

var referenceForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}`)
})

// references returns the references in a text.
func references(text string) []string {
	var all []string
	for _, m := range referenceForm().FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// checkReference returns an error if a reference is invalid. names holds the inputs, and the steps that
// have run.
func checkReference(ref string, names map[string]bool) error {
	parts := strings.Split(ref, ".")
	switch {
	case len(parts) == 2 && parts[0] == "inputs":
		if names[ref] {
			return nil
		}
		return errors.New("the workflow has no such input")
	case len(parts) >= 3 && parts[0] == "steps" && parts[2] == "output":
		if names["steps."+parts[1]] {
			return nil
		}
		return errors.New("no step of that name runs before this one")
	}
	return errors.New("write inputs.NAME or steps.NAME.output")
}

// values holds the values of references.
type values struct {
	inputs  map[string]string
	results map[string]Result // steps that were not skipped
}

// expand replaces references with their values. Values are not expanded again.
func (v values) expand(text string) string {
	return referenceForm().ReplaceAllStringFunc(text, func(ref string) string {
		found, _ := v.lookup(referenceForm().FindStringSubmatch(ref)[1])
		return found
	})
}

// lookup returns the value of a reference, and whether it has one.
func (v values) lookup(ref string) (string, bool) {
	parts := strings.Split(ref, ".")
	if parts[0] == "inputs" {
		text, ok := v.inputs[parts[1]]
		return text, ok
	}
	r, ok := v.results[parts[1]]
	switch {
	case !ok:
		return "", false
	case r.Value == nil:
		return r.Text, len(parts) == 3
	}
	value := r.Value
	for _, name := range parts[3:] {
		if value, ok = member(value, name); !ok {
			return "", false
		}
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text, true
	}
	return string(value), string(value) != "null"
}

// member returns an object's member or a list's element.
func member(value json.RawMessage, name string) (json.RawMessage, bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		v, ok := object[name]
		return v, ok
	}
	var list []json.RawMessage
	n, err := strconv.Atoi(name)
	if err != nil || json.Unmarshal(value, &list) != nil || n < 0 || n >= len(list) {
		return nil, false
	}
	return list[n], true
}

// holds reports whether a condition is met.
func (v values) holds(c *Condition) bool {
	if c == nil {
		return true
	}
	text, ok := v.lookup(c.Value)
	switch {
	case c.Exists != nil:
		return ok == *c.Exists
	case c.Equals != nil:
		return ok && text == *c.Equals
	}
	return ok && strings.Contains(text, *c.Contains)
}
