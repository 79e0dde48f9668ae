package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/text/rank"
)

// Check reports all violations of s in input, and returns the input with lossless conversions
// applied: a string of digits where an integer is expected, "true" or "false" where a boolean
// is, and a number such as 5.0 where an integer is. An input that needs none is returned
// unchanged.
//
// A duplicate key is an error: the code that judges an input and the code that acts on it must
// not read different values.
func (s *Schema) Check(input json.RawMessage) (json.RawMessage, error) {
	v, err := read(input)
	if err != nil {
		return nil, err
	}
	r := checker{data: input}
	r.check(s, v, "")
	if r.count > 0 {
		return nil, r.err(s)
	}
	return r.apply(), nil
}

// maxFailures limits the failures spelled out: an input can have a million of them.
const maxFailures = 50

// A checker collects the failures and the edits of an input.
type checker struct {
	data     []byte
	failures []string // first failures
	count    int      // total number of failures
	edits    []edit
}

type edit struct {
	start, end int
	text       string
}

func (r *checker) fail(path, format string, args ...any) {
	if r.count++; r.count > maxFailures {
		return
	}
	if path == "" {
		path = "input"
	}
	r.failures = append(r.failures, path+": "+fmt.Sprintf(format, args...))
}

// check checks v, located at path, against s.
func (r *checker) check(s *Schema, v value, path string) {
	if s.kinds != 0 && !r.fit(s.kinds, &v) {
		r.fail(path, "expected %s, received %s", s.kinds, r.show(v))
		return
	}
	if len(s.enum) > 0 && !slices.ContainsFunc(s.enum, v.equal) {
		r.fail(path, "expected %s, received %s", s.choices(v), r.show(v))
		return
	}
	switch v.kind {
	case object:
		r.object(s, v, path)
	case array:
		r.array(s, v, path)
	case text:
		r.text(s, v, path)
	case number:
		r.number(s, v.float(), path)
	}
	r.alternatives(s, v, path)
}

// fit reports whether the kinds include v's kind, converting v if that loses nothing: then v is
// the converted value, and an edit is recorded.
func (r *checker) fit(kinds kind, v *value) bool {
	if kinds&v.kind != 0 {
		return true
	}
	converted := *v
	switch {
	case kinds&integer != 0 && v.kind == number:
		lit, ok := asInteger(v.text)
		if !ok {
			return false
		}
		converted.text = lit
	case kinds&integer != 0 && v.kind == text && isInteger(v.text):
		converted.kind = number
	case kinds&boolean != 0 && v.kind == text && (v.text == "true" || v.text == "false"):
		converted.kind = boolean
	default:
		return false
	}
	if converted.kind != v.kind || converted.text != v.text {
		r.edits = append(r.edits, edit{v.start, v.end, converted.text})
	}
	*v = converted
	return true
}

// isInteger reports whether s is an integer in canonical form.
func isInteger(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == s
}

func (r *checker) object(s *Schema, v value, path string) {
	for _, name := range s.required {
		if _, ok := v.field(name); !ok {
			r.fail(join(path, name), "required, but missing")
		}
	}
	for _, f := range v.fields {
		at := join(path, f.key)
		sub := s.property(f.key)
		switch {
		case f.repeated:
			r.fail(at, "given twice; give it once")
		case sub != nil:
			r.check(sub, f.value, at)
		case s.closed:
			r.fail(at, "%s", s.unknown(f.key))
		case s.others != nil:
			r.check(s.others, f.value, at)
		}
	}
}

func (r *checker) array(s *Schema, v value, path string) {
	if n := len(v.items); s.minItems != nil && n < *s.minItems {
		r.fail(path, "expected at least %d items, received %d", *s.minItems, n)
	} else if s.maxItems != nil && n > *s.maxItems {
		r.fail(path, "expected at most %d items, received %d", *s.maxItems, n)
	}
	if s.items == nil {
		return
	}
	for i, item := range v.items {
		r.check(s.items, item, fmt.Sprintf("%s[%d]", path, i))
	}
}

func (r *checker) text(s *Schema, v value, path string) {
	n := utf8.RuneCountInString(v.text)
	if s.minLength != nil && n < *s.minLength {
		r.fail(path, "expected at least %d characters, received %d", *s.minLength, n)
	}
	if s.maxLength != nil && n > *s.maxLength {
		r.fail(path, "expected at most %d characters, received %d", *s.maxLength, n)
	}
	if s.pattern != nil && !s.pattern.MatchString(v.text) {
		r.fail(path, "expected text matching %s, received %s", s.pattern, r.show(v))
	}
}

