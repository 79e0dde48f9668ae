package workflow

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A Result is what an agent returned.
type Result struct {
	Text  string          `json:"text,omitempty"`
	Value json.RawMessage `json:"value,omitempty"` // that fits the schema of the step
}

var referenceForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}`)
})

// references returns what a text refers to.
func references(text string) []string {
	var all []string
	for _, m := range referenceForm().FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// refers reports what is wrong with a reference. Names are those of inputs, and of steps that have run.
func refers(ref string, names map[string]bool) error {
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

// values are what references stand for.
type values struct {
	inputs  map[string]string
	results map[string]Result // of the steps that were not skipped
}

// expand puts values in the place of references. What a value holds is not expanded again.
func (v values) expand(text string) string {
	return referenceForm().ReplaceAllStringFunc(text, func(ref string) string {
		found, _ := v.lookup(referenceForm().FindStringSubmatch(ref)[1])
		return found
	})
}

// lookup returns what a reference stands for, and whether there is something.
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

// member returns what an object or list has under a name or number.
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