func (r *checker) number(s *Schema, n float64, path string) {
	bound := func(limit *float64, ok bool, words string) {
		if limit != nil && !ok {
			r.fail(path, "expected a number %s %v, received %v", words, *limit, n)
		}
	}
	bound(s.minimum, s.minimum == nil || n >= *s.minimum, "of at least")
	bound(s.maximum, s.maximum == nil || n <= *s.maximum, "of at most")
	bound(s.above, s.above == nil || n > *s.above, "above")
	bound(s.below, s.below == nil || n < *s.below, "below")
}

// alternatives checks v against anyOf and oneOf.
func (r *checker) alternatives(s *Schema, v value, path string) {
	if len(s.anyOf) > 0 {
		best, _ := r.best(s.anyOf, v, path)
		r.adopt(best)
	}
	if len(s.oneOf) > 0 {
		best, matches := r.best(s.oneOf, v, path)
		if matches > 1 {
			r.fail(path, "fits %d of the allowed forms; it must fit exactly one", matches)
			return
		}
		r.adopt(best)
	}
}

// best returns the check of v against the closest form, and the number of forms that v fits.
// Forms that fit as written are preferred over forms that fit after conversions.
func (r *checker) best(forms []*Schema, v value, path string) (best *checker, matches int) {
	var exact, converted int
	for _, form := range forms {
		c := &checker{data: r.data}
		c.check(form, v, path)
		switch {
		case c.count > 0:
		case len(c.edits) == 0:
			exact++
		default:
			converted++
		}
		if best == nil || c.better(best) {
			best = c
		}
	}
	return best, cmp.Or(exact, converted)
}

func (r *checker) adopt(c *checker) {
	r.edits = append(r.edits, c.edits...)
	r.failures = append(r.failures, c.failures...)
	r.count += c.count
}

func (r *checker) better(than *checker) bool {
	if r.count != than.count {
		return r.count < than.count
	}
	return len(r.edits) < len(than.edits)
}

// choices lists the values v may have, with a suggestion.
func (s *Schema) choices(v value) string {
	var all, words []string
	for _, e := range s.enum {
		all = append(all, string(e.raw(s.source)))
		words = append(words, e.text)
	}
	if len(all) == 1 {
		return all[0]
	}
	list := "one of " + strings.Join(all, ", ")
	if near := rank.Closest(v.text, words, 1); v.kind == text && len(near) > 0 {
		list += fmt.Sprintf(" (probably %q)", near[0])
	}
	return list
}

// unknown returns a message that key is an unknown field, with a suggestion.
func (s *Schema) unknown(key string) string {
	known := s.names()
	if near := rank.Closest(key, known, 1); len(near) > 0 {
		return fmt.Sprintf("unknown field; did you mean %s?", near[0])
	}
	if len(known) == 0 {
		return "unknown field; this object has no fields"
	}
	return "unknown field; the fields are " + strings.Join(known, ", ")
}

const maxShown = 60

// show returns the kind of v and, if helpful, its text.
func (r *checker) show(v value) string {
	if v.kind == null || v.kind == array || v.kind == object {
		return v.kind.String()
	}
	shown := string(v.raw(r.data))
	if utf8.RuneCountInString(shown) > maxShown {
		shown = string([]rune(shown)[:maxShown]) + "…"
	}
	return v.kind.String() + " " + shown
}

// join returns the path of field key in the object at path.
func join(path, key string) string {
	if key == "" || len(key) > 64 || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c == '"' || c == '.' || c == 0x7f }) {
		if r := []rune(key); len(r) > 64 {
			key = string(r[:64]) + "…"
		}
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func (r *checker) err(s *Schema) error {
	lines := r.failures
	if more := r.count - len(lines); more > 0 {
		lines = append(slices.Clip(lines), fmt.Sprintf("and %d more", more))
	}
	message := lines[0]
	if len(lines) > 1 {
		message = fmt.Sprintf("%d problems\n- %s", r.count, strings.Join(lines, "\n- "))
	}
	if len(s.required) == 0 {
		return errors.New(message + "\nNo field is required.")
	}
	return errors.New(message + "\nRequired: " + strings.Join(s.required, ", "))
}

// apply returns the input with the edits applied.
func (r *checker) apply() json.RawMessage {
	if len(r.edits) == 0 {
		return r.data
	}
	slices.SortFunc(r.edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, e := range r.edits {
		if e.start < at { // anyOf and oneOf agreed on the same conversion
			continue
		}
		out = append(out, r.data[at:e.start]...)
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, r.data[at:]...)
}
